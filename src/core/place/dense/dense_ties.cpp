#include "core/place/dense/dense_ties.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/index.h"
#include "core/base/workers.h"
#include "core/place/dense/dense_weights.h"

namespace ranktree::core::place::engine {
namespace {

// Whole cache lines, an odd number of them: a member's ties to all children then lie in different sets of a cache.
std::size_t pitch_of(std::size_t members) {
  constexpr std::size_t kLine = 8;
  return ((members + kLine - 1) / kLine | 1U) * kLine;
}

}  // namespace

template <class Number>
DenseTies<Number>::DenseTies(const DenseWeights<Number>& weights, Division& division, Workers& workers)
    : weights_(weights),
      division_(division),
      pitch_(pitch_of(division.members.size())),
      ties_(division.capacity.size() * pitch_, 0),
      held_(division.capacity.size()),
      place_(division.members.size()) {
  for (std::size_t i = 0; i < place_.size(); ++i) {
    const std::int32_t member = visited(i);
    auto& held = held_[at(child_of(member))];
    place_[at(member)] = static_cast<std::int32_t>(held.size());
    held.push_back(member);
  }
  fill(workers);
}

// A child's sums stay near while its members' rows pass by. Without symmetry a row ties its member to all children,
// too, so that no column is read.
template <class Number>
void DenseTies<Number>::fill(Workers& workers) {
  const std::size_t members = division_.members.size();
  const std::int64_t steps = steps_of_entries(members * members);
  const double directions = weights_.symmetric ? 2 : 1;
  workers.for_each(static_cast<int>(held_.size()), steps, [&](int child) {
    double* sums = sums_of(child);
    for (const std::int32_t member : held_[at(child)]) {
      const double own = sums[member];
      weights_.add_sent(rank(member), division_.members, directions, sums);
      sums[member] = own;
    }
  });
  if (weights_.symmetric) return;
  workers.for_ranges(members, steps, [&](std::size_t first, std::size_t last) {
    std::vector<double> sent(members);
    std::vector<double> to_children(held_.size());
    for (std::size_t member = first; member < last; ++member) {
      std::fill(sent.begin(), sent.end(), 0);
      weights_.add_sent(rank(static_cast<std::int32_t>(member)), division_.members, 1, sent.data());
      sent[member] = 0;
      std::fill(to_children.begin(), to_children.end(), 0);
      for (std::size_t i = 0; i < sent.size(); ++i) to_children[at(division_.child_of[i])] += sent[i];
      for (std::size_t i = 0; i < to_children.size(); ++i) ties_[i * pitch_ + member] += to_children[i];
    }
  });
}

template <class Number>
void DenseTies<Number>::transfer(std::int32_t member, std::int32_t to) {
  auto& left = held_[at(child_of(member))];
  const std::int32_t last = left.back();
  left[at(place_[at(member)])] = last;
  place_[at(last)] = place_[at(member)];
  left.pop_back();
  place_[at(member)] = static_cast<std::int32_t>(held_[at(to)].size());
  held_[at(to)].push_back(member);
  division_.child_of[at(member)] = to;
}

template <class Number>
void DenseTies<Number>::move(std::int32_t member, std::int32_t to) {
  double* left = sums_of(child_of(member));
  double* joined = sums_of(to);
  const double own_left = left[member];
  const double own_joined = joined[member];
  weights_.add_row(rank(member), division_.members, -1, left);
  weights_.add_row(rank(member), division_.members, 1, joined);
  left[member] = own_left;
  joined[member] = own_joined;
  transfer(member, to);
}

template <class Number>
void DenseTies<Number>::exchange(std::int32_t one, std::int32_t other) {
  const std::int32_t from = child_of(one);
  const std::int32_t to = child_of(other);
  double* left = sums_of(from);
  double* joined = sums_of(to);
  const double between = weight(one, other);
  const std::array<double, 4> own{left[one] + between, joined[one] - between, left[other] - between,
                                  joined[other] + between};
  weights_.shift_rows(rank(one), rank(other), division_.members, joined, left);
  left[one] = own[0];
  joined[one] = own[1];
  left[other] = own[2];
  joined[other] = own[3];
  transfer(one, to);
  transfer(other, from);
}

template class DenseTies<double>;
template class DenseTies<float>;

}  // namespace ranktree::core::place::engine
