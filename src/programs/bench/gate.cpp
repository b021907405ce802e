#include "programs/bench/gate.h"

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

#include "mpi/check.h"
#include "mpi/handle.h"

namespace ranktree::mpi::bench {

struct Gate::Counters {
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) std::atomic<unsigned> round{0};
};

Gate::Gate(MPI_Comm comm) : comm_(comm) {
  check(MPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
  Communicator node;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node.receive()), "MPI_Comm_split_type");
  int here = 0;
  int rank = 0;
  check(MPI_Comm_size(node.get(), &here), "MPI_Comm_size");
  check(MPI_Comm_rank(node.get(), &rank), "MPI_Comm_rank");
  if (here != ranks_) return;
  void* own = nullptr;
  const MPI_Aint bytes = rank == 0 ? static_cast<MPI_Aint>(sizeof(Counters) + alignof(Counters)) : 0;
  check(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node.get(), static_cast<void*>(&own), &window_),
        "MPI_Win_allocate_shared");
  MPI_Aint size = 0;
  int unit = 0;
  void* first = nullptr;
  check(MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&first)), "MPI_Win_shared_query");
  // Every rank maps whole pages: the same offset is aligned for all.
  std::size_t space = sizeof(Counters) + alignof(Counters);
  counters_ = static_cast<Counters*>(std::align(alignof(Counters), sizeof(Counters), first, space));
  if (rank == 0) new (counters_) Counters;
  check(MPI_Barrier(comm), "MPI_Barrier");
}

Gate::~Gate() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

void Gate::pass() {
  if (counters_ == nullptr) {
    check(MPI_Barrier(comm_), "MPI_Barrier");
    return;
  }
  const unsigned round = counters_->round.load(std::memory_order_acquire);
  if (counters_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks_) {
    counters_->arrived.store(0, std::memory_order_relaxed);
    counters_->round.fetch_add(1, std::memory_order_release);
    return;
  }
  while (counters_->round.load(std::memory_order_acquire) == round) sched_yield();
}

}  // namespace ranktree::mpi::bench
