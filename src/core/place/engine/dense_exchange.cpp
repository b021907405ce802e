#include "core/place/engine/dense_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Number>
double DenseExchange<Number>::pass(int homes, Random& random) {
  std::vector<std::int32_t> order(ties_.members());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = ties_.visited(i);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  double gained = 0;
  for (const std::int32_t member : order) {
    if (!fixed_.empty() && fixed_[at(ties_.rank(member))] != 0) continue;
    collect_homes(member, homes);
    Move best;
    const double now = ties_.tie(ties_.child_of(member), member);
    for (const std::int32_t home : homes_) {
      if (best.child < 0) best.gain = 1e-10 * (now + ties_.tie(home, member));
      look_into(member, home, best);
    }
    if (best.child < 0) continue;
    apply(member, best);
    gained += best.gain;
  }
  return gained;
}

// The children that a member is tied to most, the strongest first, without its own; ties in their order.
template <class Number>
void DenseExchange<Number>::collect_homes(std::int32_t member, int most) {
  const std::int32_t own = ties_.child_of(member);
  homes_.clear();
  row_.resize(ties_.children());
  for (std::int32_t child = 0; child < static_cast<std::int32_t>(ties_.children()); ++child) {
    row_[at(child)] = ties_.tie(child, member);
    if (child != own && row_[at(child)] > 0) homes_.push_back(child);
  }
  const std::size_t count = std::min(homes_.size(), at(most));
  std::partial_sort(
      homes_.begin(), homes_.begin() + static_cast<std::ptrdiff_t>(count), homes_.end(),
      [&](std::int32_t a, std::int32_t b) { return row_[at(a)] != row_[at(b)] ? row_[at(a)] > row_[at(b)] : a < b; });
  homes_.resize(count);
}

template <class Number>
void DenseExchange<Number>::look_into(std::int32_t member, std::int32_t child, Move& best) {
  const std::int32_t own = ties_.child_of(member);
  const double alone = ties_.tie(child, member) - ties_.tie(own, member);
  if (alone > best.gain && ties_.has_room(child)) best = {alone, child, -1};
  const double* there = ties_.row(child);
  const double* here = ties_.row(own);
  for (const std::int32_t other : ties_.held(child)) {
    const double most = alone + here[other] - there[other];
    if (most <= best.gain) continue;
    if (!fixed_.empty() && fixed_[at(ties_.rank(other))] != 0) continue;
    const double between = ties_.weight(member, other);
    if (most - 2 * between > best.gain) best = {most - 2 * between, child, other};
  }
}

template <class Number>
void DenseExchange<Number>::apply(std::int32_t member, const Move& move) {
  if (move.other >= 0) {
    ties_.exchange(member, move.other);
  } else {
    ties_.move(member, move.child);
  }
  exchanged_(member, move.other, move.child);
}

template class DenseExchange<double>;
template class DenseExchange<float>;

}  // namespace ranktree::core::place::engine
