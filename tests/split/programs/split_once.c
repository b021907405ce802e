// Splits MPI_COMM_WORLD by the native MPI_Comm_split_type or, compiled with OURS, by ranktree_Comm_split_type, and
// prints a JSON line for every rank and level at once, so that what is known is seen even when a later level hangs:
// {"rank": 0, "level": 1, "members": [0, 1], "error": null}; members are ranks of MPI_COMM_WORLD, null for
// MPI_COMM_NULL; error is the name of an error class.
//
// split_once unguided | guided RESOURCE | resource RESOURCE | type NAME     unguided: again and again, down to
// MPI_COMM_NULL or level 8; NAME: one of Open MPI's own split types, e.g. L3CACHE. Exits with 77 when this MPI has
// none.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef OURS
#include "ranktree/mpi.h"
#define HAS_RESOURCE_GUIDED 1
enum {
  UNGUIDED = RANKTREE_COMM_TYPE_HW_UNGUIDED,
  GUIDED = RANKTREE_COMM_TYPE_HW_GUIDED,
  RESOURCE_GUIDED = RANKTREE_COMM_TYPE_RESOURCE_GUIDED
};
#define SPLIT ranktree_Comm_split_type
#elif defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
enum { UNGUIDED = -1, GUIDED = -1, RESOURCE_GUIDED = -1 };
#define SPLIT MPI_Comm_split_type
#else
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { RESOURCE_GUIDED = MPI_COMM_TYPE_RESOURCE_GUIDED };
#else
enum { RESOURCE_GUIDED = -1 };
#endif
enum { UNGUIDED = MPI_COMM_TYPE_HW_UNGUIDED, GUIDED = MPI_COMM_TYPE_HW_GUIDED };
#define SPLIT MPI_Comm_split_type
#endif

enum { kDeepest = 8, kMissing = 77, kLongestLine = 4096 };

static int type_named(const char* name) {
#if defined(OPEN_MPI) && !defined(OURS)
  static const struct {
    const char* name;
    int type;
  } types[] = {{"HWTHREAD", OMPI_COMM_TYPE_HWTHREAD}, {"CORE", OMPI_COMM_TYPE_CORE},
               {"L1CACHE", OMPI_COMM_TYPE_L1CACHE},   {"L2CACHE", OMPI_COMM_TYPE_L2CACHE},
               {"L3CACHE", OMPI_COMM_TYPE_L3CACHE},   {"SOCKET", OMPI_COMM_TYPE_SOCKET},
               {"NUMA", OMPI_COMM_TYPE_NUMA}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(types[i].name, name) == 0) return types[i].type;
  }
#endif
  (void)name;
  return -1;
}

static const char* class_name(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  if (class == MPI_SUCCESS) return "null";
  if (class == MPI_ERR_ARG) return "\"MPI_ERR_ARG\"";
  if (class == MPI_ERR_INFO_VALUE) return "\"MPI_ERR_INFO_VALUE\"";
  return "\"another class\"";
}

static void print_members(int rank, int level, int code, MPI_Comm comm) {
  char line[kLongestLine];
  int length = snprintf(line, sizeof line, "{\"rank\": %d, \"level\": %d, \"members\": ", rank, level);
  if (code != MPI_SUCCESS || comm == MPI_COMM_NULL) {
    length += snprintf(line + length, sizeof line - (size_t)length, "null");
  } else {
    MPI_Group group, world;
    int size;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &size);
    for (int member = 0; member < size; ++member) {
      int in_world;
      MPI_Group_translate_ranks(group, 1, &member, world, &in_world);
      length += snprintf(line + length, sizeof line - (size_t)length, "%s%d", member == 0 ? "[" : ", ", in_world);
    }
    length += snprintf(line + length, sizeof line - (size_t)length, "]");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
  }
  snprintf(line + length, sizeof line - (size_t)length, ", \"error\": %s}\n", class_name(code));
  fputs(line, stdout);
  fflush(stdout);
}

#if defined(OURS)
#define GET_HARDWARE ranktree_Get_hw_resource_info
#elif MPI_VERSION * 10 + MPI_SUBVERSION >= 41
#define GET_HARDWARE MPI_Get_hw_resource_info
#endif

#ifdef GET_HARDWARE
static int print_hardware(void) {
  int rank, size, there;
  MPI_Info info;
  char key[MPI_MAX_INFO_KEY + 1];
  char value[MPI_MAX_INFO_VAL + 1];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  GET_HARDWARE(&info);
  MPI_Info_get_nkeys(info, &size);
  for (int i = 0; rank == 0 && i < size; ++i) {
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    printf("%s=%s\n", key, value);
  }
  MPI_Info_free(&info);
  return MPI_Finalize();
}
#else
static int print_hardware(void) { return kMissing; }
#endif

int main(int count, char** words) {
  if (count < 2) return 2;
  if (strcmp(words[1], "hardware") == 0) return print_hardware();
  const char* how = words[1];
  int type = RESOURCE_GUIDED;
  if (strcmp(how, "unguided") == 0) type = UNGUIDED;
  if (strcmp(how, "guided") == 0) type = GUIDED;
  if (strcmp(how, "type") == 0) type = type_named(words[2]);
  if (type == -1) return kMissing;
  int rank;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (count > 2 && strcmp(how, "type") != 0) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", words[2]);
  }
  MPI_Comm parent = MPI_COMM_WORLD;
  for (int level = 1; level <= (strcmp(how, "unguided") == 0 ? kDeepest : 1) && parent != MPI_COMM_NULL; ++level) {
    MPI_Comm comm = MPI_COMM_NULL;
    const int code = SPLIT(parent, type, 0, info, &comm);
    print_members(rank, level, code, comm);
    parent = code == MPI_SUCCESS ? comm : MPI_COMM_NULL;
  }
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
