// Everything a generated file of the world library needs.
#pragma once

#include <mpi.h>

#include "preload/next.h"
#include "preload/world/world.h"
#include "preload_exports.h"
#include "preload_has.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace ranktree::preload {

// The names of the calls with a communicator that the MPI of this build lacks, the last one null.
extern const char* const kUnknownCalls[];

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

// Both entries of a call, by a function that is given the next definition and the arguments behind the parameters. They
// are declared, too, since the mpi.h does not have all that the MPI's libraries define.
#define RANKTREE_BOTH_BY(function, name, parameters, ...)                                     \
  extern "C" int name parameters;                                                             \
  extern "C" int P##name parameters;                                                          \
  RANKTREE_ENTRY int name parameters { return function(RANKTREE_NEXT(name)(), __VA_ARGS__); } \
  RANKTREE_ENTRY int P##name parameters { return function(RANKTREE_NEXT(P##name)(), __VA_ARGS__); }
#define RANKTREE_IN_WORLD(name, parameters, ...) RANKTREE_BOTH_BY(pass_on, name, parameters, __VA_ARGS__)
