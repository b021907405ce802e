// Everything the generated file of the library that serves collectives needs.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/collect/operation.h"
#include "preload/collect/nonblocking.h"
#include "preload/collect/serve.h"
#include "preload/next.h"
#include "preload_has.h"

// NOLINTNEXTLINE(google-build-using-namespace): what makes operations
using namespace ranktree::mpi::collect;
using ranktree::preload::making;
using ranktree::preload::serve;
using ranktree::preload::serve_nonblocking;
