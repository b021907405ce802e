#include "mpi/collect/owned_types.h"

#include <mpi.h>

#include <array>

#include "mpi/check.h"
#include "mpi/collect/arguments.h"
#include "mpi/collect/call.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/types.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {
namespace {

// What MPI ignores on a rank may be anything.
void own(Operation::Side& side, Datatype& type) {
  if (side.type == MPI_DATATYPE_NULL) return;
  std::array<int, 3> numbers{};
  int combiner = MPI_COMBINER_NAMED;
  check(PMPI_Type_get_envelope(side.type, &numbers[0], &numbers[1], &numbers[2], &combiner), "MPI_Type_get_envelope");
  if (combiner == MPI_COMBINER_NAMED) return;
  check(PMPI_Type_dup(side.type, type.receive()), "MPI_Type_dup");
  side.type = type.get();
}

}  // namespace

OwnedTypes::OwnedTypes(Operation& operation) {
  if (!among_several(operation.comm) || reduces(operation)) return;
  int rank = 0;
  check(PMPI_Comm_rank(operation.comm, &rank), "MPI_Comm_rank");
  if (sends(operation, rank)) own(operation.send, types_[0]);
  if (receives(operation, rank)) own(operation.receive, types_[1]);
}

}  // namespace ranktree::mpi::collect
