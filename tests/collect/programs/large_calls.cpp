// The collectives with MPI_Count against the native ones with int: every call and form with small numbers;
// displacements and counts beyond 2^31-1 that share a divisor, without the memory in between; what is refused. Prints
// "ok".
//
//   collect_large            all of that
//   collect_large native     messages of more than 2^31 elements, 2 GiB a rank, where calls are native
//   collect_large scheduled  the same where they are not
#include <mpi.h>
#include <ranktree/mpi.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr int kBlock = 7;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::printf("expected %s\n", what.c_str());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

struct World {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  int own = 0;
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<MPI_Count> wide_counts;
  std::vector<MPI_Aint> wide_displacements;
  std::size_t all = 0;
};

World world_of(MPI_Comm comm) {
  World world{comm};
  MPI_Comm_rank(comm, &world.rank);
  MPI_Comm_size(comm, &world.size);
  int end = 0;
  for (int i = 0; i < world.size; ++i) {
    world.counts.push_back((i * 5 + 3) % 7);
    world.displacements.push_back(end);
    end += world.counts.back() + 1;
  }
  world.own = world.counts[static_cast<std::size_t>(world.rank)];
  world.wide_counts.assign(world.counts.begin(), world.counts.end());
  world.wide_displacements.assign(world.displacements.begin(), world.displacements.end());
  world.all = static_cast<std::size_t>(kBlock * world.size + end);
  return world;
}

using Call = std::function<int(const int*, int*)>;
using Begin = std::function<int(const int*, int*, ranktree_Request*)>;

void compare(const World& world, const std::string& name, const Call& theirs, const Call& ours, const Begin& begin,
             const Begin& prepare) {
  std::vector<int> from(world.all);
  std::iota(from.begin(), from.end(), 1000 * world.rank);
  const std::vector<int> untouched(world.all, -1 - world.rank);
  std::vector<int> expected = untouched;
  expect(theirs(from.data(), expected.data()) == MPI_SUCCESS, name + " of the MPI");
  std::vector<int> found = untouched;
  expect(ours(from.data(), found.data()) == MPI_SUCCESS && found == expected, name + "_c");
  found = untouched;
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  expect(begin(from.data(), found.data(), &request) == MPI_SUCCESS, "I" + name + "_c");
  expect(ranktree_Wait(&request) == MPI_SUCCESS && found == expected, "the result of I" + name + "_c");
  found = untouched;
  expect(prepare(from.data(), found.data(), &request) == MPI_SUCCESS, name + "_init_c");
  for (int i = 0; i < 2; ++i) {
    expect(ranktree_Start(&request) == MPI_SUCCESS && ranktree_Wait(&request) == MPI_SUCCESS, "a start of " + name);
  }
  expect(ranktree_Request_free(&request) == MPI_SUCCESS && found == expected, "the result of " + name + "_init_c");
}

