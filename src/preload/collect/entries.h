// Everything the generated file of the library that serves collectives needs.
#pragma once

#include <mpi.h>

#include "preload/collect/nonblocking.h"
#include "preload/collect/serve.h"
#include "preload/next.h"
#include "preload_has.h"

namespace ranktree::preload {

// A send buffer, as an operation has it.
inline void* unwritten(const void* buffer) noexcept { return const_cast<void*>(buffer); }

}  // namespace ranktree::preload

using ranktree::preload::Collective;
using ranktree::preload::for_each_rank;
using ranktree::preload::making;
using ranktree::preload::Operation;
using ranktree::preload::serve;
using ranktree::preload::serve_nonblocking;
using ranktree::preload::unwritten;
