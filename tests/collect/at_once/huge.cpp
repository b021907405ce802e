// huge: broadcasts and reductions of more than 2^31 bytes, of a type of a megabyte or of so many elements, on two
// ranks. Prints "ok".
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace {

namespace collect = ranktree::mpi::collect;
using collect::Operation;
using ranktree::core::schedule::Collective;

constexpr std::int64_t kElement = 1 << 20;
constexpr std::int64_t kElements = 2049;
constexpr std::int64_t kBytes = kElement * kElements;  // more than 2^31

void fail(const char* what) {
  std::printf("%s\n", what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// What is looked at: the beginning, both sides of where MPI's ints end, where messages are cut, and the end.
constexpr std::int64_t kPlaces[] = {0, (1LL << 30) - 1, 1LL << 30, (1LL << 31) - 1, 1LL << 31, kBytes - 1};

char value_at(std::int64_t place) { return static_cast<char>(place % 61 + 1); }

void run(const std::shared_ptr<collect::Context>& context, const Operation& operation, const char* text) {
  const auto choice = ranktree::core::predict::choice_from_text(text, operation.collective);
  if (!can_run(*context, operation, choice)) fail("a variant that cannot run");
  finish(*start(context, operation, choice), context->process().in_flight);
}

void broadcast(const std::shared_ptr<collect::Context>& context, char* bytes, MPI_Datatype type, const char* text) {
  const bool root = context->rank() == 1;
  for (const std::int64_t place : kPlaces) bytes[place] = root ? value_at(place) : static_cast<char>(0);
  Operation operation;
  operation.collective = Collective::kBroadcast;
  operation.receive = {bytes, kElements, type, {}, {}};
  operation.root = 1;
  operation.comm = MPI_COMM_WORLD;
  run(context, operation, text);
  for (const std::int64_t place : kPlaces) {
    if (bytes[place] != value_at(place)) fail("a broadcast");
  }
}

// More elements than an int counts.
void reduce(const std::shared_ptr<collect::Context>& context, char* bytes, const char* text) {
  for (const std::int64_t place : kPlaces) bytes[place] = static_cast<char>(value_at(place) + context->rank());
  Operation operation;
  operation.collective = Collective::kReduce;
  operation.send = {context->rank() == 0 ? MPI_IN_PLACE : bytes, 0, MPI_DATATYPE_NULL, {}, {}};
  operation.receive = {bytes, kBytes, MPI_SIGNED_CHAR, {}, {}};
  operation.op = MPI_MAX;
  operation.comm = MPI_COMM_WORLD;
  run(context, operation, text);
  for (const std::int64_t place : kPlaces) {
    if (context->rank() == 0 && bytes[place] != value_at(place) + 1) fail("a reduction");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Datatype megabyte = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(kElement), MPI_BYTE, &megabyte);
  MPI_Type_commit(&megabyte);
  try {
    const auto context = collect::Context::of(MPI_COMM_WORLD);
    const collect::Memory memory = collect::allocate(kBytes);
    auto* const bytes = reinterpret_cast<char*>(memory.get());
    std::memset(bytes, 0, kBytes);
    broadcast(context, bytes, megabyte, "messages:binomial:groups=1");
    broadcast(context, bytes, megabyte, "shared:binomial");
    reduce(context, bytes, "messages:pipeline:segment=16M:groups=1");
  } catch (const std::exception& error) {
    fail(error.what());
  }
  MPI_Type_free(&megabyte);
  if (rank == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
