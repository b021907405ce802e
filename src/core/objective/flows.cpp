#include "core/objective/flows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::core::objective {
namespace {

using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Calls visit(from, to, index) for each entry between two ranks.
template <typename Visit>
void for_each_entry(const pattern::Pattern& pattern, Visit visit) {
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (std::int64_t i = pattern.indptr[at(from)]; i < pattern.indptr[at(from) + 1]; ++i) {
      if (pattern.indices[at(i)] != from) visit(from, pattern.indices[at(i)], at(i));
    }
  }
}

struct Received {
  Rank from = 0;
  std::size_t index = 0;
};

// The entries by receiver; senders ascend.
struct Transposed {
  explicit Transposed(const pattern::Pattern& pattern) : offsets(at(pattern.ranks) + 1, 0) {
    for_each_entry(pattern, [&](Rank, Rank to, std::size_t) { ++offsets[at(to) + 1]; });
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    entries.resize(at(offsets.back()));
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for_each_entry(pattern, [&](Rank from, Rank to, std::size_t i) { entries[at(next[at(to)]++)] = {from, i}; });
  }

  std::vector<std::int64_t> offsets;
  std::vector<Received> entries;
};

}  // namespace

Flows::Flows(const pattern::Pattern& pattern) : offsets_{0} {
  const pattern::Traffic traffic = pattern::total(pattern);
  const Transposed transposed(pattern);
  flows_.reserve(pattern.indices.size());
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    std::int64_t in = transposed.offsets[at(rank)];
    const std::int64_t in_end = transposed.offsets[at(rank) + 1];
    const auto take_received = [&](Flow& flow) {
      const std::size_t index = transposed.entries[at(in++)].index;
      flow.bytes_in = traffic.bytes[index];
      flow.messages_in = traffic.messages[index];
    };
    const auto take_until = [&](Rank peer) {
      while (in < in_end && transposed.entries[at(in)].from < peer) {
        flows_.push_back({.peer = transposed.entries[at(in)].from});
        take_received(flows_.back());
      }
    };
    for (std::int64_t i = pattern.indptr[at(rank)]; i < pattern.indptr[at(rank) + 1]; ++i) {
      const Rank peer = pattern.indices[at(i)];
      if (peer == rank) continue;
      take_until(peer);
      flows_.push_back({.peer = peer, .bytes_out = traffic.bytes[at(i)], .messages_out = traffic.messages[at(i)]});
      if (in < in_end && transposed.entries[at(in)].from == peer) take_received(flows_.back());
    }
    take_until(pattern.ranks);
    offsets_.push_back(static_cast<std::int64_t>(flows_.size()));
  }
}

bool Flows::has_bytes() const {
  return std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.bytes_out > 0; });
}

bool Flows::has_messages() const {
  return std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.messages_out > 0; });
}

bool Flows::proportional() const {
  constexpr double kRounding = 1e-9;
  if (flows_.empty()) return true;
  const double bytes = flows_[0].bytes_out + flows_[0].bytes_in;
  const double messages = flows_[0].messages_out + flows_[0].messages_in;
  return std::all_of(flows_.begin(), flows_.end(), [&](const Flow& flow) {
    const double a = (flow.bytes_out + flow.bytes_in) * messages;
    const double b = (flow.messages_out + flow.messages_in) * bytes;
    return std::abs(a - b) <= kRounding * std::max(a, b);
  });
}

}  // namespace ranktree::core::objective
