#include "mpi/wait.h"

#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "mpi/check.h"
#include "mpi/simulated.h"

namespace ranktree::mpi {

void wait_asleep(MPI_Request request) {
  constexpr int kAwake = 1000;
  constexpr std::chrono::microseconds kNap{200};
  if (kRanksShareProcess) return check(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  int done = 0;
  check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  for (int round = 0; done == 0; ++round) {
    if (round < kAwake) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
    check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
}

void wait_for_all(MPI_Comm comm) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  check(PMPI_Ibarrier(comm, &barrier), "MPI_Ibarrier");
  wait_asleep(barrier);
}

}  // namespace ranktree::mpi
