// The state that collectives need in a process of the MPI: an attribute of its MPI_COMM_SELF, deleted in MPI_Finalize
// with the last communicator that uses it. Under SMPI, where many ranks share a process, each has its own.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "mpi/agree.h"
#include "mpi/collect/environment.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/select/account.h"
#include "mpi/collect/select/learned.h"
#include "mpi/collect/thread_state.h"

namespace ranktree::mpi::collect {

class ProgressThread;  // completes nonblocking operations of unmodified programs, requests/own_request.h

class Process {
 public:
  // The calling rank's, made at the first use. Throws MpiError, std::bad_alloc.
  static std::shared_ptr<Process> here();

  Process();
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;

  const Environment environment = Environment::read();
  InFlightList in_flight;
  Account account;
  Learned learned{environment.cache, environment.log};
  std::atomic<int> contexts = 0;
  std::atomic<bool> operations_logged = false;  // that reductions with the program's own ones stay native
  std::unique_ptr<ProgressThread> thread;       // where RANKTREE_COLL_NONBLOCKING requests it
#ifdef SMPI_H
  ThreadState state;
#endif
};

// As agree() of the steps, driving what is in flight meanwhile. A rank whose process cannot be had drives nothing.
void agree_driving(MPI_Comm comm, const LocalSteps& steps);

}  // namespace ranktree::mpi::collect
