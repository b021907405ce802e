// shared_spin: how a rank waits in shared memory. Rank 0 waits in a barrier for the others, which come once it has
// yielded its processor. Prints how often it had let the MPI make progress by then, which it does every 16th try: never
// before the first yield of ranks that outnumber the processors which they may use.
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/shared/shared_variant.h"
#include "mpi/collect/variant.h"

namespace {

using ranktree::core::predict::choice_from_text;
using ranktree::core::schedule::Collective;
using ranktree::mpi::collect::Context;

struct Watch {
  std::atomic<int>* yielded = nullptr;  // in shared memory; null as long as nothing is watched
  bool within_mpi = false;              // MPIs yield, too
  int polls = 0;
};

Watch& watch() {
  static Watch only;
  return only;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Before the C library's and the MPI's.
extern "C" int sched_yield() noexcept {
  static const auto real = next<int (*)()>("sched_yield");
  if (watch().yielded != nullptr && !watch().within_mpi) watch().yielded->store(1);
  return real();
}

extern "C" int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  static const auto real = next<decltype(&PMPI_Iprobe)>("PMPI_Iprobe");
  if (watch().yielded != nullptr && watch().yielded->load() == 0) ++watch().polls;
  watch().within_mpi = true;
  const int code = real(source, tag, comm, flag, status);
  watch().within_mpi = false;
  return code;
}

namespace {

void barrier(const std::shared_ptr<Context>& context) {
  finish_shared(context, {.comm = MPI_COMM_WORLD}, choice_from_text("shared:binomial", Collective::kBarrier));
}

std::atomic<int>* flag_of_rank_0(int rank, MPI_Win* window) {
  void* memory = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? sizeof(std::atomic<int>) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(*window, 0, &size, &unit, &memory);
  auto* const flag = static_cast<std::atomic<int>*>(memory);
  if (rank == 0) flag->store(0);
  MPI_Barrier(MPI_COMM_WORLD);
  return flag;
}

bool run(int rank) {
  const std::shared_ptr<Context> context = Context::of(MPI_COMM_WORLD);
  if (context->node_team() == nullptr) return false;
  MPI_Win window = MPI_WIN_NULL;
  std::atomic<int>* const flag = flag_of_rank_0(rank, &window);
  barrier(context);
  // Outside MPI, and asleep: rank 0 must not compete for a processor.
  while (rank != 0 && flag->load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (rank == 0) watch().yielded = flag;
  barrier(context);
  watch().yielded = nullptr;
  if (rank == 0) std::printf("%d polls before the first yield\n", watch().polls);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  return true;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool right = run(rank);
  MPI_Finalize();
  return right ? 0 : 1;
}
