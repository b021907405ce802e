// What the preload library must not take for the program's calls.
#pragma once

#include "mpi/collect/this_thread.h"

namespace ranktree::mpi::collect {

// A call of ours on this thread, while it lives: calls of the MPI's names within are ours.
class Entered {
 public:
  explicit Entered(ThisThread& thread = this_thread) : depth_(thread.depth) { ++depth_; }
  ~Entered() { --depth_; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  Entered(Entered&&) = delete;
  Entered& operator=(Entered&&) = delete;

 private:
  int& depth_;
};

// True within one.
inline bool within_call() { return this_thread.depth > 0; }

}  // namespace ranktree::mpi::collect
