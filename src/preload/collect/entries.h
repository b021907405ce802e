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

// Both entries of a call, which `describe` describes.
#define RANKTREE_BOTH(entry, name, ...) entry(name, __VA_ARGS__) entry(P##name, __VA_ARGS__)
#define RANKTREE_SERVED(name, ...) RANKTREE_BOTH(RANKTREE_SERVED_ENTRY, name, __VA_ARGS__)
#define RANKTREE_SERVED_ENTRY(name, describe, parameters, ...) \
  RANKTREE_ENTRY int name parameters { return serve(comm, RANKTREE_NEXT(name)(), describe, __VA_ARGS__); }
#define RANKTREE_SERVED_NONBLOCKING(name, ...) RANKTREE_BOTH(RANKTREE_NONBLOCKING_ENTRY, name, __VA_ARGS__)
#define RANKTREE_NONBLOCKING_ENTRY(name, describe, parameters, ...)                        \
  RANKTREE_ENTRY int name parameters {                                                     \
    return serve_nonblocking(request, comm, RANKTREE_NEXT(name)(), describe, __VA_ARGS__); \
  }
// Both entries of a call that makes a communicator, which it returns through the parameter `made`.
#define RANKTREE_MAKING(name, ...) RANKTREE_BOTH(RANKTREE_MAKING_ENTRY, name, __VA_ARGS__)
#define RANKTREE_MAKING_ENTRY(name, made, parameters, ...) \
  RANKTREE_ENTRY int name parameters { return making(made, RANKTREE_NEXT(name)(), __VA_ARGS__); }
