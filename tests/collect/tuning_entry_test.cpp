// TrialStatistics and decisions with times that are made up: the whole of the chooser but its messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/select/link_pairs.h"
#include "mpi/collect/select/trial_statistics.h"
#include "mpi/collect/select/tuning_entry.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Candidate;
using core::predict::Choice;
using core::predict::Variant;
using core::schedule::Algorithm;

Choice way_of(Algorithm algorithm) {
  Choice choice{.variant = Variant::kMessages};
  choice.composition.algorithms = {algorithm};
  return choice;
}

const Algorithm kOne = Algorithm::kBinomial;
const Algorithm kTwo = Algorithm::kChain;

// A way's seconds in the call with this number, on one rank.
using Clock = std::function<double(const Choice&, int call, int rank)>;

constexpr int kNodes = 2;  // one call a turn where messages are large

// Some ranks that make calls of one kind together.
class Ranks {
 public:
  Ranks(int ranks, const std::vector<Candidate>& candidates, std::int64_t bytes = 1 << 20)
      : cells_(static_cast<std::size_t>(ranks), TuningEntry(candidates, bytes, kNodes)) {}

  // Returns how often each way was used.
  void make_calls(int calls, const Clock& clock) {
    for (int i = 0; i < calls; ++i) make_call(clock);
  }

  const TuningEntry& entry() const { return cells_.front(); }
  int trials = 0;
  double seconds = 0;  // of the slowest rank, all calls
  int rounds = 0;

 private:
  void make_call(const Clock& clock) {
    std::vector<TuningEntry::Turn> turns;
    for (TuningEntry& entry : cells_) turns.push_back(entry.next());
    double slowest = 0;
    bool agree = false;
    for (std::size_t rank = 0; rank < cells_.size(); ++rank) {
      ASSERT_EQ(turns[rank].trial, turns[0].trial);
      ASSERT_TRUE(*turns[rank].choice == *turns[0].choice);
      const double took = clock(*turns[rank].choice, call_, static_cast<int>(rank));
      slowest = std::max(slowest, took);
      if (!turns[rank].trial) continue;
      const bool now = cells_[rank].record(took);
      ASSERT_TRUE(rank == 0 || now == agree);
      agree = now;
    }
    ++call_;
    seconds += slowest;
    trials += turns[0].trial ? 1 : 0;
    if (agree) share();
  }

  // What MPI_Allreduce with MPI_MAX does.
  void share() {
    std::vector<double> most(cells_[0].unagreed().size(), 0.0);
    for (TuningEntry& entry : cells_) {
      const auto own = entry.unagreed();
      ASSERT_EQ(own.size(), most.size());
      for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], own[i]);
    }
    for (TuningEntry& entry : cells_) std::copy(most.begin(), most.end(), entry.unagreed().begin());
    const bool decided = cells_[0].agreed();
    for (std::size_t rank = 1; rank < cells_.size(); ++rank) ASSERT_EQ(cells_[rank].agreed(), decided);
    rounds += decided ? 1 : 0;
  }

  std::vector<TuningEntry> cells_;
  int call_ = 0;
};

Clock seconds_of(double native, double one, double two) {
  return [=](const Choice& choice, int /*call*/, int /*rank*/) {
    if (choice.variant == Variant::kNative) return native;
    return choice == way_of(kOne) ? one : two;
  };
}

const std::vector<Candidate> kBoth = {{way_of(kOne), 1e-6}, {way_of(kTwo), 2e-6}};

TEST(TuningEntry, WithoutCandidatesNothingIsTried) {
  TuningEntry entry({}, 8, 1);
  EXPECT_FALSE(entry.on_trial());
  EXPECT_TRUE(entry.winner_is_native());
  EXPECT_EQ(entry.settled(), TuningEntry::kForEver);
}

TEST(TuningEntry, ChoosesWhatIsQuicker) {
  Ranks ranks(3, kBoth);
  ranks.make_calls(40, seconds_of(10, 7, 9));
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
  ranks.make_calls(100, seconds_of(10, 7, 9));
  EXPECT_FALSE(ranks.entry().on_trial());
}

TEST(TuningEntry, LeavesTheMpiItsCallWhereItIsNotBeatenByFivePercent) {
  Ranks ranks(2, kBoth);
  ranks.make_calls(60, seconds_of(10, 9.6, 9.7));
  EXPECT_TRUE(ranks.entry().winner_is_native());
  EXPECT_FALSE(ranks.entry().on_trial());
}

