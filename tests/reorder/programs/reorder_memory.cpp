// One allocation of the library after the other fails, on one rank after the other: all ranks return the same, and none
// waits for ever. Usage: reorder_memory PATTERN FIRST [CALL...]: a pattern of as many ranks; of each call the first so
// many allocations are tried, and some of the later ones; calls by name, all without.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "mpi/reorder/traced.h"
#include "ranktree/mpi.h"

namespace {

std::atomic<long> allowed{-1};     // allocations until one fails; negative: none does
std::atomic<bool> fired{false};    // one has failed
std::atomic<bool> lasting{false};  // all later ones fail too
int clock_calls = -1;              // until looking at the clock fails; negative: it does not

bool fails() {
  if (fired && lasting) return true;
  if (allowed < 0 || allowed-- != 0) return false;
  fired = true;
  return true;
}

}  // namespace

// A rank that places reads the time. This call stands for what placing throws.
[[gnu::visibility("default")]] double PMPI_Wtime() {
  if (clock_calls >= 0 && clock_calls-- == 0) throw std::bad_alloc();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The library's allocations come here too.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (fails()) throw std::bad_alloc();
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// NOLINTNEXTLINE(misc-new-delete-overloads)
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

int rank, size;
std::uint64_t sent = 0;  // bytes to the partner, since MPI began
const char* subject = "";

int partner() { return (rank + size / 2) % size; }

void fail(const std::string& text, int found) {
  std::fprintf(stderr, "rank %d, %s: %s, found %d\n", rank, subject, text.c_str(), found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

// In place of the preload library: much to the partner, a little to the next rank.
std::int64_t ranktree_traced_pairs(MPI_Group /*group*/, ranktree_traced_pair* pairs, std::int64_t length) noexcept {
  if (size < 2) return 0;
  if (length > 0) pairs[0] = {partner(), partner(), 1, sent};
  return 1;
}

namespace {

struct Outcome {
  bool fired = false;  // there were so many allocations
  bool error = false;
  bool identity = false;
};

// What a call gives.
struct Answer {
  int code = MPI_SUCCESS;
  MPI_Comm made = MPI_COMM_WORLD;
  bool untouched = true;  // its other outputs
  bool has_info = true;
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

std::string reason_of(MPI_Comm comm, const Answer& answer) {
  char text[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  if (!answer.has_info) {
    ranktree_Comm_get_message(comm, text, sizeof text, &found);
    return text;
  }
  MPI_Info info = MPI_INFO_NULL;
  ranktree_Comm_get_info(answer.made, &info);
  MPI_Info_get(info, "ranktree_reorder_reason", MPI_MAX_INFO_VAL - 1, text, &found);
  MPI_Info_free(&info);
  return text;
}

Outcome look(MPI_Comm comm, const Answer& answer, int failing) {
  Outcome outcome;
  int has_fired = rank == failing && fired ? 1 : 0;
  allowed = -1;
  fired = false;
  MPI_Bcast(&has_fired, 1, MPI_INT, failing, comm);
  outcome.fired = has_fired != 0;
  const int error_class = agreed(class_of(answer.code), "error classes differ");
  outcome.error = error_class != MPI_SUCCESS;
  if (outcome.error && error_class != MPI_ERR_NO_MEM) fail("expected MPI_ERR_NO_MEM", error_class);
  if (outcome.error && (answer.made != MPI_COMM_WORLD || !answer.untouched)) fail("an output was touched", has_fired);
  if (outcome.error && !outcome.fired) fail("an error without a reason", error_class);
  if (outcome.error || answer.made == MPI_COMM_WORLD) return outcome;
  const bool nothing = answer.made == MPI_COMM_NULL;
  agreed(nothing ? 1 : 0, "communicators differ");
  if (nothing && answer.has_info) return outcome;
  outcome.identity = reason_of(comm, answer).find("memory") != std::string::npos;
  if (answer.has_info) agreed(outcome.identity ? 1 : 0, "reasons differ");
  int new_rank = rank;
  if (!nothing) MPI_Comm_rank(answer.made, &new_rank);
  if (outcome.identity && new_rank != rank) fail("renumbered after a failure", new_rank);
  return outcome;
}

// -- the calls, all about pairs of far ranks --

constexpr int kEdges = 100;  // of each pair: what grows with edges grows in steps

struct Pairs {
  std::vector<int> partners{std::vector<int>(kEdges, partner())};
  std::vector<int> weights{std::vector<int>(kEdges, 1)};
  std::vector<double> amounts{std::vector<double>(kEdges, 1)};
  std::vector<int> index;  // a ring
  std::vector<int> next;
  int degree = kEdges;
  Pairs() {
    for (int i = 0; i < size; ++i) {
      index.push_back(i + 1);
      next.push_back((i + 1) % size);
    }
  }
};

using Call = Answer (*)(MPI_Comm, const Pairs&, MPI_Info, const char*);

Answer dist_graph(MPI_Comm comm, const Pairs& pairs, MPI_Info info, const char* /*file*/) {
  Answer answer;
  answer.code = ranktree_Dist_graph_create(comm, 1, &rank, &pairs.degree, pairs.partners.data(), pairs.weights.data(),
                                           info, 1, &answer.made);
  return answer;
}

Answer adjacent(MPI_Comm comm, const Pairs& pairs, MPI_Info info, const char* /*file*/) {
  Answer answer;
  answer.code = ranktree_Dist_graph_create_adjacent(comm, kEdges, pairs.partners.data(), pairs.weights.data(), kEdges,
                                                    pairs.partners.data(), pairs.weights.data(), info, 1, &answer.made);
  return answer;
}

Answer reorder(MPI_Comm comm, const Pairs& pairs, MPI_Info info, const char* /*file*/) {
  Answer answer;
  int new_rank = -7;
  answer.code = ranktree_Comm_reorder(comm, 1, &rank, &pairs.degree, pairs.partners.data(), pairs.amounts.data(), info,
                                      &new_rank, &answer.made);
  answer.untouched = new_rank == -7;
  return answer;
}

Answer graph(MPI_Comm comm, const Pairs& pairs, MPI_Info /*info*/, const char* /*file*/) {
  Answer answer;
  answer.code = ranktree_Graph_create(comm, size, pairs.index.data(), pairs.next.data(), 1, &answer.made);
  return answer;
}

Answer cart(MPI_Comm comm, const Pairs& /*pairs*/, MPI_Info /*info*/, const char* /*file*/) {
  Answer answer;
  const int dims[] = {size};
  const int periods[] = {1};
  answer.code = ranktree_Cart_create(comm, 1, dims, periods, 1, &answer.made);
  return answer;
}

Answer rebalance(MPI_Comm comm, const Pairs& /*pairs*/, MPI_Info info, const char* /*file*/) {
  Answer answer;
  std::array<int, 64> new_ranks{};
  new_ranks.fill(-7);
  sent += 1000000;
  answer.code = ranktree_Comm_rebalance(comm, info, new_ranks.data(), &answer.made);
  answer.untouched = std::count(new_ranks.begin(), new_ranks.end(), -7) == 64;
  answer.has_info = answer.made != MPI_COMM_NULL;
  return answer;
}

Answer pattern(MPI_Comm comm, const Pairs& /*pairs*/, MPI_Info /*info*/, const char* file) {
  Answer answer;
  int n = -7;
  std::array<int*, 4> lists{&n, &n, &n, &n};
  answer.code = ranktree_read_pattern(file, comm, "size", &n, &lists[0], &lists[1], &lists[2], &lists[3]);
  answer.untouched = n == -7 && std::count(lists.begin(), lists.end(), &n) == 4;
  if (answer.code != MPI_SUCCESS) return answer;
  for (int* list : lists) std::free(list);
  return answer;
}

struct Named {
  const char* name;
  Call call;
  bool has_info;
};
constexpr std::array<Named, 7> kCalls{{{"dist_graph", dist_graph, true},
                                       {"adjacent", adjacent, true},
                                       {"reorder", reorder, true},
                                       {"rebalance", rebalance, true},
                                       {"graph", graph, false},
                                       {"cart", cart, false},
                                       {"pattern", pattern, false}}};

// `allocation` of rank `failing` fails.
Outcome once(MPI_Comm comm, const Named& named, MPI_Info info, const char* file, int failing, long allocation) {
  const Pairs pairs;
  MPI_Barrier(comm);
  allowed = rank == failing ? allocation : -1;
  Answer answer;
  answer = named.call(comm, pairs, info, file);
  const Outcome outcome = look(comm, answer, failing);
  if (answer.made != MPI_COMM_WORLD && answer.made != MPI_COMM_NULL) MPI_Comm_free(&answer.made);
  return outcome;
}

struct Counts {
  int failures = 0;
  int errors = 0;
  int identities = 0;
};

long first = 0;  // so many allocations of a call are tried; then fewer and fewer of the many that the search makes

void sweep(MPI_Comm comm, const Named& named, MPI_Info info, const char* file, Counts& counts) {
  once(comm, named, info, file, 0, -1);  // what is learnt once is learnt
  for (int failing = 0; failing < size; ++failing) {
    for (long allocation = 0;; allocation += 1 + std::max(0L, allocation - first) / 4) {
      const Outcome outcome = once(comm, named, info, file, failing, allocation);
      if (!outcome.fired) break;
      ++counts.failures;
      counts.errors += outcome.error ? 1 : 0;
      counts.identities += outcome.identity ? 1 : 0;
    }
  }
}

// Where nothing has been learnt yet, on a communicator of its own each time.
void sweep_fresh(const Named& named, MPI_Info info, const char* file, Counts& counts) {
  for (long allocation = 0;; ++allocation) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    const Outcome outcome = once(comm, named, info, file, size - 1, allocation);
    counts.failures += outcome.fired ? 1 : 0;
    // Whatever was kept of it, all ranks can still call.
    const Outcome again = once(comm, named, info, file, 0, -1);
    if (again.error || again.identity) fail("the next call failed too", 0);
    MPI_Comm level = MPI_COMM_NULL;
    ranktree_Comm_hsplit(comm, 0, info, &level);
    if (level != MPI_COMM_NULL) MPI_Comm_free(&level);
    MPI_Comm_free(&comm);
    if (!outcome.fired || allocation >= first) return;
  }
}

// The first look at the clock is every rank's, the next are those of who places.
int placing_fails(MPI_Comm comm, const char* mode) {
  const int other = partner();
  const int one = 1;
  Answer answer;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_reorder_mode", mode);
  MPI_Info_set(info, "ranktree_time_limit_ms", "1000000");
  clock_calls = rank == 0 ? 1 : -1;
  answer.code = ranktree_Dist_graph_create(comm, 1, &rank, &one, &other, &one, info, 1, &answer.made);
  const Outcome outcome = look(comm, answer, 0);
  if (outcome.error || !outcome.identity) fail("expected the order as it was, for want of memory", answer.code);
  MPI_Comm_free(&answer.made);
  MPI_Info_free(&info);
  return 1;
}

void run(MPI_Comm comm, const Named& named, const char* file, Counts& counts) {
  subject = named.name;
  for (const char* mode : {"central", "node", "distributed"}) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ranktree_reorder_mode", mode);
    for (const bool to_the_end : {false, true}) {
      lasting = to_the_end;
      sweep(comm, named, info, file, counts);
    }
    sweep_fresh(named, info, file, counts);
    lasting = false;
    MPI_Info_free(&info);
    if (!named.has_info) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  Counts counts;
  if (argc < 3) fail("expected a pattern and a number", argc);
  first = std::atol(argv[2]);
  for (const Named& named : kCalls) {
    bool wanted = argc == 3;
    for (int i = 3; i < argc; ++i) wanted = wanted || std::string(argv[i]) == named.name;
    if (wanted) run(comm, named, argv[1], counts);
  }
  subject = "placing";
  for (const char* mode : {"central", "node"}) counts.identities += placing_fails(comm, mode);
  MPI_Comm_free(&comm);
  if (rank == 0) {
    std::printf("%d failures: %d errors, %d orders left as they were: memory done\n", counts.failures, counts.errors,
                counts.identities);
  }
  MPI_Finalize();
  return 0;
}
