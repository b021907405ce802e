// The collective calls that make hierarchical communicators; include/ranktree/mpi.h documents each. All throw MpiError
// (MPI's error handler has been called) or AgreedError (it has not, all ranks throw alike); outputs are then untouched.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/split/summary.h"
#include "mpi/agree.h"
#include "mpi/split/level.h"

namespace ranktree::mpi {

// What every collective call starts with: learns the nodes, then does what may fail on one rank alone.
struct Start {
  Caller caller;
  Failure failure;
};

// Collective over `comm`. `local` reads what else the call needs, after options and chain. Without `info` the options
// are those of the last split.
Start start(MPI_Comm comm, int key, const MPI_Info* info, const std::function<void(Caller&)>& local = {});

// Throws core::Error(kInput), naming the parameter.
[[noreturn]] void refuse_null(const char* parameter);

template <typename Type>
void require(const Type* pointer, const char* parameter) {
  if (pointer == nullptr) refuse_null(parameter);
}

// What was learnt and said stays with the communicator, whether the call fails or not.
void keep(MPI_Comm comm, Caller& caller);

void hsplit(MPI_Comm comm, int key, MPI_Info info, MPI_Comm* newcomm);
void hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm);

// Where hsplit_all puts its levels.
struct LevelArrays {
  int max = 0;
  int* count = nullptr;
  MPI_Comm* levels = nullptr;
  MPI_Comm* roots = nullptr;  // may be null
};
void hsplit_all(MPI_Comm comm, MPI_Info info, const LevelArrays& arrays);

void split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* newcomm);

}  // namespace ranktree::mpi
