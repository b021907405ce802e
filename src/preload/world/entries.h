// Everything a generated file of the world library needs.
#pragma once

#include <mpi.h>

#include "preload/next.h"
#include "preload/world/world.h"
#include "preload_has.h"

// A call with large counts is wrapped where the mpi.h has such calls at all: a program that looks for them and finds
// ours in front of an MPI without them would use them.
#if RANKTREE_HAS_MPI_Send_c
#define RANKTREE_LARGE_COUNTS 1
#else
#define RANKTREE_LARGE_COUNTS 0
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace ranktree::preload {

// The names of all calls with large counts that take a communicator, the last one null.
extern const char* const kLargeCountCalls[];

// Passes a call to the next definition. One that this MPI does not have returns an error.
template <typename Function, typename... Arguments>
inline int pass_on(Function next, Arguments... arguments) {
  if (next == nullptr) [[unlikely]]
    return MPI_ERR_UNSUPPORTED_OPERATION;
  return next(arguments...);
}

}  // namespace ranktree::preload

using ranktree::preload::in_world;
using ranktree::preload::pass_on;

// Both entries of a call. They are declared, too, since an mpi.h that is older than the MPI that runs may not have
// them.
#define RANKTREE_IN_WORLD(name, parameters, ...)                                             \
  extern "C" int name parameters;                                                            \
  extern "C" int P##name parameters;                                                         \
  RANKTREE_ENTRY int name parameters { return pass_on(RANKTREE_NEXT(name)(), __VA_ARGS__); } \
  RANKTREE_ENTRY int P##name parameters { return pass_on(RANKTREE_NEXT(P##name)(), __VA_ARGS__); }
