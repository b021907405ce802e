// The traffic of a pattern by rank, both directions of a pair side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::core::objective {

// What a rank exchanges with a peer.
struct Flow {
  pattern::Rank peer = 0;
  double bytes_out = 0;
  double messages_out = 0;
  double bytes_in = 0;
  double messages_in = 0;
};

// Each pair stands at both of its ranks; peers ascend. Messages of a rank to itself are dropped.
class Flows {
 public:
  // All classes of traffic together; collective calls must have been expanded. O(pairs).
  explicit Flows(const pattern::Pattern& pattern);

  [[nodiscard]] pattern::Rank ranks() const { return static_cast<pattern::Rank>(offsets_.size()) - 1; }
  [[nodiscard]] std::size_t size() const { return flows_.size(); }
  [[nodiscard]] bool has_bytes() const;
  [[nodiscard]] bool has_messages() const;
  // Whether the messages of each pair are its bytes times one number: then both have the same plan. O(pairs).
  [[nodiscard]] bool proportional() const;
  [[nodiscard]] std::span<const Flow> of(pattern::Rank rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return {flows_.data() + offsets_[at], flows_.data() + offsets_[at + 1]};
  }

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<Flow> flows_;
};

}  // namespace ranktree::core::objective
