// failed: on emulated nodes, a broadcast whose root sends more than others take, begun before others that are right:
// the ranks that lose data get MPI's error class, no other rank does, none waits for ever, and the communicator can
// still be used. Then a user operation that reads elements by their type, aligned. Prints "ok".
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/variant.h"
#include "two_nodes.h"

namespace {

namespace collect = ranktree::mpi::collect;
using collect::Operation;
using ranktree::core::predict::choice_from_text;
using ranktree::core::schedule::Collective;

void fail(const char* what) {
  std::printf("%s\n", what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Errors may be thrown at the start or in the end.
struct Begun {
  std::unique_ptr<collect::Running> running;
  int error_class = MPI_SUCCESS;
};

Begun broadcast(const std::shared_ptr<collect::Context>& context, std::vector<int>& values, const std::string& text) {
  Operation operation;
  operation.collective = Collective::kBroadcast;
  operation.receive = {values.data(), static_cast<std::int64_t>(values.size()), MPI_INT, {}, {}};
  operation.comm = MPI_COMM_WORLD;
  const auto choice = choice_from_text(text, Collective::kBroadcast);
  if (!can_run(*context, operation, choice)) fail("a variant that cannot run");
  Begun begun;
  begun.error_class = ranktree::mpi::attempt([&] { begun.running = start(context, operation, choice); }).error_class;
  return begun;
}

int class_of(const Begun& begun) {
  if (!begun.running) return begun.error_class;
  return ranktree::mpi::attempt([&] { finish(*begun.running, collect::Process::here()->in_flight); }).error_class;
}

void check_truncation(const std::shared_ptr<collect::Context>& context, const std::string& text, bool truncated) {
  const int rank = context->rank();
  std::vector<int> wrong(rank == 0 ? 64 : 1, rank);
  std::vector<int> right(64, rank == 0 ? 4711 : -1);
  const Begun first = broadcast(context, wrong, text);
  const Begun second = broadcast(context, right, text);
  if (class_of(second) != MPI_SUCCESS) fail("another operation's error");
  if (right != std::vector<int>(64, 4711)) fail("the operation after the one that failed");
  const int found = class_of(first);
  if (found != (truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS)) fail(("error class " + std::to_string(found)).c_str());
  std::vector<int> third(5000, rank == 0 ? 17 : -1);
  if (class_of(broadcast(context, third, text)) != MPI_SUCCESS || third != std::vector<int>(5000, 17)) fail("later");
}

// At byte 4, so that the memory of one begins where no double may.
struct Pair {
  char free[4];
  int number;
  double value;
};

int misplaced = 0;

void add(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  if (reinterpret_cast<std::uintptr_t>(in) % alignof(Pair) != 0) ++misplaced;
  if (reinterpret_cast<std::uintptr_t>(inout) % alignof(Pair) != 0) ++misplaced;
  for (int i = 0; i < *count; ++i) {
    static_cast<Pair*>(inout)[i].number += static_cast<const Pair*>(in)[i].number;
    static_cast<Pair*>(inout)[i].value += static_cast<const Pair*>(in)[i].value;
  }
}

MPI_Datatype make_pair_type() {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(Pair, number), offsetof(Pair, value)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype tight = MPI_DATATYPE_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths, places, types, &tight);
  MPI_Type_create_resized(tight, 0, sizeof(Pair), &pair);
  MPI_Type_free(&tight);
  MPI_Type_commit(&pair);
  return pair;
}

void check_alignment(const std::shared_ptr<collect::Context>& context, MPI_Datatype type, MPI_Op op, Collective kind,
                     int count, const std::string& text) {
  const int size = context->size();
  const int all = kind == Collective::kReduceScatter ? count * size : count;
  std::vector<Pair> from(static_cast<std::size_t>(all), Pair{{}, context->rank(), 0.5});
  std::vector<Pair> into(static_cast<std::size_t>(count), Pair{{7, 7, 7, 7}, -1, -1});
  Operation operation;
  operation.collective = kind;
  operation.send = {from.data(), 0, MPI_DATATYPE_NULL, {}, {}};
  operation.receive = {into.data(), count, type, {}, {}};
  operation.op = op;
  operation.comm = MPI_COMM_WORLD;
  const auto choice = choice_from_text(text, kind);
  if (!can_run(*context, operation, choice)) fail(("cannot: " + text).c_str());
  finish(*start(context, operation, choice), context->process().in_flight);
  if (misplaced > 0) fail(("elements that are not aligned: " + text).c_str());
  if (kind == Collective::kReduce && context->rank() != 0) return;
  for (const Pair& pair : into) {
    if (pair.number != size * (size - 1) / 2 || pair.value != 0.5 * size || pair.free[0] != 7) fail("a sum");
  }
}

// One rank has a block, or a vector, of another length, in its node or as its leader. Where a rank is sent more than it
// has space for some rank gets an error, and the next operation is right. Short ones: where a message of more than its
// eager limit is truncated Open MPI 4.1 itself writes behind the buffer, in MPI_Recv, too.
void check_sizes(const std::shared_ptr<collect::Context>& context, Collective kind, int odd, int others, int at_odd) {
  const int size = context->size();
  const int count = context->rank() == odd ? at_odd : others;
  std::vector<int> from(static_cast<std::size_t>(count) * static_cast<std::size_t>(size), 1);
  std::vector<int> into(from.size() + 16, -1);
  Operation operation;
  operation.collective = kind;
  operation.send = {from.data(), count, MPI_INT, {}, {}};
  operation.receive = {into.data(), count, MPI_INT, {}, {}};
  operation.op = MPI_SUM;
  operation.comm = MPI_COMM_WORLD;
  const auto choice = choice_from_text("shared:binomial", kind);
  if (!can_run(*context, operation, choice)) fail("a variant that cannot run");
  const int found = ranktree::mpi::attempt([&] {
                      finish(*start(context, operation, choice), context->process().in_flight);
                    }).error_class;
  if (found != MPI_SUCCESS && found != MPI_ERR_TRUNCATE) fail(("error class " + std::to_string(found)).c_str());
  if (std::count(into.end() - 16, into.end(), -1) != 16) fail("beyond the buffer");
  int reported = found == MPI_ERR_TRUNCATE ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &reported, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  // Where the root has more space than others need, or less to send, no rank loses data.
  const bool to_root = kind == Collective::kGather || kind == Collective::kReduce;
  const bool too_much =
      to_root ? (odd == 0) == (at_odd < others) : kind != Collective::kScatter || (odd == 0) == (at_odd > others);
  if (too_much && reported == 0) fail(("no rank has an error: " + std::to_string(static_cast<int>(kind))).c_str());
  std::vector<int> right(64, context->rank() == 0 ? 4711 : -1);
  if (class_of(broadcast(context, right, "shared:binomial")) != MPI_SUCCESS) fail("later");
  if (right != std::vector<int>(64, 4711)) fail("the operation after the one of different sizes");
}

void check_all_sizes(const std::shared_ptr<collect::Context>& context) {
  for (const Collective kind : {Collective::kGather, Collective::kScatter, Collective::kAllgather, Collective::kReduce,
                                Collective::kAllreduce, Collective::kReduceScatter}) {
    for (int odd = 0; odd < context->size(); ++odd) {
      check_sizes(context, kind, odd, 20, 150);
      check_sizes(context, kind, odd, 150, 20);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef MPICH_VERSION
  // Its calls that complete requests call the error handler of the world, whatever communicator a message failed on.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
  emulate_two_nodes(MPI_COMM_WORLD);
  MPI_Datatype type = make_pair_type();
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  try {
    const auto context = collect::Context::of(MPI_COMM_WORLD);
    if (context->node_count() != 2) fail("the nodes");
    // On the root's node every rank gets the error, on the other node the leader, which has received a message that is
    // too long; by messages every rank.
    check_truncation(context, "shared:binomial", rank != 0 && rank <= (size + 1) / 2);
    check_truncation(context, "messages:flat:groups=1", rank != 0);
    check_all_sizes(context);
    for (const char* text : {"shared:binomial", "shared:binomial:segment=1K", "messages:binomial"}) {
      for (const int count : {1, 5, 3000}) {
        check_alignment(context, type, op, Collective::kReduce, count, text);
        check_alignment(context, type, op, Collective::kAllreduce, count,
                        std::string(text) == "messages:binomial" ? "messages:recursive-doubling:groups=1" : text);
      }
    }
    check_alignment(context, type, op, Collective::kReduceScatter, 50, "shared:pairwise");
  } catch (const std::exception& error) {
    fail(error.what());
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  if (rank == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
