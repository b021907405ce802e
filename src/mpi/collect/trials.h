// Which of several ways is quickest, found out by taking turns. Pure: the same calls on all ranks give the same turns;
// what was measured is agreed on by the caller.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ranktree::mpi::collect {

// One round. First every contestant but the first (which is in use already) makes a call that is not timed, since a
// way's first call prepares what later ones find. Then passes, in each of which every contestant has one turn of some
// calls, begun by another contestant in each pass.
class Trials {
 public:
  struct Plan {
    int passes = 4;
    int calls = 1;  // a turn
  };
  struct Turn {
    std::size_t contestant = 0;
    bool timed = false;
    bool begins = false;  // the first call of a turn: ranks may wait for each other before it
  };

  Trials() = default;  // a round that has ended
  // At least two contestants.
  Trials(std::size_t contestants, const Plan& plan);

  // The next call's. The round has not ended.
  [[nodiscard]] Turn turn() const;

  // A call has been made, in so many seconds on this rank. True where the ranks must agree before they go on: each
  // number of unagreed() becomes the greatest of all ranks, then agreed() is called. After the second pass, and at the
  // end.
  bool record(double seconds);
  std::span<double> unagreed();
  // Who was more than `much` times slower than the quickest in both passes has no more turns; never the first. (One
  // turn may have been unlucky: a rank lost its core.)
  void agreed(double much);
  [[nodiscard]] bool ended() const { return order_.empty() || pass_ == plan_.passes; }

  // Seconds a call, the slowest rank's: the quickest turn, and the one in the middle.
  [[nodiscard]] double least(std::size_t contestant) const;
  [[nodiscard]] double middle(std::size_t contestant) const;
  [[nodiscard]] bool dropped(std::size_t contestant) const;

 private:
  void start_pass();

  Plan plan_;
  std::vector<std::size_t> order_;     // of the turns of this pass
  std::vector<double> seconds_;        // [contestant * passes + pass]
  std::vector<std::size_t> finished_;  // passes of each
  std::vector<double> shared_;         // those not agreed on
  int pass_ = -1;                      // -1: calls that are not timed
  int first_unagreed_ = 0;             // pass
  std::size_t place_ = 0;              // in order_
  int call_ = 0;                       // of the turn
  double sum_ = 0;
};

}  // namespace ranktree::mpi::collect
