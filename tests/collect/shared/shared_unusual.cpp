// shared_unusual: under RANKTREE_COLL=auto, reductions whose one element is longer than a cell of shared memory, among
// others of as many bytes whose elements are short. The first stay native, the others are tried. Prints "no team" where
// there is no shared memory, else "ok".
#include <mpi.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "core/schedule/makers.h"
#include "mpi/collect/call.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/select/chooser.h"
#include "mpi/collect/shared/node_team.h"

namespace {

namespace collect = ranktree::mpi::collect;
using ranktree::core::schedule::Collective;

constexpr int kMostCalls = 10000;  // until one is served
constexpr int kNumbers = 40000;    // of an element: 320,000 bytes, a cell has 131,072

void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const std::int64_t numbers = std::int64_t{*count} * bytes / static_cast<std::int64_t>(sizeof(double));
  for (std::int64_t i = 0; i < numbers; ++i) static_cast<double*>(inout)[i] += static_cast<const double*>(in)[i];
}

struct Sums {
  std::shared_ptr<collect::Context> context;
  MPI_Op op = MPI_OP_NULL;
  int wrong = 0;

  void call(MPI_Datatype type, std::int64_t count) {
    std::vector<double> own(kNumbers, context->rank() + 1);
    std::vector<double> sum(kNumbers, -1);
    collect::Operation operation;
    operation.collective = Collective::kAllreduce;
    operation.send = {own.data(), count, type, {}, {}};
    operation.receive = {sum.data(), count, type, {}, {}};
    operation.op = op;
    operation.comm = MPI_COMM_WORLD;
    const double wanted = context->size() * (context->size() + 1) / 2.0;
    if (collect::call(operation) != MPI_SUCCESS || sum != std::vector<double>(kNumbers, wanted)) ++wrong;
  }
  [[nodiscard]] std::uint64_t not_by_the_mpi() const {
    return context->table().ours.at(static_cast<std::size_t>(Collective::kAllreduce));
  }
};

const char* run() {
  Sums sums;
  sums.context = collect::Context::of(MPI_COMM_WORLD);
  if (sums.context->node_team() == nullptr) return "no team";
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kNumbers, MPI_DOUBLE, &whole);
  MPI_Type_commit(&whole);
  MPI_Op_create(add, 1, &sums.op);
  for (int i = 0; i < kMostCalls && sums.not_by_the_mpi() == 0; ++i) sums.call(MPI_DOUBLE, kNumbers);
  const std::uint64_t usual = sums.not_by_the_mpi();
  for (int i = 0; i < 40; ++i) sums.call(whole, 1);
  const bool after = sums.not_by_the_mpi() == usual;
  MPI_Op_free(&sums.op);
  MPI_Type_free(&whole);
  if (sums.wrong > 0) return "a wrong sum";
  if (!after) return "long elements were tried";
  return usual == 0 ? "short elements were not tried" : "ok";
}

}  // namespace

int main(int count, char** words) {
  setenv("RANKTREE_COLL", "auto", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  MPI_Init(&count, &words);
  const char* const answer = run();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::puts(answer);
  MPI_Finalize();
  return 0;
}
