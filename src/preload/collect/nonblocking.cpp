#include "preload/collect/nonblocking.h"

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

#include "mpi/collect/environment.h"
#include "mpi/collect/thread_state.h"
#include "mpi/simulated.h"
#include "preload/collect/serve.h"
#include "preload/settings.h"

namespace ranktree::preload {

using mpi::kRanksShareProcess;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<ProgressThread*> progress_thread{nullptr};

namespace {

constexpr const char* kSetting = "RANKTREE_COLL_NONBLOCKING";

// Prints and logs one warning.
void warn(const char* why) noexcept {
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), "%s: %s; nonblocking collectives stay native", kSetting, why);
  print_verbose(kWhat, line.data());
  if (functions() != nullptr) functions()->log(line.data());
}

// Collective over MPI_COMM_WORLD.
int ranks_on_this_node() noexcept {
  MPI_Comm node = MPI_COMM_NULL;
  int ranks = 1;
  if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return ranks;
  PMPI_Comm_size(node, &ranks);
  PMPI_Comm_free(&node);
  return ranks;
}

// A rank then has two threads. Other ranks may be bound to other PUs, which is not considered: their threads then sleep
// more than necessary.
bool is_crowded(int ranks) noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return true;
  return CPU_COUNT(&allowed) < 2 * ranks;
}

// Why this process cannot; null where it can.
const char* obstacle(int provided) noexcept {
  if (!environment().wants_thread()) return "is not the same on all ranks";
  if (environment().traces) return "the thread's messages would be recorded as the program's";
  return provided != MPI_THREAD_MULTIPLE ? "the MPI does not give MPI_THREAD_MULTIPLE" : nullptr;
}

}  // namespace

bool requests_threads() noexcept {
  if constexpr (kRanksShareProcess) return false;
  const mpi::collect::Environment& own = environment();
  return own.wants_thread() && !own.traces && !own.collectives.empty() && own.collectives != "native";
}

bool wants_nonblocking() noexcept {
  const std::string& wanted = environment().nonblocking;
  if (wanted.empty() || wanted == "native") return false;
  if (environment().wants_thread() && !kRanksShareProcess) return true;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) warn(environment().wants_thread() ? "a simulated rank has one thread" : "expected thread or native");
  return false;
}

void begin_nonblocking(int provided) noexcept {
  const int ranks = ranks_on_this_node();
  const char* why = obstacle(provided);
  ProgressThread* started = why == nullptr ? functions()->start_thread(is_crowded(ranks)) : nullptr;
  if (why == nullptr && started == nullptr) why = "no thread can be had";
  int able = why == nullptr ? 1 : 0;
  const int code = PMPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (code == MPI_SUCCESS && able != 0) {
    progress_thread.store(started, std::memory_order_relaxed);
    return;
  }
  if (started != nullptr) functions()->stop_thread(started);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) warn(why != nullptr ? why : "another rank cannot have them served");
}

void end_nonblocking() noexcept {
  ProgressThread* const thread = progress_thread.exchange(nullptr, std::memory_order_relaxed);
  if (thread != nullptr) functions()->stop_thread(thread);
}

void prepare(MPI_Comm comm) noexcept {
  ThreadState& thread = state_of_thread(*functions());
  if (thread.depth > 0) return;
  const Entered within(thread);
  functions()->prepare(comm, &thread);
}

}  // namespace ranktree::preload