TEST(TuningEntry, TheSlowestRankCounts) {
  // The first way is quick on all ranks but the last.
  const Clock clock = [](const Choice& choice, int /*call*/, int rank) {
    if (choice.variant == Variant::kNative) return 10.0;
    return choice == way_of(kOne) ? (rank == 4 ? 11.0 : 1.0) : 6.0;
  };
  Ranks ranks(5, kBoth);
  ranks.make_calls(60, clock);
  EXPECT_TRUE(ranks.entry().winner() == way_of(kTwo));
}

TEST(TuningEntry, WhoIsTwiceAsSlowIsDroppedAfterTwoTurns) {
  Ranks ranks(2, kBoth);
  int slow = 0;
  const Clock clock = [&slow](const Choice& choice, int /*call*/, int rank) {
    if (choice.variant == Variant::kNative) return 10.0;
    if (choice == way_of(kTwo)) slow += rank == 0 ? 1 : 0;
    return choice == way_of(kOne) ? 7.0 : 25.0;
  };
  ranks.make_calls(200, clock);
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
  EXPECT_EQ(slow, 3);  // one call that is not timed, two turns of one call
  EXPECT_TRUE(ranks.entry().contestants()[2].dropped);
}

TEST(TuningEntry, OneUnluckyTurnIsNoReasonToDropAWay) {
  int calls = 0;
  const Clock clock = [&calls](const Choice& choice, int /*call*/, int /*rank*/) {
    if (choice.variant == Variant::kNative) return 10.0;
    return ++calls == 2 ? 1000.0 : 5.0;
  };
  Ranks ranks(1, {kBoth[0]});
  ranks.make_calls(60, clock);
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
}

TEST(TuningEntry, AFirstCallThatPreparesDoesNotCount) {
  int first = 0;
  const Clock clock = [&first](const Choice& choice, int /*call*/, int /*rank*/) {
    if (choice.variant == Variant::kNative) return 10.0;
    if (choice == way_of(kOne)) return first++ == 0 ? 1000.0 : 5.0;
    return 20.0;
  };
  Ranks ranks(1, kBoth);
  ranks.make_calls(60, clock);
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
}

TEST(TuningEntry, OneLuckyRoundIsNotEnough) {
  // As slow as the MPI's own call, but for the calls of the first round: one that is not timed, five turns of each.
  const Clock clock = [](const Choice& choice, int call, int /*rank*/) {
    return choice.variant == Variant::kNative || call > 10 ? 10.0 : 5.0;
  };
  Ranks ranks(2, {kBoth[0]});
  ranks.make_calls(100, clock);
  EXPECT_TRUE(ranks.entry().winner_is_native());
}

TEST(TuningEntry, TheNextBestIsTakenWhereTheBestWasOnlyLucky) {
  // The first way is the quickest in the first round: two calls that are not timed, five turns of three.
  const Clock clock = [](const Choice& choice, int call, int /*rank*/) {
    if (choice.variant == Variant::kNative) return 10.0;
    if (choice == way_of(kTwo)) return 8.0;
    return call > 16 ? 14.0 : 6.0;
  };
  Ranks ranks(2, kBoth);
  ranks.make_calls(40, clock);
  EXPECT_FALSE(ranks.entry().on_trial());
  EXPECT_TRUE(ranks.entry().winner() == way_of(kTwo));
}

TEST(TuningEntry, LooksAgainAndFollowsWhatHasChanged) {
  Ranks ranks(2, kBoth);
  ranks.make_calls(600, seconds_of(10, 7, 12));
  ASSERT_TRUE(ranks.entry().winner() == way_of(kOne));
  ranks.make_calls(4000, seconds_of(10, 30, 12));
  EXPECT_TRUE(ranks.entry().winner_is_native());
}

TEST(TuningEntry, KeepsTheWinnerWhileItIsNotSlower) {
  Ranks ranks(2, {kBoth[0]});
  ranks.make_calls(600, seconds_of(10, 7, 0));
  ranks.make_calls(4000, seconds_of(10, 9.9, 0));
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
  ranks.make_calls(20000, seconds_of(10, 10.1, 0));
  EXPECT_TRUE(ranks.entry().winner_is_native());
}

