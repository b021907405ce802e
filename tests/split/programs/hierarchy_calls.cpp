// ranktree::Hierarchy. Usage:
//   hierarchy_calls levels    the levels of each rank, as the examples print them, behind "rank: "
//   hierarchy_calls calls     ownership, a level a call, what it throws
// Compiled with COPY it must be refused.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ranktree/hierarchy.hpp"
#include "ranktree/mpi.h"

namespace {

using ranktree::Hierarchy;
using ranktree::Level;

static_assert(!std::is_copy_constructible_v<Hierarchy> && !std::is_copy_assignable_v<Hierarchy>);
static_assert(std::is_nothrow_move_constructible_v<Hierarchy> && std::is_nothrow_move_assignable_v<Hierarchy>);

int rank = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rank %d: expected %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// Lines of several ranks may mix, so that each begins with its rank.
void print_levels() {
  const Hierarchy levels(MPI_COMM_WORLD);
  std::printf("%d: rank %d, levels: %zu\n", rank, rank, levels.size());
  for (const Level& level : levels) {
    std::printf("%d:   %s %d of %d, ranks: %d%s\n", rank, level.type().c_str(), level.index(), level.count(),
                size_of(level.comm()), level.roots() == MPI_COMM_NULL ? "" : ", root");
  }
}

bool congruent(MPI_Comm left, MPI_Comm right) {
  if (left == MPI_COMM_NULL || right == MPI_COMM_NULL) return left == right;
  int compared = MPI_UNEQUAL;
  MPI_Comm_compare(left, right, &compared);
  return compared == MPI_CONGRUENT;
}

// The same levels whether one call makes all of them or each makes one.
void check_growth() {
  const Hierarchy whole(MPI_COMM_WORLD);
  for (int levels_at_once = 1; levels_at_once < 4; ++levels_at_once) {
    const Hierarchy parts(MPI_COMM_WORLD, MPI_INFO_NULL, levels_at_once);
    expect(parts.size() == whole.size(), "as many levels");
    for (std::size_t i = 0; i < whole.size(); ++i) {
      expect(congruent(parts[i].comm(), whole[i].comm()), "the same communicator");
      expect(congruent(parts[i].roots(), whole[i].roots()), "the same roots");
      expect(parts[i].type() == whole[i].type() && parts[i].index() == whole[i].index(), "the same object");
      expect(parts[i].count() == whole[i].count(), "as many siblings");
    }
  }
}

int deleted = 0;

int count_deletion(MPI_Comm, int, void*, void*) {
  ++deleted;
  return MPI_SUCCESS;
}

// Marks every communicator, so that its end is seen.
int mark(const Hierarchy& levels, int key) {
  int marked = 0;
  for (const Level& level : levels) {
    MPI_Comm_set_attr(level.comm(), key, nullptr);
    if (level.roots() != MPI_COMM_NULL) MPI_Comm_set_attr(level.roots(), key, nullptr);
    marked += level.roots() == MPI_COMM_NULL ? 1 : 2;
  }
  return marked;
}

void check_ownership() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, nullptr);
  int marked = 0;
  {
    Hierarchy levels(MPI_COMM_WORLD);
    marked = mark(levels, key);
    expect(marked > 0, "levels");
    Hierarchy moved(std::move(levels));
    expect(levels.empty() && !moved.empty() && deleted == 0, "a move that frees nothing");  // NOLINT
    moved = std::move(moved);
    expect(!moved.empty() && deleted == 0, "a move onto itself that changes nothing");
    Hierarchy other(MPI_COMM_WORLD);
    const int more = mark(other, key);
    other = std::move(moved);
    expect(deleted == more, "what was there before to be freed");
    deleted = 0;
  }
  expect(deleted == marked, "every communicator to be freed once");
  MPI_Comm_free_keyval(&key);
}

void check_errors() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", "all");
  bool thrown = false;
  try {
    const Hierarchy levels(comm, info);
  } catch (const ranktree::Error& error) {
    thrown = true;
    expect(ranktree::mpi_class(error) == MPI_ERR_ARG && error.status() == RANKTREE_ERROR_MPI, "MPI_ERR_ARG");
    const char* const reason = std::strstr(error.what(), "ranktree_leftover");
    expect(reason != nullptr && std::strstr(reason + 1, "ranktree_leftover") == nullptr, "the reason, once");
  }
  expect(thrown, "an exception for a wrong info value");
  MPI_Info_set(info, "ranktree_leftover", "group");
  expect(!Hierarchy(comm, info).empty(), "levels after the error");
  for (const int levels_at_once : {0, -1}) {
    try {
      thrown = false;
      const Hierarchy levels(comm, MPI_INFO_NULL, levels_at_once);
    } catch (const ranktree::Error& error) {
      thrown = ranktree::mpi_class(error) == MPI_ERR_ARG;
    }
    expect(thrown, "an exception for fewer levels than one");
  }
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Hierarchy late;
  expect(late.empty() && late.begin() == late.end(), "no level by default");
  if (argc == 2 && std::strcmp(argv[1], "levels") == 0) {
    print_levels();
  } else {
    check_growth();
    check_ownership();
    check_errors();
    late = Hierarchy(MPI_COMM_WORLD);
    if (rank == 0) std::puts("ok");
  }
#ifdef COPY
  const Hierarchy copy = late;
#endif
  MPI_Finalize();
  return 0;  // late goes after MPI_Finalize, and frees nothing
}
