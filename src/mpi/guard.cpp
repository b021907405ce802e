#include "mpi/guard.h"

#include <mpi.h>

#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"

namespace ranktree::mpi {
namespace {

void keep_message(MPI_Comm comm, const Failure& failure) noexcept {
  try {
    Annotation annotation = get_annotation(comm);
    say(annotation, failure.text);
    set_annotation(comm, annotation);
  } catch (...) {
    return;
  }
}

// A program of sessions has no MPI_COMM_SELF.
bool world_exists() {
  int begun = 0;
  int ended = 0;
  return MPI_Initialized(&begun) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS && begun != 0 && ended == 0;
}

}  // namespace

int raise(MPI_Comm comm, const Failure& failure) noexcept {
  if (comm != MPI_COMM_NULL) {
    keep_message(comm, failure);
    MPI_Comm_call_errhandler(comm, failure.error_class);
  } else if (world_exists()) {
    MPI_Comm_call_errhandler(MPI_COMM_SELF, failure.error_class);
  }
  return failure.error_class;
}

void require_intracommunicator(MPI_Comm comm) {
  int inter = 0;
  check(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) throw AgreedError(MPI_ERR_COMM, "comm: expected an intracommunicator, found an intercommunicator");
}

}  // namespace ranktree::mpi