// The calls of one collective by its names; what stands between `from` and the communicator in each of the two widths.
#define ARGUMENTS(...) __VA_ARGS__
#define COMPARE(Name, Lower, narrow, wide)                                                        \
  compare(                                                                                        \
      w, #Name, [&](const int* from, int* into) { return MPI_##Name(ARGUMENTS narrow, w.comm); }, \
      [&](const int* from, int* into) { return ranktree_##Name##_c(ARGUMENTS wide, w.comm); },    \
      [&](const int* from, int* into, ranktree_Request* request) {                                \
        return ranktree_I##Lower##_c(ARGUMENTS wide, w.comm, request);                            \
      },                                                                                          \
      [&](const int* from, int* into, ranktree_Request* request) {                                \
        return ranktree_##Name##_init_c(ARGUMENTS wide, w.comm, MPI_INFO_NULL, request);          \
      })
#define SAME(Name, Lower, arguments) COMPARE(Name, Lower, arguments, arguments)

void check_small(const World& w, int root) {
  const int* const counts = w.counts.data();
  const int* const places = w.displacements.data();
  const MPI_Count* const wide = w.wide_counts.data();
  const MPI_Aint* const far = w.wide_displacements.data();
  SAME(Reduce, reduce, (from, into, kBlock, MPI_INT, MPI_SUM, root));
  SAME(Allreduce, allreduce, (from, into, kBlock, MPI_INT, MPI_SUM));
  SAME(Gather, gather, (from, kBlock, MPI_INT, into, kBlock, MPI_INT, root));
  SAME(Scatter, scatter, (from, kBlock, MPI_INT, into, kBlock, MPI_INT, root));
  SAME(Allgather, allgather, (from, kBlock, MPI_INT, into, kBlock, MPI_INT));
  SAME(Alltoall, alltoall, (from, kBlock, MPI_INT, into, kBlock, MPI_INT));
  SAME(Reduce_scatter_block, reduce_scatter_block, (from, into, kBlock, MPI_INT, MPI_MAX));
  COMPARE(Gatherv, gatherv, (from, w.own, MPI_INT, into, counts, places, MPI_INT, root),
          (from, w.own, MPI_INT, into, wide, far, MPI_INT, root));
  COMPARE(Scatterv, scatterv, (from, counts, places, MPI_INT, into, w.own, MPI_INT, root),
          (from, wide, far, MPI_INT, into, w.own, MPI_INT, root));
  COMPARE(Allgatherv, allgatherv, (from, w.own, MPI_INT, into, counts, places, MPI_INT),
          (from, w.own, MPI_INT, into, wide, far, MPI_INT));
  COMPARE(Reduce_scatter, reduce_scatter, (from, into, counts, MPI_INT, MPI_SUM), (from, into, wide, MPI_INT, MPI_SUM));
  int value = w.rank;
  expect(ranktree_Bcast_c(&value, 1, MPI_INT, root, w.comm) == MPI_SUCCESS && value == root, "Bcast_c");
}

// Memory that is there once it is written to.
class Vast {
 public:
  explicit Vast(std::size_t bytes)
      : bytes_(bytes),
        begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    expect(begin_ != MAP_FAILED, "addresses");
  }
  ~Vast() { munmap(begin_, bytes_); }
  Vast(const Vast&) = delete;
  Vast& operator=(const Vast&) = delete;
  [[nodiscard]] char* begin() const { return static_cast<char*>(begin_); }

 private:
  std::size_t bytes_;
  void* begin_;
};

void expect_refused(int code, const std::string& what) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  expect(error_class == MPI_ERR_COUNT, what + " to be refused");
}

// Negative counts, whatever they would be as an int, and operands that cannot be fewer.
void check_refused(const World& w) {
  const std::vector<int> from(w.all, w.rank);
  std::vector<int> into(w.all, w.rank);
  int* const to = into.data();
  constexpr MPI_Count kOneAsInt = -4294967295;
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  expect_refused(ranktree_Bcast_c(to, kOneAsInt, MPI_INT, 0, w.comm), "a negative broadcast");
  expect_refused(ranktree_Ibcast_c(to, kOneAsInt, MPI_INT, 0, w.comm, &request), "the same, nonblocking");
  expect_refused(ranktree_Allreduce_c(from.data(), to, kOneAsInt, MPI_INT, MPI_SUM, w.comm), "a negative sum");
  expect_refused(ranktree_Alltoall_c(from.data(), kOneAsInt, MPI_INT, to, kOneAsInt, MPI_INT, w.comm), "an alltoall");
  std::vector<MPI_Count> counts(static_cast<std::size_t>(w.size), kOneAsInt);
  expect_refused(ranktree_Reduce_scatter_c(from.data(), to, counts.data(), MPI_INT, MPI_SUM, w.comm), "negative lists");
  counts.assign(counts.size(), std::numeric_limits<MPI_Count>::min());
  expect_refused(ranktree_Reduce_scatter_c(from.data(), to, counts.data(), MPI_INT, MPI_SUM, w.comm), "the least ones");
  counts.assign(counts.size(), 3000000000);
  expect_refused(ranktree_Reduce_scatter_c(from.data(), to, counts.data(), MPI_INT, MPI_SUM, w.comm), "many operands");
  MPI_Comm fresh = MPI_COMM_NULL;  // served by the MPI
  MPI_Comm_dup(w.comm, &fresh);
  MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
  expect_refused(ranktree_Iallreduce_c(from.data(), to, 3000000000, MPI_INT, MPI_SUM, fresh, &request), "a large sum");
  MPI_Comm_free(&fresh);
  expect(request == RANKTREE_REQUEST_NULL && into == std::vector<int>(w.all, w.rank), "untouched outputs");
}

