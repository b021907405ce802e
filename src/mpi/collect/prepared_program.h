// The calling rank's program of a shape.
#pragma once

#include <memory>

#include "mpi/collect/prepared.h"
#include "mpi/collect/programs.h"

namespace ranktree::mpi::collect {

class Context;

// Made where the context does not keep it. Local. Throws core::Error where there is none, std::bad_alloc.
std::shared_ptr<const Prepared> prepared_program(Context& context, const Shape& shape);

}  // namespace ranktree::mpi::collect
