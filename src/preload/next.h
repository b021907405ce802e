// The function behind ours: the next definition of the same name, so that MPI_Send leads to another tool's MPI_Send
// where one is loaded and to the MPI's otherwise, and PMPI_Send to the next PMPI_Send
// (docs/decisions/wrap-both-c-entries.md).
#pragma once

#include <mpi.h>

#include <atomic>

namespace ranktree::preload {

// The next definition of `name`; ends in the MPI's own error when there is none, which a matching MPI never meets.
void* next_symbol(const char* name) noexcept;

// Looked up at the first call: a program that is not an MPI program pays nothing.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) noexcept : name_(name) {}
  Function get() noexcept {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]] {
      function = reinterpret_cast<Function>(next_symbol(name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

 private:
  const char* name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace ranktree::preload

// A callable that gives the function behind an entry. The plain build, for static linking, defines MPI_X only and goes
// straight to PMPI_X.
#ifdef RANKTREE_PLAIN
#define RANKTREE_NEXT(name) [] { return &P##name; }
#else
#define RANKTREE_NEXT(name)                                                  \
  [] {                                                                       \
    static constinit ranktree::preload::Next<decltype(&(name))> next{#name}; \
    return next.get();                                                       \
  }
#endif
#define RANKTREE_ENTRY extern "C" __attribute__((visibility("default")))