TEST(TuningEntry, LookingAgainCostsOnePercentAtMost) {
  constexpr int kCalls = 60000;
  for (const double loser : {10.5, 12.0, 19.0, 100.0, 5000.0}) {
    Ranks ranks(1, kBoth);
    ranks.make_calls(200, seconds_of(10, loser, loser));
    ASSERT_TRUE(ranks.entry().winner_is_native());
    const double before = ranks.seconds;
    ranks.make_calls(kCalls, seconds_of(10, loser, loser));
    EXPECT_LE(ranks.seconds - before, 10 * kCalls * 1.01) << loser;
  }
  Ranks ranks(1, kBoth);
  ranks.make_calls(200, seconds_of(10, 1, 1.5));
  ASSERT_TRUE(ranks.entry().winner() == way_of(kOne));
  const double before = ranks.seconds;
  ranks.make_calls(kCalls, seconds_of(10, 1, 1.5));
  EXPECT_LE(ranks.seconds - before, kCalls * 1.01);
  EXPECT_GE(ranks.rounds, 2);
}

// Before many calls ranks meet, which takes them as long as two calls.
void check_meetings(std::int64_t bytes, int nodes) {
  constexpr double kMeeting = 2;
  TuningEntry entry({kBoth[0]}, bytes, nodes);
  const auto round = [&entry] {
    double cost = 0;  // beyond calls of the way in use
    for (bool decided = false; !decided;) {
      const TuningEntry::Turn turn = entry.next();
      if (!turn.trial) continue;
      const double seconds = turn.choice->variant == Variant::kNative ? 1.8 : 1.0;
      cost += seconds - 1 + (turn.meets ? kMeeting : 0);
      if (!entry.record(seconds, turn.meets ? kMeeting : 0)) continue;
      [[maybe_unused]] const auto alone = entry.unagreed();
      decided = entry.agreed();
    }
    return cost;
  };
  round();
  ASSERT_TRUE(entry.winner() == way_of(kOne));
  const double calls = entry.settled();
  EXPECT_LE(round(), 0.01 * calls) << bytes;
}

TEST(TuningEntry, MeetingsAreAmongWhatLookingAgainCosts) {
  check_meetings(8, 1);
  check_meetings(1 << 20, 1);
  check_meetings(1 << 20, 2);
}

TEST(TuningEntry, AWayThatSparesBytesIsTakenWhereNothingIsQuicker) {
  const std::vector<Candidate> sparing = {{way_of(kOne), 1e-6, true}};
  const auto winner = [&](double native, double own) {
    Ranks ranks(2, sparing);
    ranks.make_calls(60, seconds_of(native, own, 0));
    EXPECT_FALSE(ranks.entry().on_trial());
    return ranks.entry().winner();
  };
  EXPECT_TRUE(winner(10, 9.9) == way_of(kOne));
  EXPECT_TRUE(winner(10, 10.1) == way_of(kOne));
  EXPECT_EQ(winner(10, 10.3).variant, Variant::kNative);
}

TEST(TuningEntry, AWayThatSparesBytesIsTakenBeforeOneThatIsAsQuick) {
  const std::vector<Candidate> both = {{way_of(kOne), 1e-6}, {way_of(kTwo), 2e-6, true}};
  const auto winner = [&](double own, double sparing) {
    Ranks ranks(2, both);
    ranks.make_calls(80, seconds_of(10, own, sparing));
    EXPECT_FALSE(ranks.entry().on_trial());
    return ranks.entry().winner();
  };
  EXPECT_TRUE(winner(7, 7.1) == way_of(kTwo));
  EXPECT_TRUE(winner(7, 7.6) == way_of(kTwo));
  EXPECT_TRUE(winner(7, 7.8) == way_of(kOne));
  EXPECT_TRUE(winner(9.3, 9.4) == way_of(kTwo));
  EXPECT_TRUE(winner(9.3, 9.8) == way_of(kOne));  // nor is it quicker than the MPI's own
}

TEST(TuningEntry, AWayThatSparesBytesKeepsItsPlaceWhileItIsAsQuickAsTheMpi) {
  Ranks ranks(2, {{way_of(kOne), 1e-6, true}});
  ranks.make_calls(600, seconds_of(10, 9, 0));
  ASSERT_TRUE(ranks.entry().winner() == way_of(kOne));
  ranks.make_calls(4000, seconds_of(10, 10.1, 0));
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
  ranks.make_calls(20000, seconds_of(10, 10.4, 0));
  EXPECT_TRUE(ranks.entry().winner_is_native());
}

