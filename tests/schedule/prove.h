// Runs schedules on symbols: the slow, exact proof that a schedule computes what its collective defines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// The elements that one rank sends to another, summed over messages.
struct Traffic {
  Rank from = 0;
  Rank to = 0;
  std::int64_t messages = 0;
  std::int64_t elements = 0;
};

// Runs all programs with sends that wait for their receives, on elements that record which operands they are made of.
// Local steps and messages that can happen at the same time happen in an order drawn from `seed` (0: program order).
// Throws Error(kMismatch), naming rank and step, for: steps outside their buffers; dependencies on later steps; two
// steps that touch the same elements without waiting for each other; undefined elements that are sent, combined or left
// in the result; messages whose two sides differ in length, or that have only one side; ranks that wait forever; an
// operand combined twice or missing; operands out of rank order when the request is not commutative; wrong results; and
// changed output elements that are not part of the result. `in_place[r]` is the request's value on rank r; empty: false
// on all ranks. At most 64 ranks. O(steps^2) for each rank.
void prove(const Request& request, std::span<const Program> schedule, std::uint64_t seed,
           const std::vector<bool>& in_place = {});

// The traffic between pairs of ranks, sorted by pair.
std::vector<Traffic> traffic_of(std::span<const Program> schedule);

}  // namespace ranktree::core::schedule
