// LD_PRELOAD library: answers the affinity calls of MPI ranks for a machine that is not there, so that dozens of bound
// ranks of a large node live on two cores. With HWLOC_SYNTHETIC or HWLOC_XMLFILE and HWLOC_THISSYSTEM=1 hwloc believes
// in the same machine.
//
//   RANKTREE_FAKE_PUS      number of PUs of the machine; without it nothing is faked
//   RANKTREE_FAKE_BINDS    masks of the ranks: "0;2,3;4-7;" is PU 0 for rank 0, PUs 2 and 3 for rank 1, 4 to 7 for rank
//                          2; where it is empty or ends: every PU the rank may have (not bound)
//   RANKTREE_FAKE_ALLOWED  the PUs a rank may have (its cgroup), in the same form; empty: all
//   RANKTREE_FAKE_LAUNCHER anything: the launcher sees the machine too, and may bind its ranks there
//
// The rank is the launcher's variable, so that the launcher itself and its helpers, which have none, see the truth.
// A mask that is set is remembered and nothing else: as in Linux each thread has its own, cut down to the PUs allowed,
// and threads start with the mask of the main thread (Linux: of their creator). Other processes see the truth.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMostPus = 65536, kBitsAWord = CHAR_BIT * sizeof(unsigned long), kWords = kMostPus / kBitsAWord };

typedef struct {
  unsigned long words[kWords];
} Mask;

static int pus;       // of the faked machine; 0: nothing is faked
static Mask allowed;  // this rank's
static Mask of_main;  // the main thread's mask, and of threads that have set none
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread Mask* of_thread;  // of a thread that has set its own

static void refuse(const char* variable, const char* text) {
  fprintf(stderr, "fake_affinity: %s: expected lists of PUs below %d such as 0;2,3;4-7, found '%s'\n", variable, pus,
          text);
  _exit(99);
}

static void add(Mask* mask, long pu) { mask->words[pu / kBitsAWord] |= 1UL << (pu % kBitsAWord); }

// Adds "0", "2,3", "4-7" or several of them, up to the end or a semicolon.
static void read_list(const char* variable, const char* text, Mask* mask) {
  for (const char* at = text; *at != '\0' && *at != ';';) {
    char* end;
    const long first = strtol(at, &end, 10);
    const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    if (end == at || first < 0 || last < first || last >= pus) refuse(variable, text);
    for (long pu = first; pu <= last; ++pu) add(mask, pu);
    if (*end != ',' && *end != ';' && *end != '\0') refuse(variable, text);
    at = *end == ',' ? end + 1 : end;
  }
}

// The part of a variable that is this rank's; `otherwise` where it has none.
static Mask mask_of(const char* variable, long rank, const Mask* otherwise) {
  Mask mask = {{0}};
  const char* at = getenv(variable);
  for (long i = 0; at != NULL && i < rank; ++i) {
    at = strchr(at, ';');
    if (at != NULL) ++at;
  }
  if (at == NULL || *at == '\0' || *at == ';') return *otherwise;
  read_list(variable, at, &mask);
  return mask;
}

static long launched_rank(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char* value = getenv(variables[i]);
    if (value != NULL) return strtol(value, NULL, 10);
  }
  return -1;
}

__attribute__((constructor)) static void start(void) {
  const char* number = getenv("RANKTREE_FAKE_PUS");
  const long rank = launched_rank();
  if (number == NULL || (rank < 0 && getenv("RANKTREE_FAKE_LAUNCHER") == NULL)) return;
  pus = atoi(number);
  if (pus < 1 || pus > kMostPus) refuse("RANKTREE_FAKE_PUS", number);
  Mask all = {{0}};
  for (long pu = 0; pu < pus; ++pu) add(&all, pu);
  allowed = rank < 0 ? all : mask_of("RANKTREE_FAKE_ALLOWED", rank, &all);
  of_main = rank < 0 ? all : mask_of("RANKTREE_FAKE_BINDS", rank, &allowed);
}

static bool is_here(pid_t thread) {
  char path[64];
  if (thread == 0 || thread == getpid()) return true;
  snprintf(path, sizeof path, "/proc/self/task/%d", (int)thread);
  return access(path, F_OK) == 0;
}

// The thread's own mask if it is the calling one and has set one, else the main thread's.
static Mask* mask_of_thread(pid_t thread) {
  const bool calling = thread == 0 || thread == syscall(SYS_gettid);
  return calling && of_thread != NULL ? of_thread : &of_main;
}

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t* set) {
  if (pus == 0 || !is_here(thread)) {
    return ((int (*)(pid_t, size_t, cpu_set_t*))next("sched_getaffinity"))(thread, bytes, set);
  }
  if (bytes * CHAR_BIT < (size_t)pus || bytes % sizeof(unsigned long) != 0) {  // as the kernel does
    errno = EINVAL;
    return -1;
  }
  memset(set, 0, bytes);
  pthread_mutex_lock(&lock);
  memcpy(set, mask_of_thread(thread), bytes < sizeof(Mask) ? bytes : sizeof(Mask));
  pthread_mutex_unlock(&lock);
  return 0;
}

int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t* set) {
  if (pus == 0 || !is_here(thread)) {
    return ((int (*)(pid_t, size_t, const cpu_set_t*))next("sched_setaffinity"))(thread, bytes, set);
  }
  Mask mask = {{0}};
  bool any = false;
  memcpy(&mask, set, bytes < sizeof mask ? bytes : sizeof mask);
  for (int i = 0; i < kWords; ++i) any |= (mask.words[i] &= allowed.words[i]) != 0;
  if (!any) {
    errno = EINVAL;
    return -1;
  }
  const pid_t self = (pid_t)syscall(SYS_gettid);
  const bool own = (thread == 0 || thread == self) && self != getpid();
  if (own && of_thread == NULL) of_thread = malloc(sizeof *of_thread);  // as long as the process: tests are short
  pthread_mutex_lock(&lock);
  *(own && of_thread != NULL ? of_thread : &of_main) = mask;
  pthread_mutex_unlock(&lock);
  return 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) {
  const pid_t id = pthread_equal(thread, pthread_self()) ? 0 : getpid();
  return sched_getaffinity(id, bytes, set) == 0 ? 0 : errno;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) {
  const pid_t id = pthread_equal(thread, pthread_self()) ? 0 : getpid();
  return sched_setaffinity(id, bytes, set) == 0 ? 0 : errno;
}

int sched_getcpu(void) {
  if (pus == 0) return ((int (*)(void))next("sched_getcpu"))();
  const Mask* mask = mask_of_thread(0);
  for (int word = 0; word < kWords; ++word) {
    if (mask->words[word] != 0) return word * (int)kBitsAWord + __builtin_ctzl(mask->words[word]);
  }
  return 0;
}
