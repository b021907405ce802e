// Whether one variant of a collective is faster than the one in use, from pairs of blocks of a program's own calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace ranktree::core::predict {

// One block of calls, in seconds of the slowest rank.
struct BlockTimes {
  double elapsed = 0;   // from the first call's entry to the last call's exit
  double in_calls = 0;  // the part of it inside calls
};

// A sequential sign test. In each pair the challenger wins where its block takes less than 1/1.03 of the other
// one's. In each group of kGroup pairs it wins where its fastest block does, which sees small gains where a busy
// machine makes many blocks slow. A bettor stakes half of its money on the winners of pairs, half on those of
// groups. Where the challenger wins no more than half of them, the chance that the money ever grows by a factor of
// `odds` is at most 1/odds, after whatever pairs it is examined (Ville's inequality). So examining it often costs
// nothing, and no distribution of times is assumed. The order of the blocks within a pair must be drawn at random.
//
// Calls that are at least half of the time are judged by the elapsed time of blocks, which sees ranks that run ahead.
// Others are judged by the time inside calls, and the elapsed time must not have become longer.
class PairedTest {
 public:
  enum class Verdict : std::uint8_t { kUndecided, kFaster, kNotFaster };

  // `odds_against`: at which a challenger is dropped. Where both are 1, one pair decides.
  explicit PairedTest(double odds, double odds_against = kOddsAgainst) : odds_(odds), odds_against_(odds_against) {}

  void add(const BlockTimes& current, const BlockTimes& challenger);
  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] std::size_t pairs() const { return pairs_; }

  static constexpr double kMargin = 1.03;
  static constexpr double kOddsAgainst = 20;
  static constexpr std::size_t kGroup = 8;
  static constexpr std::size_t kMostPairs = 4000;  // then it is dropped without evidence

 private:
  // Of one of the two times.
  struct Count {
    double current = 0;  // seconds
    std::size_t pairs = 0;
    std::size_t wins = 0;
    std::size_t slower = 0;
    std::size_t much_slower = 0;
    std::size_t group_wins = 0;
    double least = std::numeric_limits<double>::infinity();  // of the last pairs, not yet a group
    double least_of_challenger = std::numeric_limits<double>::infinity();
    void add(double of_current, double of_challenger);
    // That the challenger wins, and that it does not.
    [[nodiscard]] double evidence_for() const;
    [[nodiscard]] double evidence_against() const;
  };
  double odds_;
  double odds_against_;
  std::size_t pairs_ = 0;
  Count elapsed_;
  Count in_calls_;
};

// By how much the bettor's stake has grown: it bets on winners that win 60, 75, 90 and 100 % of the pairs, a quarter of
// the stake each.
double evidence(std::size_t wins, std::size_t losses);

}  // namespace ranktree::core::predict
