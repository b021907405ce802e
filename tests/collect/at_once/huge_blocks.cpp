// huge_blocks COLLECTIVE: blocks whose count fits into an int and which together have more than 2^31 bytes, on two
// ranks, by the variants of the list below and by that of RANKTREE_COLL. Prints "ok".
#include <mpi.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace {

namespace collect = ranktree::mpi::collect;
using collect::Operation;
using ranktree::core::schedule::Collective;

constexpr int kRanks = 2;
constexpr int kBlock = (1 << 30) + 10;
constexpr std::int64_t kAll = std::int64_t{kBlock} * kRanks;
// What is looked at of a block: also where messages are cut, and in the second one where ints end.
constexpr std::int64_t kPlaces[] = {0, 1, (1LL << 30) - 21, (1LL << 30) - 1, 1LL << 30, kBlock - 1};

void fail(const std::string& what) {
  std::printf("%s\n", what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Zeros, of which those that are only read take no memory.
class Vast {
 public:
  explicit Vast(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        begin_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (begin_ == MAP_FAILED) fail("no addresses");
    madvise(begin_, bytes_, MADV_HUGEPAGE);
  }
  ~Vast() { munmap(begin_, bytes_); }
  Vast(const Vast&) = delete;
  Vast& operator=(const Vast&) = delete;
  Vast(Vast&&) = delete;
  Vast& operator=(Vast&&) = delete;
  [[nodiscard]] signed char* begin() const { return static_cast<signed char*>(begin_); }
  void clear() const { madvise(begin_, bytes_, MADV_DONTNEED); }

 private:
  std::size_t bytes_;
  void* begin_;
};

struct Case {
  Collective collective = Collective::kGather;
  bool sends_all = false;     // a block for each rank
  bool receives_all = false;  // one of each
  std::vector<const char*> variants;
};

Case case_of(const std::string& name) {
  const char* const flat = "messages:flat:groups=1";
  if (name == "gather") return {Collective::kGather, false, true, {flat, "shared:binomial"}};
  if (name == "scatter") return {Collective::kScatter, true, false, {flat, "messages:binomial:groups=1"}};
  const char* const ring = "messages:ring:groups=1";
  const char* const doubling = "messages:recursive-doubling:groups=1";
  if (name == "allgather") return {Collective::kAllgather, false, true, {ring, doubling}};
  if (name == "alltoall") return {Collective::kAlltoall, true, true, {}};
  return {Collective::kReduceScatter, true, false, {"messages:pairwise:groups=1"}};
}

// Of the block that one rank gives another.
signed char value_at(int from, int to, std::int64_t place) {
  return static_cast<signed char>(1 + (place + 7 * from + 3 * to) % 50);
}

class Huge {
 public:
  Huge(const Case& given, int rank)
      : case_(given), rank_(rank), from_(given.sends_all ? kAll : kBlock), into_(given.receives_all ? kAll : kBlock) {
    for (int to = 0; to < (case_.sends_all ? kRanks : 1); ++to) {
      for (const std::int64_t place : kPlaces)
        from_.begin()[std::int64_t{to} * kBlock + place] = value_at(rank, to, place);
    }
  }

  // By the variant of that name; "": as a program's call.
  void carry_out(const std::shared_ptr<collect::Context>& context, const std::string& variant) {
    into_.clear();
    Operation operation{.collective = case_.collective, .root = kRoot, .comm = MPI_COMM_WORLD};
    operation.send = {from_.begin(), kBlock, MPI_INT8_T, {}, {}};
    operation.receive = {into_.begin(), kBlock, MPI_INT8_T, {}, {}};
    if (case_.collective == Collective::kReduceScatter) operation.op = MPI_SUM;
    if (variant.empty()) {
      if (collect::call(operation) != MPI_SUCCESS) fail("a call");
    } else {
      const auto choice = ranktree::core::predict::choice_from_text(variant, case_.collective);
      if (!can_run(*context, operation, choice)) fail(variant + ": cannot run");
      finish(*start(context, operation, choice), context->process().in_flight);
    }
    judge(variant.empty() ? "a call" : variant);
  }

 private:
  static constexpr int kRoot = 1;

  // What comes from a rank, or is the sum of all.
  [[nodiscard]] int expected(int from, std::int64_t place) const {
    if (case_.collective != Collective::kReduceScatter) return value_at(from, case_.sends_all ? rank_ : 0, place);
    int sum = 0;
    for (int rank = 0; rank < kRanks; ++rank) sum += value_at(rank, rank_, place);
    return sum;
  }

  void judge(const std::string& variant) const {
    if (case_.collective == Collective::kGather && rank_ != kRoot) return;
    const int giver = case_.collective == Collective::kScatter ? kRoot : 0;
    for (int block = 0; block < (case_.receives_all ? kRanks : 1); ++block) {
      const signed char* const found = into_.begin() + std::int64_t{block} * kBlock;
      for (const std::int64_t place : kPlaces) {
        if (found[place] != expected(giver + block, place)) fail(variant + ": byte " + std::to_string(place));
      }
      if (found[2] != 0 || found[kBlock - 2] != 0) fail(variant + ": no zeros");
    }
  }

  Case case_;
  int rank_;
  Vast from_;
  Vast into_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Case given = case_of(argc > 1 ? argv[1] : "");
    Huge huge(given, rank);
    const auto context = collect::Context::of(MPI_COMM_WORLD);
    for (const char* const variant : given.variants) huge.carry_out(context, variant);
    huge.carry_out(context, "");
  } catch (const std::exception& error) {
    fail(error.what());
  }
  if (rank == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