// Rank 0 and all others are a group each; either's result, the sum of the other, is spread by its own counts.
void check_between_groups(const World& w) {
  const int group = w.rank == 0 ? 0 : 1;
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split(w.comm, group, w.rank, &local);
  World between;
  MPI_Intercomm_create(local, 0, w.comm, 1 - group, 0, &between.comm);
  MPI_Comm_size(local, &between.size);
  MPI_Comm_rank(local, &between.rank);
  int others = 0;
  MPI_Comm_remote_size(between.comm, &others);
  constexpr int kAll = 12;
  const auto mine = static_cast<std::size_t>(between.rank);
  std::vector<MPI_Count> counts(static_cast<std::size_t>(between.size), 1);
  counts[0] = kAll - (between.size - 1);
  const auto theirs = [&](const int*, int* into) {
    const int begin = between.rank == 0 ? 0 : static_cast<int>(counts[0]) + between.rank - 1;
    for (int i = 0; i < counts[mine]; ++i) into[i] = 1000 * others * (others - 1) / 2 + (begin + i) * others;
    return MPI_SUCCESS;
  };
  between.all = kAll;
  compare(
      between, "Reduce_scatter between groups", theirs,
      [&](const int* in, int* into) {
        return ranktree_Reduce_scatter_c(in, into, counts.data(), MPI_INT, MPI_SUM, between.comm);
      },
      [&](const int* in, int* into, ranktree_Request* request) {
        return ranktree_Ireduce_scatter_c(in, into, counts.data(), MPI_INT, MPI_SUM, between.comm, request);
      },
      [&](const int* in, int* into, ranktree_Request* request) {
        return ranktree_Reduce_scatter_init_c(in, into, counts.data(), MPI_INT, MPI_SUM, between.comm, MPI_INFO_NULL,
                                              request);
      });
  MPI_Comm_free(&between.comm);
  MPI_Comm_free(&local);
}

// Blocks of 6 bytes, 3,000,000,000 bytes apart.
void check_far(const World& w) {
  constexpr MPI_Aint kApart = 3000000000;
  const Vast vast(static_cast<std::size_t>(kApart) * static_cast<std::size_t>(w.size));
  const std::vector<char> own(6, static_cast<char>('a' + w.rank));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(w.size), 6);
  std::vector<MPI_Aint> places;
  for (int i = 0; i < w.size; ++i) places.push_back(kApart * i);
  const auto right = [&](const char* what) {
    for (int i = 0; i < w.size; ++i) {
      const char* const block = vast.begin() + places[static_cast<std::size_t>(i)];
      for (int k = 0; k < 7; ++k) expect(block[k] == (k < 6 ? 'a' + i : 0), what);
      for (int k = 0; k < 6; ++k) vast.begin()[places[static_cast<std::size_t>(i)] + k] = 0;
    }
  };
  expect(ranktree_Allgatherv_c(own.data(), 6, MPI_CHAR, vast.begin(), counts.data(), places.data(), MPI_CHAR, w.comm) ==
             MPI_SUCCESS,
         "far blocks");
  right("a letter of each rank in far blocks");
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  expect(ranktree_Igatherv_c(own.data(), 6, MPI_CHAR, vast.begin(), counts.data(), places.data(), MPI_CHAR, 1, w.comm,
                             &request) == MPI_SUCCESS &&
             ranktree_Wait(&request) == MPI_SUCCESS,
         "far blocks at the root");
  if (w.rank == 1) right("a letter of each rank at the root");
  counts.back() = 5;
  places.back() += 1;
  expect_refused(
      ranktree_Allgatherv_c(own.data(), 6, MPI_CHAR, vast.begin(), counts.data(), places.data(), MPI_CHAR, w.comm),
      "displacements without a common divisor");
}

