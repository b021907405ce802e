// Hockney's costs in closed form: of every base algorithm and of its hierarchical transformations (hier-bcast-2014 §3,
// hier-reduce-2016 §3, corrected and extended as docs/models.md tells). Exact for powers of two (one less for binary
// trees) and groups of one size, estimates for other numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {

// Seconds for n bytes: latency + n per_byte.
struct Line {
  double latency = 0;
  double per_byte = 0;
  [[nodiscard]] double at(double bytes) const { return latency + bytes * per_byte; }
};
inline Line operator+(const Line& a, const Line& b) { return {a.latency + b.latency, a.per_byte + b.per_byte}; }
inline Line operator*(double times, const Line& line) { return {times * line.latency, times * line.per_byte}; }

// An algorithm that moves a share of the bytes in segments: the first one goes along `path`, each further one ends
// `step` later, since the busiest rank needs so long for it; `once` is what is not segmented. All in terms of the whole
// message's bytes but path and step, which are in terms of a segment's.
struct ClosedForm {
  Line path;
  Line step;
  Line once;
  double share = 1;  // of the bytes, cut into segments

  // For `bytes` in segments of `segment` bytes; 0: all at once.
  [[nodiscard]] double seconds(double bytes, double segment = 0) const;
  // How many segments are best: X* = sqrt(m (B - B_step) / a_step), at least 1.
  [[nodiscard]] double best_segments(double bytes) const;
  // Everything at once.
  [[nodiscard]] Line whole() const { return once + Line{path.latency, share * path.per_byte}; }
};

// One level of a hierarchy: ranks that talk there, and their link. Where `senders` ranks of a node share its wire, the
// link is theirs together: latency + (senders-1) gap, senders x per_byte.
struct Stretch {
  schedule::Rank ranks = 1;
  Line link;
};

// Nothing where only evaluation tells (allreduce: non-overlapping; segments of algorithms that have none).
std::optional<ClosedForm> base_form(schedule::Collective collective, schedule::Algorithm algorithm,
                                    const Stretch& level, double reduce_per_byte);

// By a plan's algorithms, one for each level, outermost first; levels.size() of them. In lanes those of the inner
// levels are rings (alltoall: as the plan says). Nothing where there is no such form, or no base form.
std::optional<ClosedForm> plan_form(schedule::Collective collective, schedule::Form form,
                                    std::span<const schedule::Algorithm> algorithms, std::span<const Stretch> levels,
                                    double reduce_per_byte);

// Digits of a rank number: steps of a binomial tree; levels of a complete binary tree.
int log2_above(schedule::Rank ranks);
int binary_levels(schedule::Rank ranks);
// The digits that are 1 in all numbers below it: blocks that a rank sends in Bruck's alltoall. ranks/2 log2 ranks for
// powers of two.
std::int64_t blocks_by_bits(schedule::Rank ranks);

}  // namespace ranktree::core::predict
