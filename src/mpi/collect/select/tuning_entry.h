// What is known of one kind of call on one communicator (a collective, its size in powers of two, a kind of operation):
// the ways that are worth trying, and which is used. Pure and the same on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "mpi/collect/select/trial_statistics.h"

namespace ranktree::mpi::collect {

// The MPI's own call takes part in every round and is replaced only by a way that was faster by more than 5 % in two
// rounds, in nearly all passes (across nodes in calls apart, too, of which the MPI's short ones must take 1.3 times as
// long), and slower neither in loops nor in calls apart, unless by a fiftieth of the gain. Rounds come back after 1000
// calls and later ever more rarely; what they may cost is 1 % of the calls between them, by what is known of the times
// of ways and of meetings. Where nothing is quicker by more than noise, a way that moves the least between nodes
// replaces one that does not say so, the MPI's own among them.
class TuningEntry {
 public:
  struct Contestant {
    core::predict::Choice choice;
    double model = 0;      // seconds; of the MPI's own call nothing is known
    bool spares = false;   // bytes between nodes, as Candidate::fewest_bytes
    double measured = 0;   // its time in the last round, 0 where it never took part
    double apart = 0;      // that of its calls apart only; 0 where all are
    int failures = 0;      // 2: takes part no more
    bool dropped = false;  // in its last round
  };
  struct Turn {
    const core::predict::Choice* choice = nullptr;
    bool trial = false;
    bool timed = false;
    bool meets = false;  // ranks wait for each other first
  };

  // Small messages take more calls a turn, for what a clock cannot see; large ones take fewer where they cross nodes.
  TuningEntry(const std::vector<core::predict::Candidate>& candidates, std::int64_t bytes, int nodes);

  // A call's turn. The caller says what a trial took.
  Turn next();
  // As TrialStatistics. agreed() is true where a round has ended with a decision that stands, until settled() calls
  // have passed.
  bool record(double seconds, double meeting = 0) { return trials_.record(seconds, meeting); }
  std::span<double> unagreed() { return trials_.unagreed(); }
  bool agreed();

  // The way in use; the MPI's own before the first decision.
  [[nodiscard]] const core::predict::Choice& winner() const { return contestants_[winner_].choice; }
  [[nodiscard]] bool winner_is_native() const { return winner_ == 0; }
  [[nodiscard]] bool on_trial() const { return on_trial_; }
  // Calls from now without a trial.
  [[nodiscard]] std::uint32_t settled() const { return left_; }
  // They have been made elsewhere.
  void pass_settled() { left_ = 0; }
  [[nodiscard]] const std::vector<Contestant>& contestants() const { return contestants_; }
  // The MPI's own call is used and nothing will be tried any more.
  static constexpr std::uint32_t kForEver = UINT32_MAX;

 private:
  void begin_round(std::vector<std::size_t> members, int passes);
  void keep_times();
  void confirm(std::size_t best);
  [[nodiscard]] std::size_t quickest() const;
  [[nodiscard]] double unseen(std::size_t member) const;
  [[nodiscard]] bool is_not_slower(std::size_t member) const;
  [[nodiscard]] bool beats_native(std::size_t member) const;
  [[nodiscard]] bool wins_apart(std::size_t member, int enough) const;
  [[nodiscard]] bool is_as_quick(std::size_t member, std::size_t as) const;
  [[nodiscard]] std::size_t sparing_one(std::size_t best) const;
  void settle();
  [[nodiscard]] double cost_of(std::size_t contestant) const;

  std::vector<Contestant> contestants_;  // the first is the MPI's own call
  bool one_node_;
  bool on_trial_ = false;
  TrialStatistics trials_;            // while on_trial_
  std::vector<std::size_t> members_;  // of the round in flight, or of the next one
  std::size_t winner_ = 0;
  std::vector<std::size_t> confirming_;  // contestants that must win once more
  double meeting_ = 0;                   // seconds, in the last round
  std::uint32_t interval_ = 0;
  std::uint32_t left_ = 0;
  TrialStatistics::Plan plan_;  // of the first round
};

}  // namespace ranktree::mpi::collect
