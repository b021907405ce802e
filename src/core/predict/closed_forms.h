// Hockney's costs in closed form, for every base algorithm and its hierarchical transformations (hier-bcast-2014 §3,
// hier-reduce-2016 §3, corrected and extended as docs/explanation/models.md explains). Exact for powers of two (one
// less for binary trees) and groups of equal size, estimates for other numbers.
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

// An algorithm that moves a share of the bytes in segments. The first segment travels along `path`; each further one
// completes `step` later, the time the busiest rank needs for it; `once` is the unsegmented part. `path` and `step` are
// in terms of a segment's bytes, all else of the whole message's.
struct ClosedForm {
  Line path;
  Line step;
  Line once;
  double share = 1;  // of the bytes, cut into segments

  // Seconds for `bytes` in segments of `segment` bytes; 0: unsegmented.
  [[nodiscard]] double seconds(double bytes, double segment = 0) const;
  // The best number of segments: X* = sqrt(m (B - B_step) / a_step), at least 1.
  [[nodiscard]] double best_segments(double bytes) const;
  // The cost without segments.
  [[nodiscard]] Line whole() const { return once + Line{path.latency, share * path.per_byte}; }
};

// One level of a hierarchy: the ranks that communicate there, and their link. Where `senders` ranks of a node share its
// wire, the link is for all of them together: latency + (senders-1) gap, senders x per_byte.
struct Stretch {
  schedule::Rank ranks = 1;
  Line link;
};

// Returns nothing where only evaluation gives the cost (allreduce: non-overlapping; segments of algorithms without
// them).
std::optional<ClosedForm> base_form(schedule::Collective collective, schedule::Algorithm algorithm,
                                    const Stretch& level, double reduce_per_byte);

// Of algorithms composed: one for each of levels.size() levels, outermost first. In lanes, inner levels use rings
// (alltoall: the given algorithms). Returns nothing where there is no such form, or no base form.
std::optional<ClosedForm> composed_form(schedule::Collective collective, schedule::Form form,
                                        std::span<const schedule::Algorithm> algorithms,
                                        std::span<const Stretch> levels, double reduce_per_byte);

// Bits of a rank number: the steps of a binomial tree; the levels of a complete binary tree.
int log2_above(schedule::Rank ranks);
int binary_levels(schedule::Rank ranks);
// The number of bits set in all numbers below `ranks`: the blocks that a rank sends in Bruck's alltoall. It is ranks/2
// log2 ranks for powers of two.
std::int64_t blocks_by_bits(schedule::Rank ranks);

}  // namespace ranktree::core::predict
