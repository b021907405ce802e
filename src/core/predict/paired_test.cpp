#include "core/predict/paired_test.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace ranktree::core::predict {
namespace {

constexpr double kMuchSlower = 1.5;
constexpr std::size_t kAllMuchSlower = 3;  // pairs

}  // namespace

double evidence(std::size_t wins, std::size_t losses) {
  constexpr std::array<double, 4> kChances{0.6, 0.75, 0.9, 1};
  double sum = 0;
  for (const double chance : kChances) {
    sum += std::pow(2 * chance, static_cast<double>(wins)) * std::pow(2 * (1 - chance), static_cast<double>(losses));
  }
  return sum / static_cast<double>(kChances.size());
}

void PairedTest::Count::add(double of_current, double of_challenger) {
  current += of_current;
  wins += of_challenger * kMargin < of_current ? 1U : 0U;
  slower += of_challenger > of_current ? 1U : 0U;
  much_slower += of_challenger > kMuchSlower * of_current ? 1U : 0U;
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
  if (evidence(judged.wins, pairs_ - judged.wins) >= odds_) {
    const bool delays_others = evidence(elapsed_.slower, pairs_ - elapsed_.slower) >= kOddsAgainst;
    return delays_others ? Verdict::kNotFaster : Verdict::kFaster;
  }
  const bool is_futile = evidence(pairs_ - judged.wins, judged.wins) >= kOddsAgainst;
  return is_futile || pairs_ >= kMostPairs ? Verdict::kNotFaster : Verdict::kUndecided;
}

}  // namespace ranktree::core::predict
