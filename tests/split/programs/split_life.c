/* Communicators come and go: many times, from threads, as copies, with ranks that move. Usage: split_life CASE [N] */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

enum { kMaxLevels = 16, kThreads = 3 };

static int rank, size;

static void fail(const char* text, long found) {
  fprintf(stderr, "rank %d: %s, found %ld\n", rank, text, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static long resident_kilobytes(void) {
  long kilobytes = 0;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmRSS: %ld", &kilobytes);
  if (status != NULL) fclose(status);
  return kilobytes;
}

static int split_and_free(MPI_Comm comm) {
  MPI_Comm levels[kMaxLevels], roots[kMaxLevels];
  int count = 0;
  if (ranktree_Comm_hsplit_all(comm, MPI_INFO_NULL, kMaxLevels, &count, levels, roots) != MPI_SUCCESS) return -1;
  for (int i = 0; i < kMaxLevels; ++i) {
    if ((levels[i] == MPI_COMM_NULL) != (i >= count)) return -1;
    if (roots[i] != MPI_COMM_NULL) MPI_Comm_free(&roots[i]);
    if (levels[i] != MPI_COMM_NULL) MPI_Comm_free(&levels[i]);
  }
  return count;
}

/* An MPI has some thousand communicators in all: a lost one would be missed long before the end. */
static void repeat(int times) {
  const int warm = times / 10;
  long before = 0;
  for (int i = 0; i < times; ++i) {
    MPI_Comm part, roots;
    if (ranktree_Comm_hsplit_with_roots(MPI_COMM_WORLD, MPI_INFO_NULL, &part, &roots) != MPI_SUCCESS) fail("split", i);
    if (roots != MPI_COMM_NULL) MPI_Comm_free(&roots);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    if (i == warm) before = resident_kilobytes();
  }
  const long grown = resident_kilobytes() - before;
  if (grown > 4096) fail("expected no growth, kilobytes", grown);
}

static void* thread_body(void* comm) {
  for (int i = 0; i < 50; ++i) {
    if (split_and_free(*(MPI_Comm*)comm) < 0) fail("a thread's split", i);
  }
  return NULL;
}

static void threads(void) {
  pthread_t ids[kThreads];
  MPI_Comm comms[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&ids[i], NULL, thread_body, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
}

/* What MPI_Comm_dup must keep and MPI_Comm_split must not. */
static void copies(void) {
  MPI_Comm part, copy, other;
  int count, index, length, count2, index2;
  char type[RANKTREE_MAX_TYPE], type2[RANKTREE_MAX_TYPE];
  ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, MPI_INFO_NULL, &part);
  if (part == MPI_COMM_NULL) fail("expected a bound rank", rank);
  MPI_Comm_dup(part, &copy);
  MPI_Comm_split(part, 0, 0, &other);
  ranktree_Comm_get_hlevel_info(part, &count, &index, type, sizeof type, &length);
  MPI_Comm_free(&part);
  ranktree_Comm_get_hlevel_info(copy, &count2, &index2, type2, sizeof type2, &length);
  if (count != count2 || index != index2 || strcmp(type, type2) != 0) fail("a copy lost its level", index2);
  if (split_and_free(copy) < 0 || split_and_free(other) < 0) fail("a copy cannot be split", 0);
  ranktree_Comm_get_hlevel_info(other, &count2, &index2, type2, 3, &length);
  if (count2 != 1 || index2 != 0 || strcmp(type2, "Un") != 0 || length != 7) fail("not Unknown", length);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&other);
}

/* Ranks that bind themselves anew are found at their new place; nothing binds them. */
static void rebinding(int pus) {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm part;
    int members = 0;
    cpu_set_t mask, after;
    CPU_ZERO(&mask);
    for (int pu = 0; pu < pus; ++pu) {
      if (round == 1 || (pu < pus / 2) == ((rank + round) % 2 == 0)) CPU_SET(pu, &mask);
    }
    sched_setaffinity(0, sizeof mask, &mask);
    ranktree_Comm_hsplit(MPI_COMM_WORLD, 0, MPI_INFO_NULL, &part);
    sched_getaffinity(0, sizeof after, &after);
    if (!CPU_EQUAL(&mask, &after)) fail("the binding was changed in round", round);
    if (part != MPI_COMM_NULL) MPI_Comm_size(part, &members);
    const int expected = round == 1 ? 0 : rank % 2 == 0 ? (size + 1) / 2 : size / 2;
    if (members != expected) fail("not the members of half the machine", members);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  }
}

