// Knows nothing of ranktree. Each rank prints one line at its end: what the calls that its argument names gave, as
// members' ranks in MPI_COMM_WORLD ("-" for MPI_COMM_NULL), levels separated by blanks. What a trace should count is
// one Allreduce on every communicator made, and one Barrier on the world.
//
// unmodified unguided | guided RESOURCE | resource RESOURCE | shared | undefined | info     resource: RESOURCE_GUIDED,
// exit code 77 where this MPI has none; undefined: rank 1 takes no part; info: keys and values of
// MPI_Get_hw_resource_info
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI  // the numbers of Open MPI 5, whose programs also run on 4.1's binary interface
enum { UNGUIDED = 12, GUIDED = 13 };
#else
enum { UNGUIDED = MPI_COMM_TYPE_HW_UNGUIDED, GUIDED = MPI_COMM_TYPE_HW_GUIDED };
#endif
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { RESOURCE_GUIDED = MPI_COMM_TYPE_RESOURCE_GUIDED };
#else
enum { RESOURCE_GUIDED = -1 };
#endif
enum { kMost = 64, kMissing = 77 };

extern int MPI_Get_hw_resource_info(MPI_Info* info) __attribute__((weak));

static char line[4096];

static void add(const char* text) { strncat(line, text, sizeof line - strlen(line) - 1); }

static void add_members(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    add(" -");
    return;
  }
  int size, count = 0, own[kMost], world[kMost];
  MPI_Group part, all;
  MPI_Comm_size(comm, &size);
  MPI_Comm_group(comm, &part);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int i = 0; i < size; ++i) own[i] = i;
  MPI_Group_translate_ranks(part, size, own, all, world);
  for (int i = 0; i < size; ++i) {
    char number[16];
    snprintf(number, sizeof number, "%s%d", i == 0 ? " " : ",", world[i]);
    add(number);
  }
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  MPI_Allreduce(&size, &count, 1, MPI_INT, MPI_SUM, comm);
  if (count != size * size) add("(broken)");
}

static MPI_Comm split(MPI_Comm comm, int type, MPI_Info info) {
  MPI_Comm part = MPI_COMM_NULL;
  const int code = MPI_Comm_split_type(comm, type, 0, info, &part);
  if (code == MPI_SUCCESS) {
    add_members(part);
    return part;
  }
  int class;
  MPI_Error_class(code, &class);
  add(class == MPI_ERR_ARG ? " MPI_ERR_ARG" : " error");
  return MPI_COMM_NULL;
}

static void split_down(void) {
  MPI_Comm comm = MPI_COMM_WORLD;
  for (int level = 0; level < 10 && comm != MPI_COMM_NULL; ++level) {
    const MPI_Comm part = split(comm, UNGUIDED, MPI_INFO_NULL);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    comm = part;
  }
}

static void split_by(int type, const char* resource) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", resource);
  MPI_Comm part = split(MPI_COMM_WORLD, type, info);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Info_free(&info);
}

static void split_once(int type) {
  MPI_Comm part = split(MPI_COMM_WORLD, type, MPI_INFO_NULL);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
}

static void resources(void) {
  MPI_Info info = MPI_INFO_NULL;
  int keys = 0;
  if (MPI_Get_hw_resource_info == NULL || MPI_Get_hw_resource_info(&info) != MPI_SUCCESS) {
    add(" none");
    return;
  }
  MPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], value[16];
    int found;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, sizeof value - 1, value, &found);
    add(" ");
    add(key);
    add("=");
    add(value);
  }
  MPI_Info_free(&info);
}

int main(int count, char** words) {
  int rank;
  const char* what = count > 1 ? words[1] : "";
  if (strcmp(what, "resource") == 0 && RESOURCE_GUIDED < 0) return kMissing;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (strcmp(what, "unguided") == 0) split_down();
  if (strcmp(what, "guided") == 0) split_by(GUIDED, words[2]);
  if (strcmp(what, "resource") == 0) split_by(RESOURCE_GUIDED, words[2]);
  if (strcmp(what, "shared") == 0) split_once(MPI_COMM_TYPE_SHARED);
  if (strcmp(what, "undefined") == 0) split_once(rank == 1 ? MPI_UNDEFINED : UNGUIDED);
  if (strcmp(what, "info") == 0) resources();
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d:%s\n", rank, line);
  MPI_Finalize();
  return 0;
}
