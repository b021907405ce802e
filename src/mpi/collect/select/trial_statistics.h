// Which of several ways is quickest, found out by taking turns. Pure: the same calls on all ranks give the same turns;
// what was measured is agreed on by the caller.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranktree::mpi::collect {

// One round. First every contestant but the first (which is in use already) makes calls that are not timed, since a
// way's first calls prepare what later ones find. Then passes, in each of which every contestant has one turn, begun by
// another contestant in each pass.
//
// A turn has calls that follow each other as a loop's do, in which ranks may run ahead, and calls before each of which
// all ranks meet, which show what a rank waits for that needs the result. A way may be good at one of them only.
class TrialStatistics {
 public:
  struct Plan {
    int passes = 4;
    int preparing = 1;  // calls that are not timed
    int together = 0;   // calls of a turn one behind the other
    int apart = 1;      // calls of a turn before each of which ranks meet; at least one
    [[nodiscard]] int calls() const { return together + apart; }
  };
  struct Turn {
    std::size_t contestant = 0;
    bool timed = false;
    bool meets = false;  // ranks wait for each other before the call
  };

  TrialStatistics() = default;  // a round that has ended
  // At least two contestants.
  TrialStatistics(std::size_t contestants, const Plan& plan);

  // The next call's. The round has not ended.
  [[nodiscard]] Turn turn() const;

  // A call has been made, in so many seconds on this rank, after so many in which ranks met. True where the ranks must
  // agree before they go on: each number of unagreed() becomes the greatest of all ranks, then agreed() is called.
  // After the second pass, and at the end.
  bool record(double seconds, double meeting = 0);
  std::span<double> unagreed();
  // Who was more than `much` times slower than the quickest in both passes has no more turns; never the first. (One
  // turn may have been unlucky: a rank lost its core.) Where somebody was more than `clearly` times quicker than the
  // first, the slower turn of the one against the quicker turn of the other, the round ends.
  void agreed(double much, double clearly);
  [[nodiscard]] bool ended() const { return order_.empty() || pass_ == plan_.passes; }

  // Seconds a call, the slowest rank's, means without the least and the most ones: of calls one behind the other (0
  // where there are none), of calls apart, and the mean of both. Infinite for who had no turn.
  [[nodiscard]] double together(std::size_t contestant) const;
  [[nodiscard]] double apart(std::size_t contestant) const;
  [[nodiscard]] double time(std::size_t contestant) const;
  // What a meeting costs the rank that comes last: of the ranks' usual ones the least.
  [[nodiscard]] double meeting() const { return meeting_; }
  // Passes in which its turn was quicker than the first contestant's.
  [[nodiscard]] int wins(std::size_t contestant) const;
  // The same of its calls apart only.
  [[nodiscard]] int wins_apart(std::size_t contestant) const;
  // Those that there were.
  [[nodiscard]] int passes() const { return static_cast<int>(finished_[0]); }
  [[nodiscard]] bool dropped(std::size_t contestant) const;

 private:
  void start_pass();
  void keep(std::size_t contestant, double seconds);
  // The numbers of a turn: the mean of the calls that followed each other, where there are some, and each call apart.
  [[nodiscard]] std::size_t width() const {
    return static_cast<std::size_t>(plan_.apart) + (plan_.together > 0 ? 1U : 0U);
  }
  [[nodiscard]] std::span<const double> turn_of(std::size_t contestant, std::size_t pass) const;
  [[nodiscard]] std::span<const double> calls_apart(std::size_t contestant, std::size_t pass) const;
  [[nodiscard]] double turn_apart(std::size_t contestant, std::size_t pass) const;
  [[nodiscard]] double turn_time(std::size_t contestant, std::size_t pass) const;
  [[nodiscard]] double quickest_turn(std::size_t contestant) const;
  [[nodiscard]] double slowest_turn(std::size_t contestant) const;
  using TurnTime = double (TrialStatistics::*)(std::size_t contestant, std::size_t pass) const;
  [[nodiscard]] int passes_won(std::size_t contestant, TurnTime seconds) const;
  template <typename Use>
  void for_each_unagreed(Use use);

  Plan plan_;
  std::vector<std::size_t> order_;     // of the turns of this pass
  std::vector<double> seconds_;        // [(contestant * passes + pass) * width + number]
  std::vector<std::size_t> finished_;  // passes of each
  std::vector<double> meetings_;       // this rank's
  double meeting_ = 0;
  std::vector<double> shared_;  // those not agreed on, and what is left of a meeting, negative
  int pass_ = -1;               // -1: calls that are not timed
  int first_unagreed_ = 0;      // pass
  std::size_t place_ = 0;       // in order_
  int call_ = 0;                // of the turn
  double sum_ = 0;
};

}  // namespace ranktree::mpi::collect
