// The load of each link of a machine and the waiting of the ranks under one placement, kept up to date as ranks move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/objective/flows.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/simulate/platform.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {

// The first number decides, the second among equals.
struct Score {
  double seconds = 0;
  double hop_bytes = 0;

  // Less by more than the sums' rounding.
  [[nodiscard]] bool better_than(const Score& other) const;
};

// docs/explanation/objectives.md has the formula. A link is loaded by the bytes of the messages whose routes pass it,
// in each phase by itself (congestion, after T. Hoefler and M. Snir, Generic topology mapping strategies for
// large-scale parallel architectures, ICS 2011); a rank waits for each message that it receives as long as that takes
// alone, and the mean over the ranks counts.
class Loads {
 public:
  // No rank is placed. `waiting`: whether the ranks' waiting counts. Both references must outlive this.
  Loads(const simulate::Platform& platform, const Flows& flows, bool waiting);
  Loads(const simulate::Platform& platform, const Flows& flows, bool waiting, const place::Placement& placement);
  // The journal of changes knows its numbers by address.
  Loads(const Loads&) = delete;
  Loads& operator=(const Loads&) = delete;
  Loads(Loads&&) = delete;
  Loads& operator=(Loads&&) = delete;
  ~Loads() = default;

  // -1: not placed.
  [[nodiscard]] topo::Leaf leaf_of(pattern::Rank rank) const { return leaf_of_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::vector<topo::Leaf>& leaves() const { return leaf_of_; }
  [[nodiscard]] const simulate::Platform& platform() const { return platform_; }
  [[nodiscard]] const Flows& flows() const { return flows_; }

  // Puts a rank on a leaf. O(degree x route).
  void move(pattern::Rank rank, topo::Leaf leaf);
  // Exchanges the leaves of two ranks. O(degrees x route).
  void exchange(pattern::Rank a, pattern::Rank b);
  // Positions in the journal; undo_to() restores each number exactly.
  struct Mark {
    std::size_t changes = 0;
    std::size_t moves = 0;
  };
  [[nodiscard]] Mark mark() const { return {changes_.size(), moves_.size()}; }
  void undo_to(Mark mark);
  // Forgets the journal: what was done stays.
  void commit();

  [[nodiscard]] std::size_t phase_count() const { return sums_.size(); }
  // By link, of one phase.
  [[nodiscard]] std::span<const double> link_seconds(std::size_t phase) const {
    return std::span(link_seconds_).subspan(phase * per_byte_.size(), per_byte_.size());
  }
  // Mean over the ranks; 0 where it does not count.
  [[nodiscard]] double waiting() const { return wait_; }
  [[nodiscard]] double hop_bytes() const { return hop_bytes_; }
  // O(links x phases).
  [[nodiscard]] Score score() const;
  // O(phases). The same where ranks were only placed, never moved, since the constructor or an undone move.
  [[nodiscard]] Score grown_score() const;

  // A smooth stand-in for the seconds: the 8-norm of the links' seconds in each phase, and the waiting. Where many
  // links tie, it falls as soon as one of them is relieved. O(phases); comparable between calls of rescale() only.
  [[nodiscard]] double pressure() const;
  // Computes its sums afresh, relative to the largest load of each phase. O(links x phases).
  void rescale();
  // By rank: seconds that its messages contribute to links with at least `share` of the largest load of the phase, and
  // to the waiting. O(pairs x route).
  [[nodiscard]] std::vector<double> heat(double share);

 private:
  // Of one phase.
  struct LinkSums {
    double peak = 0;
    double scale = 1;
    double power = 0;
  };

  void sum_one_way(std::int32_t phase, double bytes, double messages);
  [[nodiscard]] double& seconds_of(std::int32_t phase, simulate::LinkId link) {
    return link_seconds_[static_cast<std::size_t>(phase) * per_byte_.size() + static_cast<std::size_t>(link)];
  }
  [[nodiscard]] double largest_of(std::size_t phase) const;
  void journal_sums();
  void change(double& number, double value);
  void add_link(std::int32_t phase, simulate::LinkId link, double bytes);
  // What one rank waits for these messages on route_, divided by the number of ranks. `per_byte`: of its narrowest
  // link.
  [[nodiscard]] double share_of_waiting(double bytes, double per_byte, double messages) const;
  // On route_.
  void add_one_way(std::int32_t phase, double bytes, double messages);
  void add_flow(pattern::Rank rank, const Flow& flow, double sign);
  void add_all(pattern::Rank rank, pattern::Rank without, double sign);
  void put(pattern::Rank rank, topo::Leaf leaf);

  const simulate::Platform& platform_;
  const Flows& flows_;
  bool waiting_;
  std::vector<topo::Leaf> leaf_of_;
  std::vector<double> per_byte_;      // seconds, by link
  std::vector<double> link_seconds_;  // by phase and link
  std::vector<LinkSums> sums_;        // by phase
  double wait_ = 0;
  double hop_bytes_ = 0;
  std::vector<std::pair<double*, double>> changes_;
  std::vector<std::pair<pattern::Rank, topo::Leaf>> moves_;
  simulate::Route route_;
};

}  // namespace ranktree::core::objective
