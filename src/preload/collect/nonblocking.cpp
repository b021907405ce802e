#include "preload/collect/nonblocking.h"

#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string_view>

#include "preload/collect/calls.h"
#include "preload/collect/serve.h"
#include "preload/settings.h"

namespace ranktree::preload {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<bool> serving_nonblocking{false};

namespace {

constexpr const char* kSetting = "RANKTREE_COLL_NONBLOCKING";

bool by_thread() noexcept { return std::string_view(setting(kSetting)) == "thread"; }

// Once, by a rank that has something to say.
void tell(const char* why) noexcept {
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), "%s: %s; nonblocking collectives are left to the MPI", kSetting, why);
  say(kWhat, line.data());
  const auto log = Calls::instance().log;
  if (log != nullptr) log(line.data());
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

// A rank has two threads then. Those of other ranks may be bound elsewhere, which nobody asks: they then sleep more
// than they need.
bool is_crowded(int ranks) noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return true;
  return CPU_COUNT(&allowed) < 2 * ranks;
}

// Why this process cannot; null where it can.
const char* obstacle(int provided) noexcept {
  if (!by_thread()) return "is not the same on all ranks";
  if (is_set("RANKTREE_TRACE")) return "the thread's messages would be recorded as the program's";
  if (provided != MPI_THREAD_MULTIPLE) return "the MPI does not give MPI_THREAD_MULTIPLE";
  return Calls::instance().begin == nullptr ? "libranktree_mpi is missing" : nullptr;
}

}  // namespace

bool asks_for_threads() noexcept {
  return by_thread() && is_set("RANKTREE_COLL") && !is_set("RANKTREE_TRACE") &&
         std::string_view(setting("RANKTREE_COLL")) != "native";
}

bool wants_nonblocking() noexcept {
  if (!is_set(kSetting) || std::string_view(setting(kSetting)) == "native") return false;
  if (by_thread()) return true;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) tell("expected thread or native");
  return false;
}

void begin_nonblocking(int provided) noexcept {
  const int ranks = ranks_on_this_node();
  const char* why = obstacle(provided);
  if (why == nullptr && !Calls::instance().start_thread(is_crowded(ranks))) why = "no thread can be had";
  int able = why == nullptr ? 1 : 0;
  const int code = PMPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (code == MPI_SUCCESS && able != 0) {
    serving_nonblocking.store(true, std::memory_order_relaxed);
    return;
  }
  if (why == nullptr) Calls::instance().stop_thread();
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) tell(why != nullptr ? why : "another rank cannot have them served");
}

void end_nonblocking() noexcept {
  if (serving_nonblocking.exchange(false, std::memory_order_relaxed)) Calls::instance().stop_thread();
}

void prepare(MPI_Comm comm) noexcept {
  const Inside within;
  Member* const member = member_of(comm);
  if (member == nullptr || member->waiting == 0) return;
  member->waiting = 0;
  ask(comm, *member);
  if (member->shortcuts != nullptr) Calls::instance().prepare(comm);
}

bool begin(const Operation& operation, MPI_Request* request, int& code) noexcept {
  return Calls::instance().begin(&operation, request, &code);
}

}  // namespace ranktree::preload
