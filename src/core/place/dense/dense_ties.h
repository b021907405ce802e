// The weight between each member of a group and each of its children, kept up to date while members change slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_weights.h"

namespace ranktree::core::place::engine {

// Where the members of a group are: child_of[i] is the child that holds members[i], capacity[child] its slots.
struct Division {
  std::span<const pattern::Rank> members;
  std::vector<std::int32_t> child_of;
  std::vector<std::int32_t> capacity;
  std::span<const pattern::Rank> order = {};  // in which members are visited; empty: by index
};

// O(members x children) memory, O(members^2) to fill it, which the workers share, and O(members) an exchange.
template <class Number>
class DenseTies {
 public:
  DenseTies(const DenseWeights<Number>& weights, Division& division, Workers& workers);

  [[nodiscard]] std::size_t members() const { return division_.members.size(); }
  [[nodiscard]] std::size_t children() const { return held_.size(); }
  // The weight between a member and all other members of a child.
  [[nodiscard]] double tie(std::int32_t child, std::int32_t member) const {
    return row(child)[static_cast<std::size_t>(member)];
  }
  [[nodiscard]] const double* row(std::int32_t child) const { return &ties_[static_cast<std::size_t>(child) * pitch_]; }
  [[nodiscard]] std::span<const std::int32_t> held(std::int32_t child) const {
    return held_[static_cast<std::size_t>(child)];
  }
  [[nodiscard]] double weight(std::int32_t one, std::int32_t other) const {
    return weights_.weight(rank(one), rank(other));
  }
  [[nodiscard]] pattern::Rank rank(std::int32_t member) const {
    return division_.members[static_cast<std::size_t>(member)];
  }
  [[nodiscard]] std::int32_t child_of(std::int32_t member) const {
    return division_.child_of[static_cast<std::size_t>(member)];
  }
  // The i-th member to be visited.
  [[nodiscard]] std::int32_t visited(std::size_t i) const {
    return division_.order.empty() ? static_cast<std::int32_t>(i) : division_.order[i];
  }
  [[nodiscard]] bool has_free_slot(std::int32_t child) const {
    return held(child).size() < static_cast<std::size_t>(division_.capacity[static_cast<std::size_t>(child)]);
  }

  void move(std::int32_t member, std::int32_t to);
  void exchange(std::int32_t one, std::int32_t other);

 private:
  [[nodiscard]] double* sums_of(std::int32_t child) { return &ties_[static_cast<std::size_t>(child) * pitch_]; }
  void fill(Workers& workers);
  void transfer(std::int32_t member, std::int32_t to);

  const DenseWeights<Number>& weights_;
  Division& division_;
  std::size_t pitch_;                            // of a child's ties
  std::vector<double> ties_;                     // child x member
  std::vector<std::vector<std::int32_t>> held_;  // by child
  std::vector<std::int32_t> place_;              // in held_, by member
};

extern template class DenseTies<double>;
extern template class DenseTies<float>;

}  // namespace ranktree::core::place::engine
