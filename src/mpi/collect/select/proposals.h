// The variants that are worth a trial in the program's calls.
#pragma once

#include <optional>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

class Context;

// The one that wins most often on one node: it needs no search. Nothing where there is none.
std::optional<core::predict::Choice> in_memory_of_node(const Operation& operation);

// The same as a list, empty where it cannot be carried out. Local. `shared`: there is shared memory.
std::vector<core::predict::Candidate> guess_for(Context& context, const Operation& operation, bool shared);

// By the model, the best first. Local. `shared`: there is shared memory. Throws std::bad_alloc.
std::vector<core::predict::Candidate> candidates_for(Context& context, const core::predict::Parameters& parameters,
                                                     const Operation& operation, const Kind& kind, bool shared);

}  // namespace ranktree::mpi::collect
