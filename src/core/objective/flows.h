// The traffic of a pattern by rank and phase, both directions of a pair side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::objective {

inline constexpr double kRounding = 1e-9;  // what sums of the same numbers differ by, as a share of them

// Calls visit(from, to, index) for each entry between two ranks.
template <typename Visit>
void for_each_entry(const pattern::Pattern& traffic, Visit visit) {
  for (pattern::Rank from = 0; from < traffic.ranks; ++from) {
    for (std::int64_t i = traffic.indptr[at(from)]; i < traffic.indptr[at(from) + 1]; ++i) {
      if (traffic.indices[at(i)] != from) visit(from, traffic.indices[at(i)], at(i));
    }
  }
}

// What a rank exchanges with a peer in one phase.
struct Flow {
  pattern::Rank peer = 0;
  std::int32_t phase = 0;
  double bytes_out = 0;
  double messages_out = 0;
  double bytes_in = 0;
  double messages_in = 0;
};

// A phase as the pattern has it. One of all traffic that no recorded phase holds comes last.
struct FlowPhase {
  std::string name;  // empty where the pattern has no phases
  double count = 1;
};

// What one direction of a pair has of a phase.
struct Slice {
  std::int32_t phase = 0;
  double messages = 0;
  double bytes = 0;
};

// Each pair stands at both of its ranks; peers ascend, and the phases of each. Messages of a rank to itself are
// dropped.
class Flows {
 public:
  // All classes of traffic together; collective calls must have been expanded. O(pairs x their phases).
  explicit Flows(const pattern::Pattern& pattern);

  [[nodiscard]] pattern::Rank ranks() const { return static_cast<pattern::Rank>(offsets_.size()) - 1; }
  [[nodiscard]] std::size_t size() const { return flows_.size(); }
  [[nodiscard]] const std::vector<FlowPhase>& phases() const { return phases_; }
  [[nodiscard]] bool has_bytes() const;
  [[nodiscard]] bool has_messages() const;
  // Whether the messages of each flow are its bytes times one number: then both have the same plan. O(flows).
  [[nodiscard]] bool proportional() const;
  [[nodiscard]] std::span<const Flow> of(pattern::Rank rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return {flows_.data() + offsets_[at], flows_.data() + offsets_[at + 1]};
  }

 private:
  // The flows with a peer: phases of both directions ascend.
  void append(pattern::Rank peer, std::span<const Slice> out, std::span<const Slice> in);

  std::vector<std::int64_t> offsets_;
  std::vector<Flow> flows_;
  std::vector<FlowPhase> phases_;
};

}  // namespace ranktree::core::objective
