#include "core/place/engine/dense_annealing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/dense_ties.h"

namespace ranktree::core::place::engine {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Exponentially distributed, of mean about 1: the logarithm in straight pieces, the same on every machine.
double exponential(Random& random) {
  constexpr double kLogarithmOfTwo = 0.6931471805599453;
  const std::uint64_t bits = random.next() | 1U;
  const int zeros = std::countl_zero(bits);
  const double mantissa = std::ldexp(static_cast<double>(bits), zeros - 63);  // 1 .. 2
  return kLogarithmOfTwo * (zeros + 2 - mantissa);
}

}  // namespace

template <class Number>
void DenseAnnealing<Number>::find_partners() {
  constexpr std::size_t kPartners = 12;
  const std::size_t members = ties_.members();
  partners_ = std::min(kPartners, members - 1);
  partner_.clear();
  std::vector<std::int32_t> order;
  std::vector<double> row(members);
  for (std::size_t i = 0; i < members; ++i) {
    const auto member = static_cast<std::int32_t>(i);
    for (std::size_t j = 0; j < members; ++j) row[j] = ties_.weight(member, static_cast<std::int32_t>(j));
    order.resize(members);
    std::iota(order.begin(), order.end(), 0);
    order.erase(order.begin() + member);
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(partners_) - 1;
    std::nth_element(order.begin(), last, order.end(), [&](std::int32_t a, std::int32_t b) {
      return row[at(a)] != row[at(b)] ? row[at(a)] > row[at(b)] : a < b;
    });
    partner_.insert(partner_.end(), order.begin(), last + 1);
  }
}

// Of nobody, when the two are in the same child or may not move.
template <class Number>
auto DenseAnnealing<Number>::propose(Random& random) const -> Step {
  const std::uint64_t draw = random.below(partner_.size());
  const auto member = static_cast<std::int32_t>(draw / partners_);
  const std::int32_t own = ties_.child_of(member);
  const std::int32_t child = ties_.child_of(partner_[draw]);
  if (child == own || stays(member)) return {};
  const double* here = ties_.row(own);
  const double* there = ties_.row(child);
  Step best{member, -1, kNever};
  for (const std::int32_t other : ties_.held(child)) {
    const double gain = here[other] - there[other] - 2 * ties_.weight(member, other);
    if (gain <= best.gain || stays(other)) continue;
    best.gain = gain;
    best.other = other;
  }
  best.gain += there[member] - here[member];
  return best;
}

// 0: nothing to try.
template <class Number>
double DenseAnnealing<Number>::mean_loss(Random& random) const {
  constexpr std::size_t kSample = 1024;
  constexpr double kAlike = 0.5;
  double sum = 0;
  double highest = kNever;
  int found = 0;
  for (std::size_t i = 0; i < kSample; ++i) {
    const Step step = propose(random);
    if (step.other < 0) continue;
    sum += std::abs(step.gain);
    highest = std::max(highest, step.gain);
    ++found;
  }
  const double mean = found == 0 ? 0 : sum / found;
  return highest < -kAlike * mean ? 0 : mean;
}

template <class Number>
void DenseAnnealing<Number>::apply(const Step& step) {
  ties_.exchange(step.one, step.other);
  exchanged_(step.one, step.other, ties_.child_of(step.one));
}

template <class Number>
void DenseAnnealing<Number>::run(const AnnealingLimits& limits, const std::function<bool()>& keep_going,
                                 Random& random) {
  constexpr double kMostSteps = 8e8;  // of a round, members^2 where all proposals are accepted
  const auto members = static_cast<double>(ties_.members());
  if (members < 2) return;
  find_partners();
  const double loss = mean_loss(random);
  if (loss <= 0) return;
  const int rounds = static_cast<int>(std::min<double>(limits.rounds, 1 + kMostSteps / (members * members)));
  double gain = 0;
  double best = 0;
  std::vector<Step> since;  // the best
  for (int round = 0; round < rounds && (!keep_going || keep_going()); ++round) {
    const double left = 1 - static_cast<double>(round) / rounds;
    const double heat = limits.warmth * loss * left * left;
    for (std::size_t i = 0; i < ties_.members(); ++i) {
      const Step step = propose(random);
      if (step.other < 0 || step.gain < -heat * exponential(random)) continue;
      apply(step);
      gain += step.gain;
      since.push_back(step);
      if (gain <= best) continue;
      best = gain;
      since.clear();
    }
  }
  for (; !since.empty(); since.pop_back()) apply(since.back());
}

template class DenseAnnealing<double>;
template class DenseAnnealing<float>;

}  // namespace ranktree::core::place::engine
