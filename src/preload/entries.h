// Everything that the generated files of wrappers need. It is small, since it is compiled often.
#pragma once

#include <mpi.h>

#include "preload/hooks.h"
#include "preload/next.h"
#include "preload_has.h"

namespace ranktree::preload {

// A call that is not recorded. The guard marks the calls that the MPI makes inside it, which are not the program's.
template <typename Function, typename... Arguments>
inline int passed(Function next, Arguments... arguments) {
  const Call call;
  return next(arguments...);
}

}  // namespace ranktree::preload

// NOLINTNEXTLINE(google-build-using-namespace): the hooks
using namespace ranktree::preload;

// Both entries of a call pass the next definition and their arguments to `body`; the plain build has MPI_X only.
#define RANKTREE_FORWARD(entry, body, parameters, ...) \
  RANKTREE_ENTRY int entry parameters { return body(RANKTREE_NEXT(entry)() __VA_OPT__(, ) __VA_ARGS__); }
#ifdef RANKTREE_PLAIN
#define RANKTREE_ENTRIES(name, ...) RANKTREE_FORWARD(name, __VA_ARGS__)
#else
#define RANKTREE_ENTRIES(name, ...) RANKTREE_FORWARD(name, __VA_ARGS__) RANKTREE_FORWARD(P##name, __VA_ARGS__)
#endif

// A call with a step of its own, a statement: before it is passed on, or after it returned `code`. Both entries share
// the body, which for a send is too large for the compiler to inline by itself.
#define RANKTREE_LIST(...) __VA_ARGS__
#define RANKTREE_STEP_FIRST(specifiers, name, step, parameters, ...)              \
  specifiers int wrapped_##name(decltype(&name) next, RANKTREE_LIST parameters) { \
    const Call call;                                                              \
    step;                                                                         \
    return next(__VA_ARGS__);                                                     \
  }                                                                               \
  RANKTREE_ENTRIES(name, wrapped_##name, parameters, __VA_ARGS__)
#define RANKTREE_BEFORE(...) RANKTREE_STEP_FIRST(static inline, __VA_ARGS__)
#define RANKTREE_SEND(...) RANKTREE_STEP_FIRST(RANKTREE_INLINE static, __VA_ARGS__)
#define RANKTREE_AFTER(name, step, parameters, ...)                                  \
  static inline int wrapped_##name(decltype(&name) next, RANKTREE_LIST parameters) { \
    const Call call;                                                                 \
    const int code = next(__VA_ARGS__);                                              \
    step;                                                                            \
    return code;                                                                     \
  }                                                                                  \
  RANKTREE_ENTRIES(name, wrapped_##name, parameters, __VA_ARGS__)
