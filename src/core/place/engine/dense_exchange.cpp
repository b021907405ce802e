#include "core/place/engine/dense_exchange.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/dense_weights.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Number>
DenseExchange<Number>::DenseExchange(const DenseWeights<Number>& weights, Division& division,
                                     std::span<const std::uint8_t> fixed, const Exchanged& exchanged)
    : weights_(weights),
      division_(division),
      fixed_(fixed),
      exchanged_(exchanged),
      members_(division.members.size()),
      ties_(division.room.size() * members_, 0),
      held_(division.room.size()),
      place_(members_) {
  for (std::size_t i = 0; i < members_; ++i) {
    auto& held = held_[at(division.child_of[i])];
    place_[i] = static_cast<std::int32_t>(held.size());
    held.push_back(static_cast<std::int32_t>(i));
  }
  fill();
}

// One child after the other, so that its sums stay near while its members' rows pass by.
template <class Number>
void DenseExchange<Number>::fill() {
  for (std::size_t child = 0; child < held_.size(); ++child) {
    double* sums = &ties_[child * members_];
    for (const std::int32_t member : held_[child]) {
      const double own = sums[member];
      weights_.add_row(division_.members[at(member)], division_.members, 1, sums);
      sums[member] = own;
    }
  }
}

template <class Number>
double DenseExchange<Number>::pass(int homes, Random& random) {
  std::vector<std::int32_t> order(members_);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  double gained = 0;
  for (const std::int32_t member : order) {
    if (!fixed_.empty() && fixed_[at(division_.members[at(member)])] != 0) continue;
    collect_homes(member, homes);
    Move best;
    const double now = tie(division_.child_of[at(member)], member);
    for (const std::int32_t home : homes_) {
      if (best.child < 0) best.gain = 1e-10 * (now + tie(home, member));
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
  const std::int32_t own = division_.child_of[at(member)];
  homes_.clear();
  row_.resize(held_.size());
  for (std::int32_t child = 0; child < static_cast<std::int32_t>(held_.size()); ++child) {
    row_[at(child)] = tie(child, member);
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
  const std::int32_t own = division_.child_of[at(member)];
  const double alone = tie(child, member) - tie(own, member);
  if (alone > best.gain && std::cmp_less(held_[at(child)].size(), division_.room[at(child)])) best = {alone, child, -1};
  const double* there = &ties_[at(child) * members_];
  const double* here = &ties_[at(own) * members_];
  for (const std::int32_t other : held_[at(child)]) {
    const double most = alone + here[other] - there[other];
    if (most <= best.gain) continue;
    if (!fixed_.empty() && fixed_[at(division_.members[at(other)])] != 0) continue;
    const double between = weights_.weight(division_.members[at(member)], division_.members[at(other)]);
    if (most - 2 * between > best.gain) best = {most - 2 * between, child, other};
  }
}

template <class Number>
void DenseExchange<Number>::apply(std::int32_t member, const Move& move) {
  const std::int32_t from = division_.child_of[at(member)];
  shift(member, from, move.child);
  if (move.other >= 0) shift(move.other, move.child, from);
  exchanged_(member, move.other, move.child);
}

template <class Number>
void DenseExchange<Number>::shift(std::int32_t member, std::int32_t from, std::int32_t to) {
  const pattern::Rank rank = division_.members[at(member)];
  const double own_from = tie(from, member);
  const double own_to = tie(to, member);
  weights_.add_row(rank, division_.members, -1, &ties_[at(from) * members_]);
  weights_.add_row(rank, division_.members, 1, &ties_[at(to) * members_]);
  tie(from, member) = own_from;
  tie(to, member) = own_to;
  auto& left = held_[at(from)];
  const std::int32_t last = left.back();
  left[at(place_[at(member)])] = last;
  place_[at(last)] = place_[at(member)];
  left.pop_back();
  place_[at(member)] = static_cast<std::int32_t>(held_[at(to)].size());
  held_[at(to)].push_back(member);
  division_.child_of[at(member)] = to;
}

template class DenseExchange<double>;
template class DenseExchange<float>;

}  // namespace ranktree::core::place::engine
