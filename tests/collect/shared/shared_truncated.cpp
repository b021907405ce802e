// shared_truncated: broadcasts through shared memory whose root sends more, or less, than others have room for. Who has
// less room is told so in MPI's class and has what fits; nobody writes beyond its room, and the calls behind are right.
// Says "no team" where there is no shared memory, else "ok".
#include <mpi.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "core/schedule/makers.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/operation.h"

namespace {

namespace collect = ranktree::mpi::collect;
using ranktree::core::schedule::Collective;

constexpr unsigned char kCanary = 0xa5;

struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
};

void expect(bool right, const char* what, const Team& team, std::int64_t sent, std::int64_t room) {
  if (right) return;
  std::printf("rank %d: %s, %lld bytes for %lld\n", team.rank, what, static_cast<long long>(sent),
              static_cast<long long>(room));
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

unsigned char sample(std::int64_t i, int root) { return static_cast<unsigned char>((7 * i + root + 3) % 251); }

// The class of what a broadcast returns.
int broadcast(const Team& team, int root, void* buffer, std::int64_t count, MPI_Datatype type) {
  collect::Operation operation;
  operation.collective = Collective::kBroadcast;
  operation.receive = {buffer, count, type, {}, {}};
  operation.root = root;
  operation.comm = team.comm;
  int found = MPI_SUCCESS;
  MPI_Error_class(collect::call(operation), &found);
  return found;
}

// Rank r has room for rooms[r % rooms.size()].
void check(const Team& team, int root, std::int64_t sent, const std::vector<std::int64_t>& rooms) {
  const std::int64_t room = team.rank == root ? sent : rooms[static_cast<std::size_t>(team.rank) % rooms.size()];
  std::vector<unsigned char> data(static_cast<std::size_t>(room) + 64, kCanary);
  for (std::int64_t i = 0; i < room && team.rank == root; ++i) data[static_cast<std::size_t>(i)] = sample(i, root);
  const int found = broadcast(team, root, data.data(), room, MPI_BYTE);
  expect(found == (room < sent ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the error class", team, sent, room);
  const std::int64_t filled = std::min(sent, room);
  for (std::int64_t i = 0; i < filled; ++i) {
    expect(data[static_cast<std::size_t>(i)] == sample(i, root), "the data", team, sent, room);
  }
  for (std::size_t i = static_cast<std::size_t>(filled); i < data.size(); ++i) {
    expect(data[i] == kCanary, "beyond the data", team, sent, room);
  }
}

// Ints with gaps of one between them at those who receive.
void check_gaps(const Team& team, int root, int sent, int room) {
  MPI_Datatype tight = MPI_DATATYPE_NULL;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &tight);
  MPI_Type_create_resized(tight, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  std::vector<int> data(static_cast<std::size_t>(2 * std::max(sent, room)), -1);
  const bool is_root = team.rank == root;
  for (int i = 0; is_root && i < sent; ++i) data[static_cast<std::size_t>(i)] = i;
  const int found = broadcast(team, root, data.data(), is_root ? sent : room, is_root ? MPI_INT : apart);
  expect(found == (!is_root && room < sent ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the class of gaps", team, sent, room);
  for (int i = 0; !is_root && i < static_cast<int>(data.size()); ++i) {
    const bool filled = i % 2 == 0 && i / 2 < std::min(sent, room);
    expect(data[static_cast<std::size_t>(i)] == (filled ? i / 2 : -1), "gaps", team, sent, room);
  }
  MPI_Type_free(&apart);
  MPI_Type_free(&tight);
}

void run(const Team& team) {
  // Around what fits into small cells, and into one round of large ones. Calls without bytes are always the MPI's.
  const std::vector<std::int64_t> sizes = {1, 100, 4095, 4096, 4097, 70000, 1000000, 3000001};
  for (int round = 0; round < 3; ++round) {
    const int root = round % team.size;
    for (const std::int64_t sent : sizes) {
      for (const std::int64_t room : sizes) {
        check(team, root, sent, {room, sent});
        check(team, root, 64, {64});
      }
    }
    for (const int room : {5, 1000, 3000, 60000}) {
      check_gaps(team, root, 1000, room);
      check_gaps(team, root, 3000, room);
    }
  }
  check(team, 0, 2000000, {2000000});
}

}  // namespace

int main(int count, char** words) {
  setenv("RANKTREE_COLL", "bcast=shared:binomial", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  MPI_Init(&count, &words);
  Team team;
  MPI_Comm_dup(MPI_COMM_WORLD, &team.comm);
  MPI_Comm_set_errhandler(team.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(team.comm, &team.rank);
  MPI_Comm_size(team.comm, &team.size);
  const bool shared = collect::Context::of(team.comm)->node_team() != nullptr;
  if (shared) run(team);
  if (team.rank == 0) std::puts(shared ? "ok" : "no team");
  MPI_Comm_free(&team.comm);
  MPI_Finalize();
  return 0;
}
