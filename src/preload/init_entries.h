// The entries that set MPI up, for a library that has something to do once it is there.
#pragma once

#include <mpi.h>

#include "preload/next.h"

namespace ranktree::preload {

// Calls `next` and, where that succeeded, `then`.
template <typename Next, typename Then, typename... Arguments>
int initialized(Next next, Then then, Arguments... arguments) {
  const int code = next(arguments...);
  if (code == MPI_SUCCESS) then();
  return code;
}

}  // namespace ranktree::preload

// Defines MPI_Init and MPI_Init_thread, by both of their names. `then` is a function without arguments.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): it defines functions by names that are MPI's
#define RANKTREE_INIT_ENTRY(name, then)                                                                          \
  RANKTREE_ENTRY int name(int* argc, char*** argv) {                                                             \
    return ranktree::preload::initialized(RANKTREE_NEXT(name)(), then, argc, argv);                              \
  }                                                                                                              \
  RANKTREE_ENTRY int name##_thread(int* argc, char*** argv, int required, int* provided) {                       \
    return ranktree::preload::initialized(RANKTREE_NEXT(name##_thread)(), then, argc, argv, required, provided); \
  }
#define RANKTREE_INIT_ENTRIES(then)   \
  RANKTREE_INIT_ENTRY(MPI_Init, then) \
  RANKTREE_INIT_ENTRY(PMPI_Init, then)
// NOLINTEND(cppcoreguidelines-macro-usage)
