// Which patterns are placed as matrices, and how.
#pragma once

#include <optional>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

// Whether at least a quarter of the pairs talk, as far as some rows tell, and there are ranks enough for it to matter.
bool is_dense(const pattern::Matrix& matrix);

// The lists of a matrix that is not dense, or that an algorithm needs as lists. Throws Error(kInput), naming the entry.
pattern::Affinity affinity_of(const pattern::Matrix& matrix);

// What the engine makes of lists that hold so many pairs that a matrix is smaller; nothing for others.
std::optional<Placement> place_as_matrix(const topo::Tree& tree, const pattern::Affinity& affinity,
                                         const EngineOptions& options);

}  // namespace ranktree::core::place
