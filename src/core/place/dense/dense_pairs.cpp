#include "core/place/dense/dense_pairs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/dense/dense_ties.h"

namespace ranktree::core::place::engine {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::int32_t kFreeSlot = -1;

}  // namespace

template <class Number>
void DensePairs<Number>::run(const PairLimits& limits, Workers& workers, Random& random) {
  const auto children = static_cast<std::int32_t>(ties_.children());
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int32_t a = 0; a < children; ++a) {
    for (std::int32_t b = a + 1; b < children; ++b) pairs.emplace_back(a, b);
  }
  std::vector<std::int64_t> seen(pairs.size(), 0);         // when a pair was last looked at
  std::vector<std::int64_t> changed(ties_.children(), 1);  // when a child was
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t now = 1;
  bool better = true;
  const auto steps = static_cast<std::int64_t>(ties_.members() * ties_.children());
  for (int sweep = 0; better && sweep < limits.sweeps && workers.go_on(steps); ++sweep) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    better = false;
    for (const std::size_t i : order) {
      const auto [a, b] = pairs[i];
      if (!workers.go_on(static_cast<std::int64_t>(ties_.held(a).size() + ties_.held(b).size()))) return;
      if (std::max(changed[at(a)], changed[at(b)]) <= seen[i]) continue;
      if (refine(a, b, limits.patience)) {
        changed[at(a)] = changed[at(b)] = ++now;
        better = true;
      }
      seen[i] = now;
    }
  }
}

template <class Number>
void DensePairs<Number>::load(std::int32_t own, std::int32_t other, Side& side) const {
  const double* here = ties_.row(own);
  const double* there = ties_.row(other);
  const auto held = ties_.held(own);
  side.members.assign(held.begin(), held.end());
  side.gains.resize(held.size());
  side.row.resize(held.size());
  side.highest = kNever;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const bool stays = !fixed_.empty() && fixed_[at(ties_.rank(held[i]))] != 0;
    side.gains[i] = stays ? kNever : there[held[i]] - here[held[i]];
    side.highest = std::max(side.highest, side.gains[i]);
  }
  if (!ties_.has_free_slot(own)) return;
  side.members.push_back(kFreeSlot);
  side.gains.push_back(0);
  side.row.push_back(0);
  side.highest = std::max(side.highest, 0.0);
}

template <class Number>
void DensePairs<Number>::look_at(std::int32_t member, Side& side) const {
  const std::size_t held = side.members.size() - (side.members.back() == kFreeSlot ? 1 : 0);
  for (std::size_t i = 0; i < held; ++i) {
    side.row[i] = member == kFreeSlot ? 0 : 2 * ties_.weight(member, side.members[i]);
  }
}

// Who gains most on the left, and the best partner for it; the first of equals.
template <class Number>
auto DensePairs<Number>::choose() -> Choice {
  const auto highest = std::max_element(left_.gains.begin(), left_.gains.end());
  Choice choice{static_cast<std::size_t>(highest - left_.gains.begin()), 0, kNever};
  if (*highest == kNever) return choice;
  look_at(left_.members[choice.one], right_);
  for (std::size_t i = 0; i < right_.members.size(); ++i) {
    const double gain = right_.gains[i] - right_.row[i];
    if (gain <= choice.gain) continue;
    choice.gain = gain;
    choice.other = i;
  }
  choice.gain += *highest;
  return choice;
}

// Gains as if the two had changed places; neither does again. The right side has looked at the left one of them.
template <class Number>
void DensePairs<Number>::pretend(const Choice& choice) {
  const std::int32_t one = left_.members[choice.one];
  const std::int32_t other = right_.members[choice.other];
  look_at(one, left_);
  for (std::size_t i = 0; i < left_.gains.size(); ++i) left_.gains[i] += left_.row[i];
  for (std::size_t i = 0; i < right_.gains.size(); ++i) right_.gains[i] -= right_.row[i];
  look_at(other, left_);
  look_at(other, right_);
  for (std::size_t i = 0; i < left_.gains.size(); ++i) left_.gains[i] -= left_.row[i];
  for (std::size_t i = 0; i < right_.gains.size(); ++i) right_.gains[i] += right_.row[i];
  left_.gains[choice.one] = right_.gains[choice.other] = kNever;
  steps_.push_back({one, other});
}

// True when it made something better.
template <class Number>
bool DensePairs<Number>::refine(std::int32_t a, std::int32_t b, int patience) {
  load(a, b, left_);
  load(b, a, right_);
  if (left_.members.empty() || right_.members.empty()) return false;
  const std::int32_t some = std::max(left_.members.front(), right_.members.front());
  if (some == kFreeSlot) return false;
  const double least = 1e-10 * (ties_.tie(a, some) + ties_.tie(b, some));  // what rounding may pretend
  if (left_.highest + right_.highest <= least) return false;
  steps_.clear();
  double gain = 0;
  double best = least;
  std::size_t best_steps = 0;
  while (steps_.size() < best_steps + at(patience)) {
    const Choice choice = choose();
    if (choice.gain == kNever) break;
    pretend(choice);
    gain += choice.gain;
    if (gain <= best) continue;
    best = gain;
    best_steps = steps_.size();
  }
  for (std::size_t i = 0; i < best_steps; ++i) apply(steps_[i], a, b);
  return best_steps > 0;
}

template <class Number>
void DensePairs<Number>::apply(const Step& step, std::int32_t a, std::int32_t b) {
  if (step.one == kFreeSlot && step.other == kFreeSlot) return;
  if (step.one == kFreeSlot) {
    ties_.move(step.other, a);
    exchanged_(step.other, kFreeSlot, a);
  } else if (step.other == kFreeSlot) {
    ties_.move(step.one, b);
    exchanged_(step.one, kFreeSlot, b);
  } else {
    ties_.exchange(step.one, step.other);
    exchanged_(step.one, step.other, b);
  }
}

template class DensePairs<double>;
template class DensePairs<float>;

}  // namespace ranktree::core::place::engine
