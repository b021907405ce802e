// unequal [within | often CALLS]: alltoallv, on emulated nodes, with one block whose sender and receiver have different
// sizes, around the length from which blocks travel alone. MPI does not allow it: as with the native call, a shorter
// block is received as it is, one that is too long is an error on the rank that receives it, and every rank returns.
// "within": not those that are sent alone into less space. "often": so many calls as MPI allows them. Prints "ok".
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "around.h"
#include "mpi/collect/call.h"
#include "mpi/collect/operation.h"
#include "two_nodes.h"

namespace {

namespace collect = ranktree::mpi::collect;
using around::rank_of;
using around::require;
using around::size_of;

constexpr int kShort = 100;
constexpr int kLong = 6000;

struct Unequal {
  int from;
  int into;
  int sent;      // bytes
  int expected;  // bytes
};

char content(int from, int into, int at) { return static_cast<char>(from * 31 + into * 7 + at); }

int usual(int from, int into) { return (from * 5 + into * 3) % 4 == 0 ? kLong : kShort * into; }

struct Blocks {
  std::vector<int> counts;
  std::vector<int> places;
  std::vector<char> bytes;
  void add(int count) {
    places.push_back(static_cast<int>(bytes.size()));
    counts.push_back(count);
    bytes.resize(bytes.size() + static_cast<std::size_t>(count), 'x');
  }
};

bool has_received(const Blocks& blocks, int from, int into, int received) {
  const char* const first = blocks.bytes.data() + blocks.places[static_cast<std::size_t>(from)];
  for (int at = 0; at < blocks.counts[static_cast<std::size_t>(from)]; ++at) {
    if (first[at] != (at < received ? content(from, into, at) : 'x')) return false;
  }
  return true;
}

void exchange(MPI_Comm comm, const Unequal& unequal) {
  const int rank = rank_of(comm);
  Blocks out;
  Blocks in;
  for (int other = 0; other < size_of(comm); ++other) {
    out.add(rank == unequal.from && other == unequal.into ? unequal.sent : usual(rank, other));
    in.add(other == unequal.from && rank == unequal.into ? unequal.expected : usual(other, rank));
    const auto at = static_cast<std::size_t>(other);
    for (int i = 0; i < out.counts[at]; ++i) {
      out.bytes[static_cast<std::size_t>(out.places[at] + i)] = content(rank, other, i);
    }
  }
  const int code = collect::call(
      collect::alltoallv(out.bytes.data(), {out.counts.data(), out.places.data(), out.counts.size()}, MPI_BYTE,
                         in.bytes.data(), {in.counts.data(), in.places.data(), in.counts.size()}, MPI_BYTE, comm));
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  const bool lost = rank == unequal.into && unequal.sent > unequal.expected;
  require(found == (lost ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "an error class");
  for (int other = 0; other < size_of(comm); ++other) {
    const bool is_it = other == unequal.from && rank == unequal.into;
    if (lost && is_it) continue;
    require(has_received(in, other, rank, is_it ? unequal.sent : usual(other, rank)), "a block");
  }
}

void exchange_often(MPI_Comm comm, int calls) {
  for (int call = 0; call < calls; ++call) exchange(comm, {0, 0, usual(0, 0), usual(0, 0)});
}

// `within`: without what some MPIs write past the end of.
void exchange_unequal(MPI_Comm comm, bool within) {
  const int last = size_of(comm) - 1;
  constexpr int kSizes[] = {0, kShort, 2 * kShort, kLong, kLong + kShort};
  for (const int sent : kSizes) {
    for (const int expected : kSizes) {
      if (within && sent >= kLong && expected < sent) continue;
      for (const Unequal& each : {Unequal{0, last, sent, expected}, Unequal{last, 0, sent, expected},
                                  Unequal{0, 1, sent, expected}, Unequal{last, last - 1, sent, expected}}) {
        exchange(comm, each);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  emulate_two_nodes(comm);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "often" && argc > 2) {
    exchange_often(comm, std::atoi(argv[2]));
  } else {
    exchange_unequal(comm, what == "within");
  }
  MPI_Comm_free(&comm);
  if (rank_of(MPI_COMM_WORLD) == 0) std::puts("ok");
  MPI_Finalize();
  return 0;
}