TEST(Links, AreMeasuredBetweenTheFirstRanksThereAre) {
  using Pairs = std::array<std::pair<int, int>, 2>;
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 0, 1, 1}, 2), (Pairs{{{0, 2}, {0, 1}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 1, 2, 1}, 3), (Pairs{{{0, 1}, {1, 3}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{2, 1, 0, 2}, 3), (Pairs{{{0, 1}, {0, 3}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 0, 0}, 1), (Pairs{{{0, 0}, {0, 1}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 1, 2}, 3), (Pairs{{{0, 1}, {0, 0}}}));
  EXPECT_EQ(pairs_to_measure({}, 0), Pairs{});
}

// Inside a call of the program, one rank a node: 2 million ranks would take minutes if each were held against all.
TEST(Links, AreFoundInOneLookAtEachRank) {
  std::vector<std::int32_t> apart(2'000'000);
  std::iota(apart.begin(), apart.end(), 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto pairs = pairs_to_measure(apart, static_cast<int>(apart.size()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(pairs[0], (std::pair{0, 1}));
  EXPECT_EQ(pairs[1], (std::pair{0, 0}));
}

TEST(TuningEntry, SmallMessagesTakeSeveralCallsATurn) {
  Ranks small(1, {kBoth[0]}, 8);
  Ranks large(1, {kBoth[0]}, 1 << 20);
  const Clock clock = seconds_of(10, 12, 0);
  small.make_calls(1000, clock);
  large.make_calls(1000, clock);
  EXPECT_GT(small.trials, large.trials);
}

// A rank alone that makes small calls, whose seconds depend on whether ranks have just met: until a decision.
using SmallClock = std::function<double(const Choice&, bool apart)>;

void decide(TuningEntry& entry, const SmallClock& clock) {
  for (bool decided = false; !decided;) {
    const TuningEntry::Turn turn = entry.next();
    if (!turn.trial || !entry.record(clock(*turn.choice, turn.meets))) continue;
    [[maybe_unused]] const auto alone = entry.unagreed();
    decided = entry.agreed();
  }
}

SmallClock small_clock(double native, double loop, double apart) {
  return [=](const Choice& choice, bool meets) {
    if (choice.variant == Variant::kNative) return native;
    return meets ? apart : loop;
  };
}

Choice decided(double native, double loop, double apart) {
  TuningEntry entry({kBoth[0]}, 8, 1);
  decide(entry, small_clock(native, loop, apart));
  return entry.winner();
}

TEST(TuningEntry, AWayMustBeGoodInLoopsAndInCallsApart) {
  EXPECT_TRUE(decided(10, 8, 8) == way_of(kOne));
  EXPECT_TRUE(decided(10, 10, 5) == way_of(kOne));
  EXPECT_TRUE(decided(10, 5, 10) == way_of(kOne));
  EXPECT_TRUE(decided(10, 12, 1).variant == Variant::kNative);
  EXPECT_TRUE(decided(10, 1, 12).variant == Variant::kNative);
}

TEST(TuningEntry, ALossThatIsNothingBesideTheGainIsTaken) {
  const auto winner = [](double loop_of_native) {
    TuningEntry entry({kBoth[0]}, 8, 1);
    decide(entry, [=](const Choice& choice, bool meets) {
      if (choice.variant == Variant::kNative) return meets ? 1.0 : loop_of_native;
      return meets ? 3.0 : 5.0;
    });
    return entry.winner();
  };
  EXPECT_TRUE(winner(1000) == way_of(kOne));
  EXPECT_TRUE(winner(50).variant == Variant::kNative);
}

TEST(TuningEntry, AcrossNodesCallsApartWinMostPassesByThemselves) {
  const auto winner = [](int nodes, int lucky_passes) {
    TuningEntry entry({kBoth[0]}, 8, nodes);
    int calls = 0;
    decide(entry, [&](const Choice& choice, bool meets) {
      if (choice.variant == Variant::kNative) return 10.0;
      if (!meets) return 9.0;
      return calls++ / 5 % 7 < lucky_passes ? 2.0 : 10.5;  // ranks meet five times a turn
    });
    return entry.winner();
  };
  EXPECT_TRUE(winner(1, 3) == way_of(kOne));
  EXPECT_TRUE(winner(2, 3).variant == Variant::kNative);
  EXPECT_TRUE(winner(2, 5) == way_of(kOne));
}

TEST(TuningEntry, AcrossNodesShortCallsApartWinClearly) {
  const auto winner = [](int nodes, double apart) {
    TuningEntry entry({kBoth[0]}, 8, nodes);
    decide(entry, small_clock(10, 5, apart));
    return entry.winner();
  };
  EXPECT_TRUE(winner(2, 7.5) == way_of(kOne));
  EXPECT_TRUE(winner(2, 8).variant == Variant::kNative);
  EXPECT_TRUE(winner(1, 8) == way_of(kOne));
}

TEST(TuningEntry, OfCallsBelowAMicrosecondSomeNanosecondsAreNoReason) {
  constexpr double kNano = 1e-9;
  EXPECT_TRUE(decided(400 * kNano, 360 * kNano, 360 * kNano).variant == Variant::kNative);
  EXPECT_TRUE(decided(400 * kNano, 390 * kNano, 200 * kNano).variant == Variant::kNative);
  EXPECT_TRUE(decided(400 * kNano, 200 * kNano, 390 * kNano).variant == Variant::kNative);
  EXPECT_TRUE(decided(400 * kNano, 320 * kNano, 320 * kNano).variant == Variant::kNative);
  EXPECT_TRUE(decided(400 * kNano, 250 * kNano, 250 * kNano) == way_of(kOne));
  EXPECT_TRUE(decided(40000 * kNano, 36000 * kNano, 36000 * kNano) == way_of(kOne));
}

TEST(TuningEntry, CallsThroughTheMemoryOfOneNodeAreFoundSooner) {
  const auto with_nodes = [](int nodes) {
    TuningEntry entry({{{.variant = Variant::kShared}, 1e-6}}, 8, nodes);
    decide(entry, small_clock(400e-9, 340e-9, 340e-9));
    return entry.winner().variant;
  };
  EXPECT_TRUE(with_nodes(1) == Variant::kShared);
  EXPECT_TRUE(with_nodes(2) == Variant::kNative);
}

TEST(TuningEntry, AWayLosesItsPlaceWhereItIsSlowerInLoopsOrApart) {
  for (const auto& [loop, apart] : {std::pair{1.0, 13.0}, std::pair{13.0, 1.0}}) {
    TuningEntry entry({kBoth[0]}, 8, 1);
    decide(entry, small_clock(10, 8, 8));
    ASSERT_TRUE(entry.winner() == way_of(kOne));
    decide(entry, small_clock(10, loop, apart));
    EXPECT_TRUE(entry.winner_is_native()) << loop;
  }
}

TEST(TuningEntry, ALoadThatGrowsDecidesNothing) {
  // Each call takes longer than the one before it, whoever makes it: twice as long after 30.
  const auto loaded = [](double own) {
    return [=](const Choice& choice, int call, int /*rank*/) {
      const double load = 1 + call / 30.0;
      return (choice.variant == Variant::kNative ? 10.0 : own) * load;
    };
  };
  Ranks equal(2, {kBoth[0]});
  equal.make_calls(100, loaded(10));
  EXPECT_TRUE(equal.entry().winner_is_native());
  Ranks quicker(2, {kBoth[0]});
  quicker.make_calls(100, loaded(6));
  EXPECT_TRUE(quicker.entry().winner() == way_of(kOne));
}

TEST(TuningEntry, AWayThatIsSlowInTwoPassesOfFiveIsNotChosen) {
  int turns = 0;
  const Clock clock = [&turns](const Choice& choice, int /*call*/, int /*rank*/) {
    if (choice.variant == Variant::kNative) return 10.0;
    const int turn = turns++;  // 0 is not timed
    return turn == 2 || turn == 4 ? 11.0 : 8.0;
  };
  Ranks ranks(1, {kBoth[0]});
  ranks.make_calls(11, clock);
  EXPECT_FALSE(ranks.entry().on_trial());
  EXPECT_TRUE(ranks.entry().winner_is_native());
}

TEST(TuningEntry, AWayThatIsTwiceAsQuickIsFoundInAFewCalls) {
  Ranks ranks(2, kBoth);
  ranks.make_calls(13, seconds_of(10, 4, 30));  // two not timed, two turns of each, one not timed, two turns of two
  EXPECT_FALSE(ranks.entry().on_trial());
  EXPECT_TRUE(ranks.entry().winner() == way_of(kOne));
}

TEST(TuningEntry, LargeMessagesOnOneNodeTakeMoreTurnsThanAcrossNodes) {
  const auto trials_of = [](int nodes, std::int64_t bytes) {
    TuningEntry entry({kBoth[0]}, bytes, nodes);
    int calls = 0;
    for (; entry.on_trial(); ++calls) {
      entry.next();
      if (!entry.record(1)) continue;
      [[maybe_unused]] const auto alone = entry.unagreed();
      entry.agreed();
    }
    return calls;
  };
  for (const std::int64_t bytes : {1 << 20, 1 << 24}) EXPECT_GT(trials_of(1, bytes), trials_of(2, bytes)) << bytes;
}

}  // namespace
}  // namespace ranktree::mpi::collect
