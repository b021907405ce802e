// How deep a thread is in MPI calls.
#pragma once

namespace ranktree::preload {

// Initial-exec: one load from the thread pointer.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the wrappers have no other place for it
extern constinit thread_local int depth __attribute__((tls_model("initial-exec")));

// Marks that this thread is inside an MPI call: calls the MPI makes to itself (Fortran bindings, ROMIO), or another
// tool makes, are not the program's.
class Call {
 public:
  Call() noexcept : outermost_(depth++ == 0) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Call(Call&&) = delete;
  Call& operator=(Call&&) = delete;
  ~Call() { --depth; }
  [[nodiscard]] bool outermost() const noexcept { return outermost_; }

 private:
  bool outermost_;
};

}  // namespace ranktree::preload
