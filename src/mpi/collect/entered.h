// What the preload library must not take for the program's calls.
#pragma once

namespace ranktree::mpi::collect {

// A call of ours on this thread, while it lives: calls of the MPI's names within are ours.
class Entered {
 public:
  Entered();
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Entered(Entered&&) = delete;
  Entered& operator=(Entered&&) = delete;
};

// True within one.
bool within_call();

}  // namespace ranktree::mpi::collect
