// Synchronises all ranks before a timed call.
#pragma once

#include <mpi.h>

namespace ranktree::mpi::bench {

// Uses shared memory on one node, so that ranks leave within microseconds of each other; else MPI_Barrier.
class Gate {
 public:
  // Collective. Throws MpiError.
  explicit Gate(MPI_Comm comm);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  Gate(Gate&&) = delete;
  Gate& operator=(Gate&&) = delete;

  void pass();

 private:
  struct Counters;

  MPI_Comm comm_;
  int ranks_ = 1;
  MPI_Win window_ = MPI_WIN_NULL;
  Counters* counters_ = nullptr;
};

}  // namespace ranktree::mpi::bench
