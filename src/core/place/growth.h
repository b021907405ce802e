// Dividing processes among unequal subtrees, and the matrix of some processes only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/grouping.h"

namespace ranktree::core::place {

// One part for each capacity, in that order; together they hold all processes, which must not exceed the capacities'
// sum. Parts are filled one after another, the largest capacity first (ties: the first), each grown from the process
// with the most communication left by always adding the process most strongly tied to the part (ties: more
// communication, then the smaller rank). O(pairs log pairs).
std::vector<Group> grow_parts(const Affinity& matrix, const Group& processes, std::span<const std::int64_t> capacities);

// The matrix of `processes` (ascending) among themselves, renumbered 0, 1, ...
Affinity restrict_matrix(const Affinity& matrix, const Group& processes);

}  // namespace ranktree::core::place
