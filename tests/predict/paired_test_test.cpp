// The sequential test of pairs of blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>

#include "core/predict/paired_test.h"

namespace ranktree::core::predict {
namespace {

using Verdict = PairedTest::Verdict;

struct Found {
  Verdict verdict = Verdict::kUndecided;
  std::size_t pairs = 0;
};

// A challenger that takes `ratio` of the time of the variant in use; both with a factor of noise.
template <typename Noise>
Found found(double ratio, double odds, Noise noise) {
  PairedTest test(odds);
  while (test.verdict() == Verdict::kUndecided) {
    const double current = noise();
    const double challenger = ratio * noise();
    test.add({current, current}, {challenger, challenger});
  }
  return {test.verdict(), test.pairs()};
}

TEST(PairedTest, ElevenWinsInARowAreEnough) {
  const Found clear = found(0.5, 200, [] { return 1.0; });
  EXPECT_EQ(clear.verdict, Verdict::kFaster);
  EXPECT_EQ(clear.pairs, 11U);
}

TEST(PairedTest, ThreePairsThatAreMuchSlowerEndIt) {
  const Found slow = found(2, 200, [] { return 1.0; });
  EXPECT_EQ(slow.verdict, Verdict::kNotFaster);
  EXPECT_EQ(slow.pairs, 3U);
}

TEST(PairedTest, AGainBelowTheMarginIsNone) {
  EXPECT_EQ(found(0.98, 200, [] { return 1.0; }).verdict, Verdict::kNotFaster);
  EXPECT_EQ(found(0.96, 200, [] { return 1.0; }).verdict, Verdict::kFaster);
}

// Among 200 tests of equal variants, of each kind of noise, the bound allows 1 on the mean.
TEST(PairedTest, EqualVariantsAreRarelyTakenForFaster) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto uniform = [&random] { return std::generate_canonical<double, 53>(random); };
  const auto gaussian = [&] { return std::exp(0.3 * normal(random)); };
  const auto pareto = [&] { return std::pow(1 - uniform(), -1 / 1.2); };
  const auto two_kinds = [&] { return uniform() < 0.3 ? 10.0 : 1.0; };
  const auto false_ones = [](auto noise) {
    int count = 0;
    for (int i = 0; i < 200; ++i) count += found(1, 200, noise).verdict == Verdict::kFaster ? 1 : 0;
    return count;
  };
  EXPECT_LE(false_ones(gaussian), 2);
  EXPECT_LE(false_ones(pareto), 2);
  EXPECT_LE(false_ones(two_kinds), 2);
}

TEST(PairedTest, GainsOfTenPercentAreRarelyMissed) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  int missed = 0;
  for (int i = 0; i < 1000; ++i) {
    missed += found(0.9, 200, [&] { return std::exp(0.15 * normal(random)); }).verdict == Verdict::kFaster ? 0 : 1;
  }
  EXPECT_LE(missed, 50);
}

TEST(PairedTest, CallsThatAreAFewOfTheTimeAreJudgedByTheTimeInside) {
  PairedTest faster(200);
  PairedTest delaying(200);
  for (int i = 0; i < 20; ++i) {
    const double noise = i % 2 == 0 ? 0.1 : -0.1;
    faster.add({10 + noise, 1}, {10 - noise, 0.8});
    delaying.add({10, 1}, {10.5, 0.8});
  }
  EXPECT_EQ(faster.verdict(), Verdict::kFaster);
  EXPECT_EQ(delaying.verdict(), Verdict::kNotFaster);
}

}  // namespace
}  // namespace ranktree::core::predict
