// A lower bound of the weight between parts of bounded size, which counts where the partners of each rank fit into one
// part.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"

namespace ranktree::core::place {

// Bounds by routing: from each rank to the ranks nearest to it (a pair is as long as its weight is small) goes one unit
// along a shortest path. Of `reach` ranks at most `capacity` are in the part of the first, so at least reach - capacity
// units leave the part, each over a pair that the parts cut. The cut is at least the weight of the cheapest pairs that
// could carry all these units, relative to the units routed over them: the dual of the spreading metrics of G. Even,
// J. Naor, S. Rao, B. Schieber, Fast Approximate Graph Partitioning Algorithms, SIAM J. Comput. 28(6), 1999.
class Spreading {
 public:
  explicit Spreading(const pattern::Affinity& affinity);

  // No partition into parts of at most `capacity` ranks cuts less. The work is limited: a larger pattern or capacity
  // means fewer sources and a looser bound.
  double cut(std::int64_t capacity);

 private:
  // A rank that was reached, and the arc of the path to it.
  struct Reached {
    pattern::Rank rank;
    std::int64_t arc;
    std::int64_t units;
  };

  bool route(pattern::Rank source, std::int64_t capacity);
  void settle(pattern::Rank rank, double distance);
  [[nodiscard]] double cheapest(double units) const;

  const pattern::Affinity& affinity_;
  std::vector<std::int64_t> reverse_;   // by arc: the same pair from the other end
  std::vector<pattern::Rank> owner_;    // by arc: whose row it is in
  std::vector<double> load_;            // by arc: units routed over it
  std::vector<double> distance_;        // by rank, infinite where not seen
  std::vector<std::int64_t> arc_;       // by rank: the last of the path so far
  std::vector<std::int64_t> position_;  // by rank: index into reached_, -1 before
  std::vector<pattern::Rank> seen_;
  std::vector<Reached> reached_;
  std::vector<std::pair<double, pattern::Rank>> heap_;
  std::int64_t work_ = 0;
};

}  // namespace ranktree::core::place
