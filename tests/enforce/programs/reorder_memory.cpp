// One large allocation after the other fails, on one rank after the other: all ranks see the same, nobody waits.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "ranktree/mpi.h"

namespace {

constexpr std::size_t kLarge = 2048;
long allowed = -1;     // large allocations until one fails; negative: none does
int clock_calls = -1;  // until looking at the clock fails; negative: it does not

}  // namespace

// A rank that places asks for the time. What its placing throws, it throws here.
[[gnu::visibility("default")]] double MPI_Wtime() {
  if (clock_calls >= 0 && clock_calls-- == 0) throw std::bad_alloc();
  return PMPI_Wtime();
}

// The library's allocations come here too.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (bytes >= kLarge && allowed >= 0 && allowed-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// NOLINTNEXTLINE(misc-new-delete-overloads)
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

int rank, size;

void fail(const std::string& text, int found) {
  std::fprintf(stderr, "rank %d: %s, found %d\n", rank, text.c_str(), found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Outcome {
  bool fired = false;  // there were so many allocations
  bool error = false;
  bool identity = false;
};

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// The same on all ranks.
int agreed(int own, const char* what) {
  int lowest = 0;
  int highest = 0;
  MPI_Allreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (lowest != highest) fail(what, own);
  return own;
}

// What is left of the allocations of the rank that was to fail.
Outcome look(MPI_Comm comm, MPI_Comm made, int code, int failing) {
  Outcome outcome;
  int fired = rank == failing && allowed < 0 ? 1 : 0;
  allowed = -1;
  MPI_Bcast(&fired, 1, MPI_INT, failing, comm);
  outcome.fired = fired != 0;
  const int error_class = agreed(class_of(code), "error classes differ");
  outcome.error = error_class != MPI_SUCCESS;
  if (outcome.error && error_class != MPI_ERR_NO_MEM) fail("expected MPI_ERR_NO_MEM", error_class);
  if (outcome.error && (made != MPI_COMM_WORLD || !outcome.fired)) fail("an output was touched, or no reason", fired);
  if (outcome.error) return outcome;
  MPI_Info info = MPI_INFO_NULL;
  char reason[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  ranktree_Comm_get_info(made, &info);
  MPI_Info_get(info, "ranktree_reorder_reason", MPI_MAX_INFO_VAL - 1, reason, &found);
  MPI_Info_free(&info);
  outcome.identity = std::string(reason).find("memory") != std::string::npos;
  agreed(outcome.identity ? 1 : 0, "reasons differ");
  int new_rank = 0;
  MPI_Comm_rank(made, &new_rank);
  if (outcome.identity && new_rank != rank) fail("renumbered after a failure", new_rank);
  return outcome;
}

// Pairs of far ranks, each edge many times, so that everything that grows with edges is large.
Outcome once(MPI_Comm comm, int call, MPI_Info info, int failing, long allocation) {
  constexpr int kEdges = 1000;
  const std::vector<int> partners(kEdges, (rank + size / 2) % size);
  const std::vector<int> weights(kEdges, 1);
  const int degree = kEdges;
  MPI_Comm made = MPI_COMM_WORLD;
  MPI_Barrier(comm);
  allowed = rank == failing ? allocation : -1;
  int code = MPI_SUCCESS;
  if (call == 0) {
    code = ranktree_Dist_graph_create(comm, 1, &rank, &degree, partners.data(), weights.data(), info, 1, &made);
  } else {
    code = ranktree_Dist_graph_create_adjacent(comm, kEdges, partners.data(), weights.data(), kEdges, partners.data(),
                                               weights.data(), info, 1, &made);
  }
  const bool armed = rank == failing && allowed >= 0;
  const Outcome outcome = look(comm, made, code, failing);
  if (armed && outcome.fired) fail("the allocation both failed and did not", 0);
  if (!outcome.error) MPI_Comm_free(&made);
  return outcome;
}

// The first look at the clock is every rank's, the next are those of who places.
int placing_fails(MPI_Comm comm, const char* mode) {
  const int partner = (rank + size / 2) % size;
  const int one = 1;
  MPI_Comm made = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  MPI_Info_set(info, "ranktree_time_limit_ms", "1000000");
  clock_calls = rank == 0 ? 1 : -1;
  const int code = ranktree_Dist_graph_create(comm, 1, &rank, &one, &partner, &one, info, 1, &made);
  const Outcome outcome = look(comm, made, code, 0);
  if (outcome.error || !outcome.identity) fail("expected the order as it was, for want of memory", code);
  MPI_Comm_free(&made);
  MPI_Info_free(&info);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int errors = 0;
  int identities = 0;
  for (const char* mode : {"central", "node", "distributed"}) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ranktree_reorder_mode", mode);
    for (int call = 0; call < 2; ++call) {
      once(comm, call, info, 0, 1 << 30);  // what is learnt once is learnt
      for (int failing = 0; failing < size; ++failing) {
        for (long allocation = 0;; ++allocation) {
          const Outcome outcome = once(comm, call, info, failing, allocation);
          if (!outcome.fired) break;
          errors += outcome.error ? 1 : 0;
          identities += outcome.identity ? 1 : 0;
        }
      }
    }
    MPI_Info_free(&info);
  }
  for (const char* mode : {"central", "node"}) identities += placing_fails(comm, mode);
  MPI_Comm_free(&comm);
  if (rank == 0) std::printf("%d errors, %d orders left as they were: memory done\n", errors, identities);
  MPI_Finalize();
  return 0;
}