/* One rank: nothing to split, whatever its binding. */
static void alone(void) {
  char type[RANKTREE_MAX_TYPE];
  int length, levels;
  const int zero = 0;
  if (split_and_free(MPI_COMM_SELF) != 0) fail("MPI_COMM_SELF was split", 0);
  ranktree_Comm_get_min_hlevel(MPI_COMM_SELF, 1, &zero, type, sizeof type, &length);
  if (length != (int)strlen(type) || length == 0) fail("no level", length);
  ranktree_Comm_get_min_hlevel(MPI_COMM_SELF, 0, NULL, type, sizeof type, &length);
  if (strcmp(type, "Unknown") != 0) fail("expected Unknown", length);
  ranktree_Comm_get_location(MPI_COMM_SELF, 0, 0, &levels, NULL, NULL);
  if (levels < 1) fail("no location", levels);
}

/* A broadcast down the roots reaches every rank when leftovers are grouped. */
static void broadcast(void) {
  MPI_Comm levels[kMaxLevels], roots[kMaxLevels];
  MPI_Info info;
  int count, value = rank == 0 ? 4711 : 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", "group");
  ranktree_Comm_hsplit_all(MPI_COMM_WORLD, info, kMaxLevels, &count, levels, roots);
  if (count == 0) fail("no level to broadcast over", 0);
  for (int i = 0; i < count; ++i) {
    if (roots[i] != MPI_COMM_NULL) MPI_Bcast(&value, 1, MPI_INT, 0, roots[i]);
  }
  for (int i = count; i-- > 0;) MPI_Bcast(&value, 1, MPI_INT, 0, levels[i]);
  if (value != 4711) fail("the broadcast did not arrive", value);
  for (int i = 0; i < count; ++i) {
    if (roots[i] != MPI_COMM_NULL) MPI_Comm_free(&roots[i]);
    MPI_Comm_free(&levels[i]);
  }
  MPI_Info_free(&info);
}

/* The last rank takes no part. It is bound more loosely than the others are to each other. */
static void absent(void) {
  MPI_Comm part;
  int count = 0, index = 0, length;
  char type[RANKTREE_MAX_TYPE] = "";
  const int last = rank == size - 1;
  ranktree_Comm_split_type(MPI_COMM_WORLD, last ? MPI_UNDEFINED : RANKTREE_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL,
                           &part);
  if ((part == MPI_COMM_NULL) != last) fail("a part for a rank that takes none, or the reverse", last);
  if (last) return;
  ranktree_Comm_get_hlevel_info(part, &count, &index, type, sizeof type, &length);
  if (count != size - 1 || index != rank || strcmp(type, "Core") != 0) fail("not a core of each other rank", index);
  MPI_Comm_free(&part);
}

#if MPI_VERSION >= 4 || defined(SPLIT_HAS_SESSIONS)
/* No world. More than once where the MPI can: what one session leaves behind must not harm the next. */
static int sessions(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 77;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "org.ranktree.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    const int count = split_and_free(comm);
    if (count < 1) {
      fprintf(stderr, "rank %d: round %d: %d levels\n", rank, round, count);
      return 1;
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  if (rank == 0) puts("sessions done");
  return 0;
}
#else
static int sessions(int rounds) { return rounds > 0 ? 77 : 0; }
#endif

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  int provided = MPI_THREAD_SINGLE;
  if (strcmp(name, "sessions") == 0) return sessions(number);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(name, "repeat") == 0) repeat(number);
  if (strcmp(name, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) threads();
  if (strcmp(name, "copies") == 0) copies();
  if (strcmp(name, "rebinding") == 0) rebinding(number);
  if (strcmp(name, "alone") == 0) alone();
  if (strcmp(name, "broadcast") == 0) broadcast();
  if (strcmp(name, "absent") == 0) absent();
  if (rank == 0) printf("%s done\n", name);
  MPI_Finalize();
  return strcmp(name, "threads") == 0 && provided != MPI_THREAD_MULTIPLE ? 77 : 0;
}
