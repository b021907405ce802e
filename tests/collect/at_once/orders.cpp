// orders SEED ROUNDS: several requests at a time on several communicators, begun in one order and completed in another
// on each rank, with blocking calls between; some communicators are freed before their operations end. Waits for ever
// where a rank that waits for one does not pass on its part of the others. Prints "ok".
#include <mpi.h>
#include <ranktree/mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

namespace {

using Dice = std::mt19937;

int roll(Dice& dice, int sides) { return static_cast<int>(dice() % static_cast<unsigned>(sides)); }

void fail(const char* what) {
  std::printf("%s\n", what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
};

Group group_of(MPI_Comm comm) {
  Group group{comm};
  if (comm == MPI_COMM_NULL) return group;
  MPI_Comm_rank(comm, &group.rank);
  MPI_Comm_size(comm, &group.size);
  return group;
}

// One operation, whose result on each rank follows from its number.
class Operation {
 public:
  Operation(const Group& group, Dice& dice, int number, int kind = -1)
      : comm_(group.comm), group_(group), number_(number) {
    constexpr int kCounts[] = {1, 7, 3000, 40000};
    const int count = kCounts[roll(dice, 4)];
    root_ = roll(dice, group.size);
    kind_ = kind < 0 ? roll(dice, 4) : kind;
    into_.assign(static_cast<std::size_t>(count), kind_ == 0 && group.rank == root_ ? number : -1);
    from_.assign(into_.size(), group.rank + number);
  }
  void begin() {
    const auto count = static_cast<int>(into_.size());
    int code = MPI_SUCCESS;
    if (kind_ == 0) code = ranktree_Ibcast(into_.data(), count, MPI_INT, root_, comm_, &request_);
    if (kind_ == 1) {
      code = ranktree_Iallreduce(from_.data(), into_.data(), count, MPI_INT, MPI_SUM, comm_, &request_);
    }
    if (kind_ == 2) {
      code = ranktree_Ireduce(from_.data(), into_.data(), count, MPI_INT, MPI_MAX, root_, comm_, &request_);
    }
    if (kind_ == 3) code = ranktree_Ibarrier(comm_, &request_);
    if (code != MPI_SUCCESS) fail("an operation did not begin");
  }
  void complete(bool wait) {
    int done = 0;
    while (!wait && done == 0) {
      if (ranktree_Test(&request_, &done) != MPI_SUCCESS) fail("a test");
    }
    if (ranktree_Wait(&request_) != MPI_SUCCESS) fail("a wait");
    judge();
  }
  [[nodiscard]] ranktree_Request* request() { return &request_; }
  void judge() const {
    const int sum = number_ * group_.size + group_.size * (group_.size - 1) / 2;
    int expected = -1;
    if (kind_ == 0) expected = number_;
    if (kind_ == 1) expected = sum;
    if (kind_ == 2 && group_.rank == root_) expected = number_ + group_.size - 1;
    if (std::count(into_.begin(), into_.end(), expected) != static_cast<std::ptrdiff_t>(into_.size())) fail("a result");
  }

 private:
  MPI_Comm comm_;
  Group group_;
  int number_;
  int root_ = 0;
  int kind_ = 0;
  std::vector<int> from_;
  std::vector<int> into_;
  ranktree_Request request_ = RANKTREE_REQUEST_NULL;
};

// The same on all ranks of a communicator.
void blocking(const Group& group, int number) {
  int value = group.rank == number % group.size ? number : -1;
  ranktree_Bcast(&value, 1, MPI_INT, number % group.size, group.comm);
  if (value != number) fail("a blocking broadcast");
}

void begin_on_freed(std::deque<Operation>& operations, const Group& like, Dice& dice, int number) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(like.comm, &comm);
  const Group group = group_of(comm);
  blocking(group, number);
  // Every rule serves broadcasts; what is left to Open MPI 4.1's own does not survive it.
  for (int i = 0; i < 2; ++i) operations.emplace_back(group, dice, number + i, 0).begin();
  MPI_Comm_free(&comm);
}

void round(const std::vector<Group>& groups, Dice& dice, Dice& own, int first) {
  std::deque<Operation> operations;
  for (int i = 0; i < 6; ++i) {
    const Group& group = groups[static_cast<std::size_t>(roll(dice, static_cast<int>(groups.size())))];
    // Who is not in it draws nothing: the others' dice must not differ from theirs.
    Dice drawn(dice());
    if (group.comm != MPI_COMM_NULL) operations.emplace_back(group, drawn, first + i).begin();
  }
  if (first % 80 == 0) begin_on_freed(operations, groups[0], dice, first + 6);
  std::vector<std::size_t> order(operations.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), own);
  const std::size_t early = order.empty() ? 0 : own() % order.size();
  for (std::size_t i = 0; i < early; ++i) operations[order[i]].complete(own() % 2 == 0);
  blocking(groups[0], first);
  std::vector<ranktree_Request> left;
  for (std::size_t i = early; i < order.size(); ++i) left.push_back(*operations[order[i]].request());
  if (ranktree_Waitall(static_cast<int>(left.size()), left.data()) != MPI_SUCCESS) fail("waitall");
  for (std::size_t i = early; i < order.size(); ++i) operations[order[i]].judge();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Group world = group_of(MPI_COMM_WORLD);
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm most = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &backwards);
  MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, world.rank, &halves);
  MPI_Comm_split(MPI_COMM_WORLD, world.rank > 0 ? 0 : MPI_UNDEFINED, world.rank, &most);
  const std::vector<Group> groups{world, group_of(backwards), group_of(halves), group_of(most)};
  for (const Group& group : groups) {
    for (int i = 0; group.comm != MPI_COMM_NULL && i < 2; ++i) blocking(group, i);
  }
  const auto seed = static_cast<unsigned>(argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1);
  const int rounds = argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 100;
  Dice dice(seed);
  Dice own(seed + 17U * static_cast<unsigned>(world.rank + 1));
  for (int i = 0; i < rounds; ++i) round(groups, dice, own, 10 * i);
  for (MPI_Comm* comm : {&backwards, &halves, &most}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
  if (world.rank == 0) std::printf("ok\n");
  MPI_Finalize();
  return 0;
}
