// The function behind ours: the next definition of the same name, so that MPI_Send leads to another tool's MPI_Send
// where one is loaded and to the MPI's otherwise, and PMPI_Send to the next PMPI_Send
// (docs/decisions/wrap-both-c-entries.md).
#pragma once

#include <mpi.h>

namespace ranktree::preload {

// The next definition of `name`; with a matching MPI there always is one.
void* next_symbol(const char* name) noexcept;

// Looked up at the first call: a program that is not an MPI program pays nothing. Threads may look it up at once, with
// one result: a relaxed atomic, by the compiler's builtins, since <atomic> takes three times as long to compile as
// mpi.h.
class Next {
 public:
  constexpr explicit Next(const char* name) noexcept : name_(name) {}
  void* get() noexcept {
    void* function = __atomic_load_n(&function_, __ATOMIC_RELAXED);
    if (function == nullptr) [[unlikely]] {
      function = next_symbol(name_);
      __atomic_store_n(&function_, function, __ATOMIC_RELAXED);
    }
    return function;
  }

 private:
  const char* name_;
  void* function_ = nullptr;
};

}  // namespace ranktree::preload

// A callable that gives the function behind an entry. The plain build, for static linking, defines MPI_X only and goes
// straight to PMPI_X.
#ifdef RANKTREE_PLAIN
#define RANKTREE_NEXT(name) [] { return &P##name; }
#else
#define RANKTREE_NEXT(name)                                 \
  [] {                                                      \
    static constinit ranktree::preload::Next next{#name};   \
    return reinterpret_cast<decltype(&(name))>(next.get()); \
  }
#endif
#define RANKTREE_ENTRY extern "C" __attribute__((visibility("default")))
