// threads THREADS ROUNDS: each thread calls collectives, blocking and not, on a communicator of its own, all at the
// same time. Prints "ok", or "no threads" where the MPI does not allow it.
#include <mpi.h>
#include <ranktree/mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

void fail(int thread, const char* what) {
  std::printf("thread %d: %s\n", thread, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

bool all_are(const std::vector<int>& values, int expected) {
  return std::count(values.begin(), values.end(), expected) == static_cast<std::ptrdiff_t>(values.size());
}

// The same draws on all ranks of a communicator.
class Worker {
 public:
  Worker(MPI_Comm comm, int number) : comm_(comm), number_(number), dice_(static_cast<unsigned>(number)) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const std::size_t count = dice_() % 3 == 0 ? 30000 : 1 + dice_() % 50;
      root_ = static_cast<int>(dice_() % static_cast<unsigned>(size_));
      base_ = 1000 * number_ + i;
      one(count);
      several(count);
    }
    // The last call on it: no thread frees a communicator that others still use.
    ranktree_Barrier(comm_);
  }

 private:
  void one(std::size_t count) {
    std::vector<int> values(count, rank_ == root_ ? base_ : -1);
    ranktree_Bcast(values.data(), static_cast<int>(count), MPI_INT, root_, comm_);
    if (!all_are(values, base_)) fail(number_, "a broadcast");
    values.assign(count, base_ + rank_);
    ranktree_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_INT, MPI_MAX, comm_);
    if (!all_are(values, base_ + size_ - 1)) fail(number_, "an allreduce");
    std::vector<int> blocks(static_cast<std::size_t>(size_), -1);
    ranktree_Allgather(&rank_, 1, MPI_INT, blocks.data(), 1, MPI_INT, comm_);
    for (int i = 0; i < size_; ++i) {
      if (blocks[static_cast<std::size_t>(i)] != i) fail(number_, "an allgather");
    }
  }

  // Completed by the thread that waits, in another order than begun.
  void several(std::size_t count) {
    std::vector<int> sum(count, base_ + rank_);
    std::vector<int> values(count, rank_ == root_ ? base_ : -1);
    ranktree_Request requests[2] = {RANKTREE_REQUEST_NULL, RANKTREE_REQUEST_NULL};
    const auto length = static_cast<int>(count);
    ranktree_Iallreduce(MPI_IN_PLACE, sum.data(), length, MPI_INT, MPI_SUM, comm_, &requests[0]);
    ranktree_Ibcast(values.data(), length, MPI_INT, root_, comm_, &requests[1]);
    const int first = (rank_ + base_) % 2;
    if (ranktree_Wait(&requests[first]) != MPI_SUCCESS) fail(number_, "a wait");
    if (ranktree_Waitall(2, requests) != MPI_SUCCESS) fail(number_, "waitall");
    if (!all_are(values, base_)) fail(number_, "a nonblocking broadcast");
    if (!all_are(sum, size_ * base_ + size_ * (size_ - 1) / 2)) fail(number_, "a nonblocking allreduce");
  }

  MPI_Comm comm_;
  int number_;
  std::mt19937 dice_;
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
  int base_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool allowed = provided == MPI_THREAD_MULTIPLE;
  const int count = argc > 1 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 3;
  const int rounds = argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 50;
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(allowed ? count : 0), MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  threads.reserve(comms.size());
  for (std::size_t i = 0; i < comms.size(); ++i) {
    threads.emplace_back([&, i] { Worker(comms[i], static_cast<int>(i) + 1).run(rounds); });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  if (rank == 0) std::puts(allowed ? "ok" : "no threads");
  MPI_Finalize();
  return 0;
}
