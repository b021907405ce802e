#include "core/predict/paired_test.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ranktree::core::predict {
namespace {

constexpr double kMuchSlower = 1.5;
constexpr std::size_t kAllMuchSlower = 3;  // pairs

}  // namespace

double evidence(std::size_t wins, std::size_t losses) {
  constexpr std::array<double, 4> kChances{0.6, 0.75, 0.9, 1};
  constexpr double kMost = 700;  // of a logarithm, so that all numbers are finite
  double sum = 0;
  for (const double chance : kChances) {
    if (chance == 1 && losses > 0) continue;
    const double of_losses = losses == 0 ? 0 : static_cast<double>(losses) * std::log(2 * (1 - chance));
    sum += std::exp(std::min(static_cast<double>(wins) * std::log(2 * chance) + of_losses, kMost));
  }
  return sum / static_cast<double>(kChances.size());
}

void PairedTest::Count::add(double of_current, double of_challenger) {
  current += of_current;
  wins += of_challenger * kMargin < of_current ? 1U : 0U;
  slower += of_challenger > of_current ? 1U : 0U;
  much_slower += of_challenger > kMuchSlower * of_current ? 1U : 0U;
  least = std::min(least, of_current);
  least_of_challenger = std::min(least_of_challenger, of_challenger);
  if (++pairs % kGroup != 0) return;
  group_wins += least_of_challenger * kMargin < least ? 1U : 0U;
  least = least_of_challenger = std::numeric_limits<double>::infinity();
}

double PairedTest::Count::evidence_for() const {
  return (evidence(wins, pairs - wins) + evidence(group_wins, pairs / kGroup - group_wins)) / 2;
}

double PairedTest::Count::evidence_against() const {
  return (evidence(pairs - wins, wins) + evidence(pairs / kGroup - group_wins, group_wins)) / 2;
}

void PairedTest::add(const BlockTimes& current, const BlockTimes& challenger) {
  ++pairs_;
  elapsed_.add(current.elapsed, challenger.elapsed);
  in_calls_.add(current.in_calls, challenger.in_calls);
}

PairedTest::Verdict PairedTest::verdict() const {
  const bool by_elapsed = 2 * in_calls_.current >= elapsed_.current;
  const Count& judged = by_elapsed ? elapsed_ : in_calls_;
  if (pairs_ >= kAllMuchSlower && judged.much_slower == pairs_) return Verdict::kNotFaster;
  if (judged.evidence_for() >= odds_) {
    const bool delays_others = evidence(elapsed_.slower, pairs_ - elapsed_.slower) >= odds_against_;
    return delays_others ? Verdict::kNotFaster : Verdict::kFaster;
  }
  const bool is_futile = judged.evidence_against() >= odds_against_;
  return is_futile || pairs_ >= kMostPairs ? Verdict::kNotFaster : Verdict::kUndecided;
}

}  // namespace ranktree::core::predict
