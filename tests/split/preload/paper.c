// Written after hsplit-2018: goes down by MPI_COMM_TYPE_PHYSICAL_TOPOLOGY or, with the argument "roots", by
// MPI_Comm_hsplit_with_roots. Each rank prints for every level "type index/number of communicators:size", with the
// number of roots behind it on roots, and at its end the lowest level that it shares with rank 0.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "ranktree/paper.h"

// Weak: linked with nothing of ours, the program is for the preload library.
#ifdef UNLINKED
#pragma weak MPI_Comm_hsplit_with_roots
#pragma weak MPI_Comm_get_hlevel_info
#pragma weak MPI_Comm_get_min_hlevel
#endif

static char line[4096];

static void add(const char* text) { strncat(line, text, sizeof line - strlen(line) - 1); }

static void describe(MPI_Comm comm, MPI_Comm roots) {
  int size, count, index;
  char text[128], *type, *again;
  MPI_Comm_size(comm, &size);
  if (MPI_Comm_get_hlevel_info(comm, &count, &index, &type) != MPI_SUCCESS ||
      MPI_Comm_get_hlevel_info(comm, &count, &index, &again) != MPI_SUCCESS || type != again) {
    add(" broken");
    return;
  }
  snprintf(text, sizeof text, " %s %d/%d:%d", type, index, count, size);
  add(text);
  if (roots != MPI_COMM_NULL) {
    MPI_Comm_size(roots, &size);
    snprintf(text, sizeof text, "+%d", size);
    add(text);
  }
}

static void go_down(int with_roots) {
  MPI_Comm comm = MPI_COMM_WORLD;
  for (int level = 0; level < 10; ++level) {
    MPI_Comm part = MPI_COMM_NULL, roots = MPI_COMM_NULL;
    const int code = with_roots ? MPI_Comm_hsplit_with_roots(comm, MPI_INFO_NULL, &part, &roots)
                                : MPI_Comm_split_type(comm, MPI_COMM_TYPE_PHYSICAL_TOPOLOGY, 0, MPI_INFO_NULL, &part);
    if (code != MPI_SUCCESS) add(" error");
    if (part == MPI_COMM_NULL) return;
    describe(part, roots);
    if (roots != MPI_COMM_NULL) MPI_Comm_free(&roots);
    comm = part;
  }
}

#ifdef RANKTREE_PAPER_SPLIT_TYPE
// MPI_UNDEFINED on one rank beside the paper's type on the others, then a type of the MPI on all.
static void leave_one_out(int rank) {
  MPI_Comm part = MPI_COMM_NULL;
  int size, code;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int out = size > 1 && rank == size - 1;
  code = MPI_Comm_split_type(MPI_COMM_WORLD, out ? MPI_UNDEFINED : MPI_COMM_TYPE_PHYSICAL_TOPOLOGY, 0, MPI_INFO_NULL,
                             &part);
  if (code != MPI_SUCCESS || (out && part != MPI_COMM_NULL)) add(" wrong");
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
  if (code != MPI_SUCCESS || part == MPI_COMM_NULL) add(" wrong");
  MPI_Comm_free(&part);
}
#endif

int main(int count, char** words) {
  int rank, ranks[2] = {0, 0};
  char* type = "none";
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef RANKTREE_PAPER_SPLIT_TYPE
  leave_one_out(rank);
#endif
  if (MPI_Comm_get_hlevel_info == NULL) {
    add(" missing");
  } else {
    go_down(count > 1 && strcmp(words[1], "roots") == 0);
    ranks[1] = rank;
    if (MPI_Comm_get_min_hlevel(MPI_COMM_WORLD, 2, ranks, &type) != MPI_SUCCESS) type = "error";
    add(" | ");
    add(type);
  }
  printf("%d:%s\n", rank, line);
  MPI_Finalize();
  return 0;
}
