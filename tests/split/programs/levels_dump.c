// Splits MPI_COMM_WORLD down to MPI_COMM_NULL by ranktree_Comm_hsplit_with_roots and prints a JSON list with one object
// a rank: its levels, each with type, number and index of the communicator, its members and its roots' members as ranks
// of MPI_COMM_WORLD (null at a rank that is no root), and how it compares with the parent and with MPI_COMM_SELF.
//
// levels_dump [KEY=VALUE ...]: info keys of the split. SPLIT_LATE_SYNTHETIC becomes HWLOC_SYNTHETIC after MPI_Init.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

typedef struct {
  char* text;
  size_t length;
  size_t capacity;
} Text;

static void fail(const char* what) {
  fprintf(stderr, "levels_dump: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void need(int code, const char* call) {
  if (code != MPI_SUCCESS) fail(call);
}

static void append(Text* out, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const size_t more = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
  va_end(arguments);
  if (out->length + more > out->capacity) {
    out->capacity = 2 * (out->length + more);
    out->text = realloc(out->text, out->capacity);
    if (out->text == NULL) fail("no memory");
  }
  vsnprintf(out->text + out->length, more, format, again);
  va_end(again);
  out->length += more - 1;
}

static void append_members(Text* out, MPI_Comm comm) {
  MPI_Group group, world;
  int size;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(group, &size);
  append(out, "[");
  for (int rank = 0; rank < size; ++rank) {
    int in_world;
    MPI_Group_translate_ranks(group, 1, &rank, world, &in_world);
    append(out, "%s%d", rank == 0 ? "" : ",", in_world);
  }
  append(out, "]");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static const char* compared(MPI_Comm a, MPI_Comm b) {
  int result;
  need(MPI_Comm_compare(a, b, &result), "MPI_Comm_compare");
  if (result == MPI_IDENT) return "MPI_IDENT";
  if (result == MPI_CONGRUENT) return "MPI_CONGRUENT";
  return result == MPI_SIMILAR ? "MPI_SIMILAR" : "MPI_UNEQUAL";
}

static void append_level(Text* out, MPI_Comm parent, MPI_Comm comm, MPI_Comm roots) {
  char type[RANKTREE_MAX_TYPE];
  int count, index, length;
  need(ranktree_Comm_get_hlevel_info(comm, &count, &index, type, sizeof type, &length), "get_hlevel_info");
  append(out, "{\"type\":\"%s\",\"num_comms\":%d,\"index\":%d,\"members\":", type, count, index);
  append_members(out, comm);
  append(out, ",\"roots\":");
  if (roots == MPI_COMM_NULL) {
    append(out, "null");
  } else {
    append_members(out, roots);
  }
  append(out, ",\"compare_parent\":\"%s\",\"compare_self\":\"%s\"}", compared(parent, comm),
         compared(MPI_COMM_SELF, comm));
}

static void append_levels(Text* out, MPI_Info info) {
  MPI_Comm parent = MPI_COMM_WORLD;
  for (int depth = 0; parent != MPI_COMM_NULL; ++depth) {
    MPI_Comm comm, roots;
    need(ranktree_Comm_hsplit_with_roots(parent, info, &comm, &roots), "hsplit_with_roots");
    if (comm != MPI_COMM_NULL) {
      if (depth > 0) append(out, ",");
      append_level(out, parent, comm, roots);
    } else if (roots != MPI_COMM_NULL) {
      fail("a roots communicator without a new communicator");
    }
    if (roots != MPI_COMM_NULL) MPI_Comm_free(&roots);
    if (parent != MPI_COMM_WORLD) MPI_Comm_free(&parent);
    parent = comm;
  }
}

static MPI_Info info_of(int count, char** words) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (int i = 1; i < count; ++i) {
    char* value = strchr(words[i], '=');
    if (value == NULL) fail("expected KEY=VALUE");
    *value = '\0';
    MPI_Info_set(info, words[i], value + 1);
  }
  return info;
}

static void print_all(const Text* mine, int rank, int size) {
  int* lengths = malloc(sizeof(int) * (size_t)size);
  int* starts = malloc(sizeof(int) * (size_t)size);
  const int length = (int)mine->length;
  MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
  int total = 0;
  for (int i = 0; rank == 0 && i < size; ++i) {
    starts[i] = total;
    total += lengths[i];
  }
  char* all = malloc((size_t)total + 1);
  MPI_Gatherv(mine->text, length, MPI_CHAR, all, lengths, starts, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) {
    printf("%s%.*s", i == 0 ? "[" : ",\n", lengths[i], all + starts[i]);
  }
  if (rank == 0) printf("]\n");
  free(all);
  free(starts);
  free(lengths);
}

int main(int count, char** words) {
  int rank, size;
  Text out = {NULL, 0, 0};
  MPI_Init(&count, &words);
  const char* late = getenv("SPLIT_LATE_SYNTHETIC");
  if (late != NULL) setenv("HWLOC_SYNTHETIC", late, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info info = info_of(count, words);
  append(&out, "{\"rank\":%d,\"levels\":[", rank);
  append_levels(&out, info);
  append(&out, "]}");
  print_all(&out, rank, size);
  free(out.text);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
