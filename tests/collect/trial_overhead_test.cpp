// What finding and timing the calls of trials takes, with times that are made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/select/tuning_entry.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Candidate;
using core::predict::Choice;
using core::predict::Variant;
using Step = TuningEntry::Step;

constexpr double kMicrosecond = 1e-6;
constexpr double kOfTrialCall = 100e-9;  // seconds that it takes longer than a call that is passed through
constexpr double kOfReading = 30e-9;     // of the clock
constexpr double kShare = 0.02;          // of the time, for trials

Candidate candidate(core::schedule::Algorithm algorithm) {
  Choice choice{.variant = Variant::kMessages};
  choice.composition.algorithms = {algorithm};
  return {choice, kMicrosecond};
}

// One rank's program of calls of one kind, with the account that its trials are charged to.
struct Program {
  TuningEntry entry{8, true, false};
  double between = 0;  // seconds of the program between calls
  double now = 0;
  double extra = 0;  // seconds by which trials have made it longer
  double charged = 0;
  double worst = 0;  // seconds beyond what was allowed, at the worst moment
  int trial_calls = 0;
  int readings = 0;

  explicit Program(double seconds_between = 0) : between(seconds_between) {
    entry.start({});
    entry.add({candidate(core::schedule::Algorithm::kBinomial), candidate(core::schedule::Algorithm::kChain)});
    entry.propose(true, std::nullopt);
  }

  [[nodiscard]] double allowed() const { return 1e-3 + kShare * now; }

  // Calls that take `seconds`, whatever their variant.
  void make_calls(int calls, const std::function<double()>& seconds) {
    for (int i = 0; i < calls; ++i) make_call(static_cast<std::uint64_t>(i), seconds());
  }

 private:
  void make_call(std::uint64_t number, double took) {
    const TuningEntry::Turn turn = entry.next();
    const double overhead = (turn.timed ? kOfTrialCall : 0) + (turn.reads_clock ? 2 * kOfReading : 0);
    trial_calls += turn.timed ? 1 : 0;
    readings += turn.reads_clock ? 2 : 0;
    extra += overhead;
    now += between + overhead;
    const double begin = now;
    now += took;
    worst = std::max(worst, extra - allowed());
    if (!turn.timed) return;
    const bool shares = turn.reads_clock ? entry.record(begin, now, number) : entry.record(0, 0, 0);
    if (!shares) return;
    entry.agreed({.allowed = allowed() - charged, .share = kShare});
    charged += entry.charge();
  }
};

// One of 64 calls is interrupted.
std::function<double()> noisy(double seconds, std::uint64_t seed) {
  return [random = std::mt19937_64(seed), seconds]() mutable { return seconds * (random() % 64 == 0 ? 40 : 1); };
}

// A machine whose speed changes from block to block: a challenger that is as fast wins almost half of the pairs, and is
// tried for long.
std::function<double()> drifting(double seconds, std::uint64_t seed) {
  return [random = std::mt19937_64(seed), seconds, calls = 0, factor = 1.0]() mutable {
    if (calls++ % 48 == 0) factor = std::uniform_real_distribution<>(0.5, 1.5)(random);
    return seconds * factor;
  };
}

TEST(TrialOverhead, IsWithinTheAccountAtEveryMoment) {
  for (const double seconds : {0.3 * kMicrosecond, kMicrosecond, 4 * kMicrosecond, 20 * kMicrosecond}) {
    for (const double between : {0.0, 4 * kMicrosecond, 40 * kMicrosecond}) {
      for (const auto& times : {noisy(seconds, 1), drifting(seconds, 1)}) {
        Program program(between);
        program.make_calls(50000, times);
        EXPECT_LE(program.worst, 0) << seconds << " with " << between << " between";
        EXPECT_GT(program.trial_calls, 1000);
      }
    }
  }
}

TEST(TrialOverhead, BlocksJudgedByTheirElapsedTimeReadTheClockAtTheirEnds) {
  Program stream;
  stream.make_calls(20000, noisy(10 * kMicrosecond, 2));
  EXPECT_LE(stream.readings, stream.trial_calls / 4);
  Program between_work(100 * kMicrosecond);
  between_work.make_calls(20000, noisy(10 * kMicrosecond, 2));
  EXPECT_EQ(between_work.readings, 2 * between_work.trial_calls);
}

// It shows nothing of the challenger's speed (it touches memory for the first time), but the program has lost it.
TEST(TrialOverhead, TheFirstCallOfAChallengerIsCharged) {
  for (const double between : {0.0, 40 * kMicrosecond}) {
    TuningEntry entry(8, true, false);
    entry.start({});
    entry.add({candidate(core::schedule::Algorithm::kBinomial)});
    entry.propose(true, std::nullopt);
    double now = 0;
    double charged = 0;
    int own_calls = 0;
    std::uint64_t calls = 0;
    for (int agreements = 0; agreements < 2;) {  // on the observed block, on the first pair
      const bool is_native = entry.next().choice->variant == Variant::kNative;
      now += between;
      const double begin = now;
      now += kMicrosecond * (is_native ? 10 : own_calls++ == 0 ? 1000 : 5);
      if (!entry.record(begin, now, calls++)) continue;
      entry.agreed({.allowed = 1, .share = kShare});
      charged += entry.charge();
      ++agreements;
    }
    EXPECT_NEAR(charged, 1000 * kMicrosecond - 5 * kMicrosecond * own_calls, 100 * kMicrosecond) << between;
  }
}

TEST(TrialOverhead, ARoundThatFoundNothingFasterIsFollowedByFourTimesAsManyCalls) {
  constexpr int kCalls = 1'000'000;
  int trial_calls = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Program program;
    program.make_calls(kCalls, drifting(10 * kMicrosecond, seed));
    EXPECT_TRUE(program.entry.winner() == Choice{});
    trial_calls += program.trial_calls;
  }
  EXPECT_LE(trial_calls, 10 * kCalls * 3 / 5);  // 96 % where the interval is only doubled
}

}  // namespace
}  // namespace ranktree::mpi::collect
