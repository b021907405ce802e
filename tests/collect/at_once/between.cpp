// between WHAT: what is in flight stays in flight, and other things stay what they are, whatever comes between.
//
//   flag, first, init, team, levels   rank 0 makes a call that synchronises before it waits for an operation, other
//                                     ranks after they have waited; waits for ever where that call drives nothing
//   trials                            the same around every call of a collective that is on trial
//   type                              user functions are given the program's handle of a datatype
//   message                           an error of the MPI is not reported with the reason of another one
//   preloaded N                       N calls of the MPI, then reproducible sums, for the preload library to serve
// Prints "ok".
#include <mpi.h>
#include <ranktree/mpi.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "around.h"

namespace {

using around::around;
using around::rank_of;
using around::require;
using around::size_of;

void check_between(const std::string& what) {
  MPI_Comm busy = MPI_COMM_NULL;
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &busy);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int value = 0;
  ranktree_Bcast(&value, 1, MPI_INT, 0, busy);
  const auto broadcast = [&] { return ranktree_Bcast(&value, 1, MPI_INT, 0, other); };
  if (what == "flag") around(busy, [&] { return ranktree_Comm_set_reproducible(busy, 1); });
  if (what == "first") around(busy, broadcast);
  if (what == "init") {
    ranktree_Request lasting = RANKTREE_REQUEST_NULL;
    around(busy, [&] { return ranktree_Bcast_init(&value, 1, MPI_INT, 0, other, MPI_INFO_NULL, &lasting); });
    ranktree_Request_free(&lasting);
  }
  if (what == "team" || what == "levels" || what == "trials") broadcast();
  if (what == "team") {
    int most = 0;
    around(busy, [&] { return ranktree_Reduce(&value, &most, 1, MPI_INT, MPI_MAX, 0, other); });
  }
  if (what == "levels") around(busy, [&] { return ranktree_Barrier(other); });
  for (int i = 0; what == "trials" && i < 100; ++i) around(busy, broadcast);
  MPI_Comm_free(&busy);
  MPI_Comm_free(&other);
}

// The type that add() expects.
MPI_Datatype& expected_type() {
  static MPI_Datatype only = MPI_DATATYPE_NULL;
  return only;
}

void add(void* from, void* into, int* count, MPI_Datatype* type) {
  require(*type == expected_type(), "another handle of the type");
  for (int i = 0; i < 2 * *count; ++i) static_cast<int*>(into)[i] += static_cast<int*>(from)[i];
}

void check_type() {
  MPI_Type_contiguous(2, MPI_INT, &expected_type());
  MPI_Type_commit(&expected_type());
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  std::array<int, 2> from = {1, rank_of(MPI_COMM_WORLD)};
  std::array<int, 2> into{};
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  ranktree_Barrier(MPI_COMM_WORLD);
  ranktree_Iallreduce(from.data(), into.data(), 1, expected_type(), op, MPI_COMM_WORLD, &request);
  require(ranktree_Wait(&request) == MPI_SUCCESS && into[0] == size_of(MPI_COMM_WORLD), "a user function's sum");
  MPI_Op_free(&op);
  MPI_Type_free(&expected_type());
}

std::string message() {
  std::array<char, 1024> text{};
  int length = 0;
  ranktree_Comm_get_message(MPI_COMM_WORLD, text.data(), static_cast<int>(text.size()), &length);
  return text.data();
}

void check_message() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int value = 0;
  require(ranktree_Comm_set_reproducible(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD)) != MPI_SUCCESS, "flags differ");
  require(message().find("flag") != std::string::npos, "the reason of ours");
  require(ranktree_Bcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD) != MPI_SUCCESS, "a root");
  require(message().find("flag") == std::string::npos, "the reason of another call");
  ranktree_Comm_set_reproducible(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD));
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  require(ranktree_Ibcast(&value, 1, MPI_INT, 99, MPI_COMM_WORLD, &request) != MPI_SUCCESS, "a nonblocking call's");
  require(message().find("flag") == std::string::npos, "the reason of another call before a nonblocking one");
}

// Of four ranks or five: the sum by the tree, whose other orders round otherwise.
double by_tree(const std::vector<double>& values) {
  if (values.size() == 4) return (values[0] + values[1]) + (values[2] + values[3]);
  return ((values[0] + values[1]) + values[2]) + (values[3] + values[4]);
}

void check_preloaded(int before) {
  constexpr int kUnserved = 5;  // calls of a communicator that are not looked at
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < before; ++i) MPI_Barrier(comm);
  require(ranktree_Comm_set_reproducible(comm, 1) == MPI_SUCCESS, "the flag");
  const int rank = rank_of(comm);
  for (int i = 0; i < 50; ++i) {
    std::array<int, 64> numbers{};
    numbers.fill(rank == 0 ? i : -1);
    MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, 0, comm);
    require(numbers.back() == i, "a broadcast");
    std::vector<double> values(static_cast<std::size_t>(size_of(comm)));
    for (std::size_t each = 0; each < values.size(); ++each) {
      values[each] =
          (each % 2 == 0 ? 1.0 : -1.0) / (3.0 + static_cast<double>(each) * (1U << (static_cast<unsigned>(i) % 20U)));
    }
    double sum = 0;
    MPI_Allreduce(&values[static_cast<std::size_t>(rank)], &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    const double expected = by_tree(values);
    require(i < kUnserved || sum == expected, "the bits of a sum");
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "type") {
    check_type();
  } else if (what == "message") {
    check_message();
  } else if (what == "preloaded") {
    check_preloaded(argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 0);
  } else {
    check_between(what);
  }
  if (rank_of(MPI_COMM_WORLD) == 0) std::printf("ok\n");
  MPI_Finalize();
  return 0;
}