// 3,000,000,000 elements of nothing, which every MPI can carry out once they are fewer.
void check_nothing(const World& w) {
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  char buffer = 0;
  expect(ranktree_Bcast_c(&buffer, 3000000000, nothing, 0, w.comm) == MPI_SUCCESS, "many elements of nothing");
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  expect(ranktree_Ibcast_c(&buffer, 3000000000, nothing, 0, w.comm, &request) == MPI_SUCCESS, "the same, nonblocking");
  MPI_Type_free(&nothing);
  expect(ranktree_Wait(&request) == MPI_SUCCESS, "its end");
}

void check_memory(const World& w, bool scheduled) {
  constexpr std::int64_t kCount = 2147483648 + 6;
  const Vast vast(static_cast<std::size_t>(kCount));
  auto* const bytes = vast.begin();
  const std::vector<std::int64_t> places = {0, 1073741823, 1073741824, 2147483647, kCount - 1};
  if (w.rank == 1) {
    for (const std::int64_t place : places) bytes[place] = static_cast<char>(1 + place % 50);
  }
  expect(ranktree_Bcast_c(bytes, kCount, MPI_INT8_T, 1, w.comm) == MPI_SUCCESS, "a large broadcast");
  for (const std::int64_t place : places) expect(bytes[place] == 1 + place % 50, "its bytes");
  expect(ranktree_Allreduce_c(MPI_IN_PLACE, bytes, kCount, MPI_INT8_T, MPI_SUM, w.comm) == MPI_SUCCESS, "a large sum");
  for (const std::int64_t place : places) expect(bytes[place] == w.size * (1 + place % 50), "its sums");
  expect(bytes[1] == 0 && bytes[kCount - 2] == 0, "zeros");
  // One reduction of all, which has no parts: only where it is not the MPI's.
  if (w.rank == 1) {
    for (const std::int64_t place : places) bytes[place] = static_cast<char>(bytes[place] + 3);
  }
  ranktree_Request request = RANKTREE_REQUEST_NULL;
  const void* const own = w.rank == 0 ? MPI_IN_PLACE : bytes;
  const int code = ranktree_Ireduce_c(own, bytes, kCount, MPI_INT8_T, MPI_MAX, 0, w.comm, &request);
  if (!scheduled) return expect_refused(code, "a count of one call of the MPI");
  expect(code == MPI_SUCCESS && ranktree_Wait(&request) == MPI_SUCCESS, "a large maximum");
  if (w.rank > 0) return;
  for (const std::int64_t place : places) expect(bytes[place] == w.size * (1 + place % 50) + 3, "its maxima");
  expect(bytes[1] == 0 && bytes[kCount - 2] == 0, "zeros again");
}

}  // namespace

int main(int argument_count, char** arguments) {
  MPI_Init(&argument_count, &arguments);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const World world = world_of(comm);
  if (argument_count > 1) {
    check_memory(world, std::string(arguments[1]) == "scheduled");
  } else {
    check_nothing(world);
    for (int root = 0; root < world.size; ++root) check_small(world, root);
    check_far(world);
    check_refused(world);
    check_between_groups(world);
  }
  MPI_Comm_free(&comm);
  if (world.rank == 0) std::puts("ok");
  MPI_Finalize();
}
