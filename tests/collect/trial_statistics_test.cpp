// Turns of calls, and what is made of their times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpi/collect/select/trial_statistics.h"

namespace ranktree::mpi::collect {
namespace {

TEST(TrialStatistics, OfMeetingsTheRankThatComesLastCounts) {
  TrialStatistics trials(2, {.passes = 1, .apart = 3});
  for (int call = 0; call < 7; ++call) {
    if (!trials.record(1, call == 3 ? 100 : 5)) continue;  // the first is not timed, nobody meets
    const auto shared = trials.unagreed();
    EXPECT_EQ(shared.back(), -5);
    shared.back() = std::max(shared.back(), -3.0);  // of another rank, as MPI_MAX has it
    trials.agreed(5, 5);
  }
  ASSERT_TRUE(trials.ended());
  EXPECT_EQ(trials.meeting(), 3);
}

TEST(TrialStatistics, EveryContestantBeginsAPassInItsTurn) {
  TrialStatistics trials(3, {.passes = 3, .preparing = 2, .together = 2, .apart = 1});
  std::vector<std::size_t> turns;
  std::vector<bool> meets;
  while (!trials.ended()) {
    turns.push_back(trials.turn().contestant);
    meets.push_back(trials.turn().meets);
    if (trials.record(1)) {
      for (double& each : trials.unagreed()) each = 1;
      trials.agreed(2, 2);
    }
  }
  EXPECT_EQ(turns, (std::vector<std::size_t>{1, 1, 2, 2,                 // not timed
                                             0, 0, 0, 1, 1, 1, 2, 2, 2,  //
                                             1, 1, 1, 2, 2, 2, 0, 0, 0,  //
                                             2, 2, 2, 0, 0, 0, 1, 1, 1}));
  // Before the first of two calls that follow each other, and before the one apart.
  EXPECT_EQ(std::count(meets.begin(), meets.end(), true), 18);
}

TEST(TrialStatistics, TellTheTurnInTheMiddleAndWhoWasQuickerInAPass) {
  TrialStatistics trials(2, {.passes = 3});
  const std::vector<double> took{99, 4, 8, 6, 5, 7, 3};  // not timed; native 4, 5, 7; other 8, 6, 3
  for (const double each : took) {
    if (trials.record(each)) trials.agreed((static_cast<void>(trials.unagreed()), 5), 5);
  }
  ASSERT_TRUE(trials.ended());
  EXPECT_EQ(trials.time(0), 5);
  EXPECT_EQ(trials.time(1), 6);
  EXPECT_EQ(trials.wins(1), 1);
  EXPECT_EQ(trials.together(1), 0);
}

TEST(TrialStatistics, OfTimesOfTwoKindsTellWhatIsBetween) {
  TrialStatistics trials(2, {.passes = 2, .apart = 4});
  // Not timed; native, the other; in the second pass the other way round.
  const std::vector<double> took{99, 5, 31, 5, 31, 1, 20, 20, 90, 20, 1, 90, 20, 31, 31, 5, 5};
  std::size_t next = 0;
  for (; !trials.ended(); ++next) {
    if (trials.record(took.at(next))) trials.agreed((static_cast<void>(trials.unagreed()), 50), 50);
  }
  ASSERT_EQ(next, took.size());
  EXPECT_EQ(trials.apart(0), 18);
  EXPECT_EQ(trials.apart(1), (1 + 4 * 20 + 90) / 6.0);  // one 1 and one 90 may be accidents
}

TEST(TrialStatistics, OneAccidentOfEightCallsDoesNotCount) {
  TrialStatistics trials(2, {.passes = 2, .apart = 4});
  const std::vector<double> took{99, 5, 5, 5, 500, 6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5};
  for (const double each : took) {
    if (trials.record(each)) trials.agreed((static_cast<void>(trials.unagreed()), 50), 50);
  }
  ASSERT_TRUE(trials.ended());
  EXPECT_EQ(trials.apart(0), 5);
  EXPECT_EQ(trials.wins_apart(1), 0);
}

TEST(TrialStatistics, TellCallsThatFollowEachOtherFromCallsApart) {
  TrialStatistics trials(2, {.passes = 1, .together = 2, .apart = 3});
  const std::vector<double> took{99, 1, 3, 10, 30, 20, 2, 4, 7, 6, 5};  // slower in the loop
  for (const double each : took) {
    if (trials.record(each)) trials.agreed((static_cast<void>(trials.unagreed()), 5), 5);
  }
  ASSERT_TRUE(trials.ended());
  EXPECT_EQ(trials.together(0), 2);  // (1 + 3) / 2
  EXPECT_EQ(trials.apart(0), 20);
  EXPECT_EQ(trials.time(0), 11);
  EXPECT_EQ(trials.together(1), 3);
  EXPECT_EQ(trials.apart(1), 6);
  EXPECT_EQ(trials.wins(1), 1);
  EXPECT_EQ(trials.wins_apart(1), 1);
}

}  // namespace
}  // namespace ranktree::mpi::collect
