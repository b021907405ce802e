// What the preload library has recorded of this process, for libranktree_mpi in the same process: the one function by
// which the two know each other.
#pragma once

#include <mpi.h>

#include <cstdint>

extern "C" {

// Traffic between this process and another one, in whichever direction this process records it (docs/how-to/trace.md).
struct ranktree_traced_pair {  // NOLINT(readability-identifier-naming): a name of C
  std::int64_t rank;           // in the given group
  std::int64_t process;        // identifies it in all groups, while MPI runs
  std::uint64_t messages;
  std::uint64_t bytes;
};

// Copies the traffic of this process since it began, all classes and threads together, with the members of `group`: at
// most `length` partners in ascending order. Returns how many there are, -1 when nothing is recorded. Collective calls
// that are recorded as such are not included. Local; other threads may be within MPI. Found with
// dlsym(RTLD_DEFAULT, ...): the symbol is there when the preload library is.
__attribute__((visibility("default"))) std::int64_t ranktree_traced_pairs(MPI_Group group, ranktree_traced_pair* pairs,
                                                                          std::int64_t length) noexcept;
}
