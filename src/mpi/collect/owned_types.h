// Duplicates of an operation's datatypes: MPI lets programs free those of operations that are under way.
#pragma once

#include <array>

#include "mpi/collect/operation.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

class OwnedTypes {
 public:
  OwnedTypes() = default;
  // Puts duplicates in place of the types that the calling rank's part needs. Not of reductions, whose user functions
  // are given the program's own handle. Throws MpiError.
  explicit OwnedTypes(Operation& operation);

 private:
  std::array<Datatype, 2> types_;
};

}  // namespace ranktree::mpi::collect
