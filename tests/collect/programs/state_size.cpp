// state_size: rank 0 prints how many bytes ranktree keeps with a communicator that has not been tuned: one on which
// every collective has been called, fewer times than are needed for a trial. MPI's own memory is not counted.
#include <mpi.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>

#include "mpi/collect/call.h"
#include "mpi/collect/operation.h"

namespace {

namespace collect = ranktree::mpi::collect;

// Bytes that `new` has given and that have not come back.
std::atomic<std::int64_t>& kept() {
  static std::atomic<std::int64_t> only{0};
  return only;
}

constexpr std::size_t kHead = alignof(std::max_align_t);

void* give(std::size_t bytes) {
  void* const memory = std::malloc(kHead + bytes);
  if (memory == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(memory) = bytes;
  kept() += static_cast<std::int64_t>(bytes);
  return static_cast<std::byte*>(memory) + kHead;
}

void take(void* memory) {
  if (memory == nullptr) return;
  void* const whole = static_cast<std::byte*>(memory) - kHead;
  kept() -= static_cast<std::int64_t>(*static_cast<std::size_t*>(whole));
  std::free(whole);
}

void call_all(MPI_Comm comm) {
  std::array<int, 16> from{};
  std::array<int, 16> into{};
  const int one = 1;
  const std::array<int, 2> counts{1, 1};
  const std::array calls = {
      collect::broadcast(into.data(), one, MPI_INT, 0, comm),
      collect::reduce(from.data(), into.data(), one, MPI_INT, MPI_SUM, 0, comm),
      collect::allreduce(from.data(), into.data(), one, MPI_INT, MPI_SUM, comm),
      collect::barrier(comm),
      collect::gather(from.data(), one, MPI_INT, into.data(), one, MPI_INT, 0, comm),
      collect::scatter(from.data(), one, MPI_INT, into.data(), one, MPI_INT, 0, comm),
      collect::allgather(from.data(), one, MPI_INT, into.data(), one, MPI_INT, comm),
      collect::reduce_scatter(from.data(), into.data(), {counts.data(), nullptr}, MPI_INT, MPI_SUM, comm),
      collect::alltoall(from.data(), one, MPI_INT, into.data(), one, MPI_INT, comm),
  };
  for (int time = 0; time < 2; ++time) {
    for (const collect::Operation& operation : calls) collect::call(operation);
  }
}

}  // namespace

void* operator new(std::size_t bytes) { return give(bytes); }
void operator delete(void* memory) noexcept { take(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { take(memory); }

int main(int count, char** words) {
  setenv("RANKTREE_COLL", "auto", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  MPI_Init(&count, &words);
  call_all(MPI_COMM_WORLD);  // what the process keeps
  std::array<MPI_Comm, 8> comms{};
  const std::int64_t before = kept();
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    call_all(comm);
  }
  const std::int64_t with_all = kept();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto communicators = static_cast<std::int64_t>(comms.size());
  if (rank == 0) {
    std::printf("%lld %lld\n", static_cast<long long>((with_all - before) / communicators),
                static_cast<long long>(kept() - before));
  }
  MPI_Finalize();
  return 0;
}
