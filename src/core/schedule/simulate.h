// Schedules carried out on symbols: the slow, exact proof that a schedule does what its collective means.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// Sum over messages of the elements that a rank sends to another.
struct Traffic {
  Rank from = 0;
  Rank to = 0;
  std::int64_t messages = 0;
  std::int64_t elements = 0;
};

// Runs all programs with sends that wait for their receives, on elements that know which operands they are made of.
// Local steps and messages that can happen at the same time happen in an order drawn from `seed` (0: program order).
// Throws Error(kMismatch), naming rank and step, for: steps outside of their buffers; dependencies on later steps; two
// steps that touch the same elements without waiting for each other; undefined elements sent, combined or left in the
// result; messages of different length at their two ends, or with no other end; ranks that wait forever; an operand
// combined twice or missing; operands out of rank order when the request is not commutative; results that are wrong;
// and output elements changed that do not belong to the result. `in_place[r]` is the request's of rank r; empty: none.
// At most 64 ranks. O(steps^2) for each rank.
void prove(const Request& request, std::span<const Program> schedule, std::uint64_t seed,
           const std::vector<bool>& in_place = {});

// What is sent between pairs, sorted by pair.
std::vector<Traffic> traffic_of(std::span<const Program> schedule);

}  // namespace ranktree::core::schedule
