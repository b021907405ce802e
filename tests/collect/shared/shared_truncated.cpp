// shared_truncated: collectives through shared memory in which ranks have different sizes. A rank with less space than
// it is sent gets MPI's error class and the data that fits; nothing is written beyond its space, and later calls are
// right. Blocking and nonblocking. Prints "no team" where there is no shared memory, else "ok".
#include <mpi.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "core/schedule/makers.h"
#include "mpi/agree.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/variant.h"

namespace {

namespace collect = ranktree::mpi::collect;
using ranktree::core::schedule::Collective;

constexpr unsigned char kCanary = 0xa5;

struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  std::int64_t cell = 0;     // bytes
  bool nonblocking = false;  // calls
};

void expect(bool right, const char* what, const Team& team, std::int64_t sent, std::int64_t space) {
  if (right) return;
  std::printf("rank %d: %s, %lld bytes for %lld\n", team.rank, what, static_cast<long long>(sent),
              static_cast<long long>(space));
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

unsigned char sample(std::int64_t i, int root) { return static_cast<unsigned char>((7 * i + root + 3) % 251); }

// The class of what a call returns.
int call(const Team& team, collect::Operation operation) {
  operation.comm = team.comm;
  if (team.nonblocking) {
    return ranktree::mpi::attempt(
               [&] { finish(*collect::call_nonblocking(operation), collect::Process::here()->in_flight); })
        .error_class;
  }
  int found = MPI_SUCCESS;
  MPI_Error_class(collect::call(operation), &found);
  return found;
}

int broadcast(const Team& team, int root, void* buffer, std::int64_t count, MPI_Datatype type) {
  collect::Operation operation;
  operation.collective = Collective::kBroadcast;
  operation.receive = {buffer, count, type, {}, {}};
  operation.root = root;
  return call(team, operation);
}

// Rank r has space for spaces[r % spaces.size()].
void check(const Team& team, int root, std::int64_t sent, const std::vector<std::int64_t>& spaces) {
  const std::int64_t space = team.rank == root ? sent : spaces[static_cast<std::size_t>(team.rank) % spaces.size()];
  std::vector<unsigned char> data(static_cast<std::size_t>(space) + 64, kCanary);
  for (std::int64_t i = 0; i < space && team.rank == root; ++i) data[static_cast<std::size_t>(i)] = sample(i, root);
  const int found = broadcast(team, root, data.data(), space, MPI_BYTE);
  expect(found == (space < sent ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the error class", team, sent, space);
  const std::int64_t filled = std::min(sent, space);
  for (std::int64_t i = 0; i < filled; ++i) {
    expect(data[static_cast<std::size_t>(i)] == sample(i, root), "the data", team, sent, space);
  }
  for (std::size_t i = static_cast<std::size_t>(filled); i < data.size(); ++i) {
    expect(data[i] == kCanary, "beyond the data", team, sent, space);
  }
}

// Ints with gaps of one between them at those who receive.
void check_gaps(const Team& team, int root, int sent, int space) {
  MPI_Datatype tight = MPI_DATATYPE_NULL;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &tight);
  MPI_Type_create_resized(tight, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  std::vector<int> data(static_cast<std::size_t>(2 * std::max(sent, space)), -1);
  const bool is_root = team.rank == root;
  for (int i = 0; is_root && i < sent; ++i) data[static_cast<std::size_t>(i)] = i;
  const int found = broadcast(team, root, data.data(), is_root ? sent : space, is_root ? MPI_INT : apart);
  expect(found == (!is_root && space < sent ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the class of gaps", team, sent, space);
  for (int i = 0; !is_root && i < static_cast<int>(data.size()); ++i) {
    const bool filled = i % 2 == 0 && i / 2 < std::min(sent, space);
    expect(data[static_cast<std::size_t>(i)] == (filled ? i / 2 : -1), "gaps", team, sent, space);
  }
  MPI_Type_free(&apart);
  MPI_Type_free(&tight);
}

// Ints of all ranks, `odd` of which has its own number of them: of a block where there are blocks.
struct Numbers {
  std::int64_t others = 0;
  std::int64_t at_odd = 0;
  int odd = 0;

  [[nodiscard]] std::int64_t of(int rank) const { return rank == odd ? at_odd : others; }
  [[nodiscard]] std::int64_t most() const { return std::max(others, at_odd); }
  [[nodiscard]] std::int64_t fewest() const { return std::min(others, at_odd); }
};

constexpr int kBeyond = -77;

int value(int rank, std::int64_t i) { return static_cast<int>((13 * i + 5 * rank + 1) % 100003); }

int sum(int ranks, std::int64_t i) {
  int all = 0;
  for (int rank = 0; rank < ranks; ++rank) all += value(rank, i);
  return all;
}

std::vector<int> values_of(int rank, std::int64_t count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(rank, i);
  return values;
}

// One call, in the names of its error messages.
struct Checked {
  const Team& team;
  const char* name;
  Numbers numbers;
  int root = 0;

  [[nodiscard]] std::int64_t own() const { return numbers.of(team.rank); }
  [[nodiscard]] bool is_root() const { return team.rank == root; }
  void expect_class(int found, bool truncated) const {
    const std::string what = std::string(name) + ": class " + std::to_string(found);
    expect(found == (truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS), what.c_str(), team, numbers.at_odd, numbers.others);
  }
  void expect_value(int found, int wanted) const {
    if (found == wanted) return;
    const std::string what = std::string(name) + ": " + std::to_string(found) + ", not " + std::to_string(wanted);
    expect(false, what.c_str(), team, numbers.at_odd, numbers.others);
  }
};

collect::Operation operation_of(Collective collective, int root) {
  collect::Operation operation;
  operation.collective = collective;
  operation.root = root;
  operation.op = MPI_SUM;
  return operation;
}

// Block by block: those that have arrived, and nothing behind what they sent.
void expect_blocks(const Checked& call, const std::vector<int>& all, std::int64_t reach) {
  std::size_t at = 0;
  for (int from = 0; from < call.team.size; ++from) {
    const bool itself = from == call.team.rank;
    const std::int64_t sent = itself ? call.own() : std::min(call.numbers.of(from), reach);
    for (std::int64_t i = 0; i < call.own(); ++i) {
      call.expect_value(all[at++], i < sent ? value(from, i) : kBeyond);
    }
  }
  for (; at < all.size(); ++at) call.expect_value(all[at], kBeyond);
}

std::vector<int> empty(std::int64_t count) { return std::vector<int>(static_cast<std::size_t>(count) + 16, kBeyond); }

void check_gather(const Checked& checked) {
  const Team& team = checked.team;
  std::vector<int> mine = values_of(team.rank, checked.own());
  std::vector<int> all = empty(checked.is_root() ? team.size * checked.own() : 0);
  collect::Operation operation = operation_of(Collective::kGather, checked.root);
  operation.send = {mine.data(), checked.own(), MPI_INT, {}, {}};
  if (checked.is_root()) operation.receive = {all.data(), checked.own(), MPI_INT, {}, {}};
  const int found = call(team, operation);
  if (!checked.is_root()) return checked.expect_class(found, false);
  std::int64_t fewest = INT64_MAX;
  std::int64_t most = 0;
  for (int from = 0; from < team.size; ++from) {
    if (from == team.rank) continue;
    fewest = std::min(fewest, checked.numbers.of(from));
    most = std::max(most, checked.numbers.of(from));
  }
  // Rounds of the shortest block end it.
  const std::int64_t cell = team.cell / static_cast<std::int64_t>(sizeof(int));
  const std::int64_t reach = (fewest + cell - 1) / cell * cell;
  checked.expect_class(found, most > checked.own() || most > reach);
  expect_blocks(checked, all, reach);
}

// Where others receive, ints lie apart.
void check_scatter(const Checked& checked, MPI_Datatype apart) {
  const Team& team = checked.team;
  std::vector<int> all;
  for (int to = 0; checked.is_root() && to < team.size; ++to) {
    const std::vector<int> block = values_of(to, checked.own());
    all.insert(all.end(), block.begin(), block.end());
  }
  const std::int64_t step = apart == MPI_INT ? 1 : 2;
  std::vector<int> mine = empty(step * checked.own());
  collect::Operation operation = operation_of(Collective::kScatter, checked.root);
  if (checked.is_root()) operation.send = {all.data(), checked.own(), MPI_INT, {}, {}};
  operation.receive = {mine.data(), checked.own(), apart, {}, {}};
  const int found = call(team, operation);
  const std::int64_t sent = checked.numbers.of(checked.root);
  checked.expect_class(found, sent > checked.own());
  for (std::size_t at = 0; at < mine.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at) / step;
    const bool filled = static_cast<std::int64_t>(at) % step == 0 && i < std::min(sent, checked.own());
    checked.expect_value(mine[at], filled ? value(team.rank, i) : kBeyond);
  }
}

void check_allgather(const Checked& checked) {
  const Team& team = checked.team;
  std::vector<int> mine = values_of(team.rank, checked.own());
  std::vector<int> all = empty(team.size * checked.own());
  collect::Operation operation = operation_of(Collective::kAllgather, 0);
  operation.send = {mine.data(), checked.own(), MPI_INT, {}, {}};
  operation.receive = {all.data(), checked.own(), MPI_INT, {}, {}};
  checked.expect_class(call(team, operation), checked.numbers.most() > checked.own());
  expect_blocks(checked, all, INT64_MAX);
}

// Reduce and allreduce.
void check_reduction(const Checked& checked, Collective collective) {
  const Team& team = checked.team;
  std::vector<int> mine = values_of(team.rank, checked.own());
  std::vector<int> result = empty(checked.own());
  collect::Operation operation = operation_of(collective, checked.root);
  operation.send = {mine.data(), 0, MPI_DATATYPE_NULL, {}, {}};
  operation.receive = {result.data(), checked.own(), MPI_INT, {}, {}};
  const bool wants = collective == Collective::kAllreduce || checked.is_root();
  checked.expect_class(call(team, operation), wants && checked.numbers.most() > checked.own());
  const std::int64_t combined = wants ? checked.numbers.fewest() : 0;
  for (std::size_t at = 0; at < result.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at);
    checked.expect_value(result[at], i < combined ? sum(team.size, i) : kBeyond);
  }
}

// Of equal blocks, or of lists that agree in all but the odd rank's, where the first block is longer and the last one
// shorter.
void check_reduce_scatter(const Checked& checked, bool lists) {
  const Team& team = checked.team;
  std::vector<int> counts(static_cast<std::size_t>(team.size), static_cast<int>(checked.own()));
  const bool shifted = lists && checked.numbers.odd == team.rank;
  if (lists) std::fill(counts.begin(), counts.end(), static_cast<int>(checked.numbers.fewest()));
  if (shifted) {
    ++counts.front();
    --counts.back();
  }
  std::vector<int> mine = values_of(team.rank, team.size * checked.own());
  std::vector<int> result = empty(checked.numbers.most() + 1);
  collect::Operation operation = operation_of(Collective::kReduceScatter, 0);
  operation.vector = lists;
  operation.send = {mine.data(), 0, MPI_DATATYPE_NULL, {}, {}};
  operation.receive = {result.data(), lists ? 0 : checked.own(), MPI_INT, {}, {}};
  if (lists) operation.receive.counts = counts;
  const bool differ = lists || checked.numbers.others != checked.numbers.at_odd;
  checked.expect_class(call(team, operation), differ);
  const std::int64_t combined = differ ? 0 : checked.own();
  for (std::size_t at = 0; at < result.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at);
    checked.expect_value(result[at], i < combined ? sum(team.size, team.rank * combined + i) : kBeyond);
  }
}

void check_all(const Team& team, int root, const Numbers& numbers, MPI_Datatype apart) {
  check_gather({team, "gather", numbers, root});
  check_scatter({team, "scatter", numbers, root}, MPI_INT);
  check_scatter({team, "scatter into gaps", numbers, root}, root == team.rank ? MPI_INT : apart);
  check_allgather({team, "allgather", numbers});
  check_reduction({team, "reduce", numbers, root}, Collective::kReduce);
  check_reduction({team, "allreduce", numbers}, Collective::kAllreduce);
  check_reduce_scatter({team, "reduce_scatter_block", numbers}, false);
  check_reduce_scatter({team, "reduce_scatter", numbers}, true);
}

// Around what fits into small cells, and into one round of large ones. Each is followed by calls of one size.
void run_all(const Team& team) {
  MPI_Datatype tight = MPI_DATATYPE_NULL;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_INT, &tight);
  MPI_Type_create_resized(tight, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  const std::vector<std::int64_t> sizes = {1, 100, 1024, 1025, 9000, 40000, 100000};
  int turn = 0;
  for (const std::int64_t others : sizes) {
    for (const std::int64_t at_odd : sizes) {
      const int root = turn % team.size;
      const int odd = turn++ / 2 % team.size;
      if (others != at_odd) check_all(team, root, {others, at_odd, odd}, apart);
      check_reduction({team, "a right allreduce", {40, 40, 0}}, Collective::kAllreduce);
      check_gather({team, "a right gather", {50000, 50000, 0}, root});
    }
  }
  MPI_Type_free(&apart);
  MPI_Type_free(&tight);
}

void run_broadcasts(const Team& team) {
  // Around what fits into small cells, and into one round of large ones. Calls without bytes are always the MPI's.
  const std::vector<std::int64_t> sizes = {1, 100, 4095, 4096, 4097, 70000, 1000000, 3000001};
  for (int round = 0; round < 3; ++round) {
    const int root = round % team.size;
    for (const std::int64_t sent : sizes) {
      for (const std::int64_t space : sizes) {
        check(team, root, sent, {space, sent});
        check(team, root, 64, {64});
      }
    }
    for (const int space : {5, 1000, 3000, 60000}) {
      check_gaps(team, root, 1000, space);
      check_gaps(team, root, 3000, space);
    }
  }
  check(team, 0, 2000000, {2000000});
}

}  // namespace

int main(int count, char** words) {
  setenv("RANKTREE_COLL", "shared:binomial", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  MPI_Init(&count, &words);
  Team team;
  MPI_Comm_dup(MPI_COMM_WORLD, &team.comm);
  MPI_Comm_set_errhandler(team.comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(team.comm, &team.rank);
  MPI_Comm_size(team.comm, &team.size);
  collect::NodeTeam* const shared = collect::Context::of(team.comm)->node_team();
  if (shared != nullptr) {
    team.cell = static_cast<std::int64_t>(shared->team().cell());
    run_broadcasts(team);
    run_all(team);
    team.nonblocking = true;
    run_all(team);
  }
  if (team.rank == 0) std::puts(shared != nullptr ? "ok" : "no team");
  MPI_Comm_free(&team.comm);
  MPI_Finalize();
  return 0;
}
