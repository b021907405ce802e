/* What a split with given info keys makes. Usage: split_info [key=value ...]. Where SPLIT_PER_RANK="NAME=a;b;c" is set,
 * the variable NAME is a for rank 0, b for rank 1, before MPI starts. Rank 0 prints for each rank its levels
 * ("Type index/count size"), the lowest level it shares with rank 0, its location and the message of MPI_COMM_WORLD.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

enum { kMaxLevels = 16, kText = 2048 };

static void set_own_variable(void) {
  const char* given = getenv("SPLIT_PER_RANK");
  const char* number = getenv("OMPI_COMM_WORLD_RANK");
  if (number == NULL) number = getenv("PMI_RANK");
  if (given == NULL || number == NULL) return;
  char* copy = strdup(given);
  char* values = strchr(copy, '=');
  *values++ = '\0';
  for (int i = atoi(number); i > 0 && values != NULL; --i) {
    values = strchr(values, ';');
    if (values != NULL) ++values;
  }
  if (values != NULL) {
    values[strcspn(values, ";")] = '\0';
    setenv(copy, values, 1);
  }
  free(copy);
}

static MPI_Info info_of(int count, char** words) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (int i = 0; i < count; ++i) {
    char* value = strchr(words[i], '=');
    *value++ = '\0';
    MPI_Info_set(info, words[i], value);
  }
  return info;
}

static int add_levels(char* text, MPI_Info info) {
  MPI_Comm levels[kMaxLevels];
  int count, used = 0;
  ranktree_Comm_hsplit_all(MPI_COMM_WORLD, info, kMaxLevels, &count, levels, NULL);
  for (int i = 0; i < count; ++i) {
    int parts, index, length, size;
    char type[RANKTREE_MAX_TYPE];
    ranktree_Comm_get_hlevel_info(levels[i], &parts, &index, type, sizeof type, &length);
    MPI_Comm_size(levels[i], &size);
    used += snprintf(text + used, (size_t)(kText - used), "%s %d/%d %d, ", type, index, parts, size);
    MPI_Comm_free(&levels[i]);
  }
  return used;
}

static void describe(char* text, int rank, MPI_Info info) {
  const int both[] = {rank, 0};
  char lowest[RANKTREE_MAX_TYPE], types[kMaxLevels][RANKTREE_MAX_TYPE], message[RANKTREE_MAX_ERROR_TEXT];
  int64_t ids[kMaxLevels];
  int length, depth;
  int used = add_levels(text, info);
  ranktree_Comm_get_message(MPI_COMM_WORLD, message, sizeof message, &length);
  ranktree_Comm_get_min_hlevel(MPI_COMM_WORLD, 2, both, lowest, sizeof lowest, &length);
  ranktree_Comm_get_location(MPI_COMM_WORLD, rank, kMaxLevels, &depth, types, ids);
  used += snprintf(text + used, (size_t)(kText - used), "with 0: %s, at:", lowest);
  for (int i = 0; i < depth; ++i) used += snprintf(text + used, (size_t)(kText - used), " %s", types[i]);
  snprintf(text + used, (size_t)(kText - used), ", message: %s", message);
}

int main(int argc, char** argv) {
  int rank, size;
  char own[kText] = "";
  set_own_variable();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info info = info_of(argc - 1, argv + 1);
  describe(own, rank, info);
  char* all = malloc((size_t)size * kText);
  MPI_Gather(own, kText, MPI_CHAR, all, kText, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) puts(all + (size_t)i * kText);
  free(all);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
