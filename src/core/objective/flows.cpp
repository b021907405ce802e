#include "core/objective/flows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::objective {
namespace {

using pattern::Rank;

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

// What each stored pair exchanges in each phase: the recorded ones, then what they lack.
class Slices {
 public:
  explicit Slices(const pattern::Pattern& pattern) {
    pattern::Traffic rest = pattern::total(pattern);
    if (pattern.phases.empty()) {
      slices_.reserve(pattern.indices.size());
      for (std::size_t i = 0; i < pattern.indices.size(); ++i) slices_.push_back({0, rest.messages[i], rest.bytes[i]});
      return;
    }
    offsets_.assign(pattern.indices.size() + 1, 0);
    for (const pattern::Phase& phase : pattern.phases) {
      for (std::size_t i = 0; i < phase.pairs.size(); ++i) {
        ++offsets_[at(phase.pairs[i]) + 1];
        subtract(rest.messages[at(phase.pairs[i])], phase.traffic.messages[i]);
        subtract(rest.bytes[at(phase.pairs[i])], phase.traffic.bytes[i]);
      }
    }
    for (std::size_t i = 0; i < pattern.indices.size(); ++i) {
      offsets_[i + 1] += offsets_[i] + (rest.messages[i] > 0 || rest.bytes[i] > 0 ? 1 : 0);
    }
    slices_.resize(at(offsets_.back()));
    std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
    std::int32_t number = 0;
    for (const pattern::Phase& phase : pattern.phases) {
      for (std::size_t i = 0; i < phase.pairs.size(); ++i) {
        slices_[at(next[at(phase.pairs[i])]++)] = {number, phase.traffic.messages[i], phase.traffic.bytes[i]};
      }
      ++number;
    }
    for (std::size_t i = 0; i < pattern.indices.size(); ++i) {
      if (next[i] < offsets_[i + 1]) slices_[at(next[i])] = {number, rest.messages[i], rest.bytes[i]};
    }
  }

  [[nodiscard]] std::size_t size() const { return slices_.size(); }
  [[nodiscard]] std::span<const Slice> of(std::size_t pair) const {
    if (offsets_.empty()) return {slices_.data() + pair, 1};
    return {slices_.data() + offsets_[pair], slices_.data() + offsets_[pair + 1]};
  }

 private:
  // Phases of which shares were taken add up to a total but for rounding.
  static void subtract(double& rest, double part) { rest = part >= rest * (1 - kRounding) ? 0 : rest - part; }

  std::vector<std::int64_t> offsets_;  // empty without phases: one slice a pair
  std::vector<Slice> slices_;
};

}  // namespace

Flows::Flows(const pattern::Pattern& pattern) : offsets_{0} {
  for (const pattern::Phase& phase : pattern.phases) phases_.push_back({phase.name, phase.count});
  phases_.push_back({pattern.phases.empty() ? "" : "other traffic", 1});
  const Slices slices(pattern);
  const Transposed transposed(pattern);
  flows_.reserve(slices.size());
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    std::int64_t in = transposed.offsets[at(rank)];
    const std::int64_t in_end = transposed.offsets[at(rank) + 1];
    const auto take_received = [&] { return slices.of(transposed.entries[at(in++)].index); };
    const auto take_until = [&](Rank peer) {
      while (in < in_end && transposed.entries[at(in)].from < peer) {
        const Rank from = transposed.entries[at(in)].from;
        append(from, {}, take_received());
      }
    };
    for (std::int64_t i = pattern.indptr[at(rank)]; i < pattern.indptr[at(rank) + 1]; ++i) {
      const Rank peer = pattern.indices[at(i)];
      if (peer == rank) continue;
      take_until(peer);
      const bool both = in < in_end && transposed.entries[at(in)].from == peer;
      append(peer, slices.of(at(i)), both ? take_received() : std::span<const Slice>());
    }
    take_until(pattern.ranks);
    offsets_.push_back(static_cast<std::int64_t>(flows_.size()));
  }
}

void Flows::append(Rank peer, std::span<const Slice> out, std::span<const Slice> in) {
  while (!out.empty() || !in.empty()) {
    const std::int32_t phase = out.empty()  ? in.front().phase
                               : in.empty() ? out.front().phase
                                            : std::min(out.front().phase, in.front().phase);
    Flow& flow = flows_.emplace_back(Flow{.peer = peer, .phase = phase});
    if (!out.empty() && out.front().phase == phase) {
      flow.bytes_out = out.front().bytes;
      flow.messages_out = out.front().messages;
      out = out.subspan(1);
    }
    if (!in.empty() && in.front().phase == phase) {
      flow.bytes_in = in.front().bytes;
      flow.messages_in = in.front().messages;
      in = in.subspan(1);
    }
  }
}

bool Flows::has_bytes() const {
  return std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.bytes_out > 0; });
}

bool Flows::has_messages() const {
  return std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.messages_out > 0; });
}

bool Flows::proportional() const {
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
