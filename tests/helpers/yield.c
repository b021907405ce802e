// Preloaded into ranks in tests of more ranks than cores. A rank that waits lets others run, as those of Open MPI do by
// mpi_yield_when_idle, and sleeps for a moment once it has done so in vain: a fifth of the processor time of all tests
// went into ranks that let each other run. MPICH over UCX has no such setting: without it 16 ranks on 2 cores take 8x
// the processor time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  kIdleCalls = 20,        // calls without progress in a row before a rank yields: what comes at once is not waited for
  kIdleYields = 50,       // then yields in a row before it sleeps
  kBetweenYields = 5000,  // ns; a rank that does anything else takes longer
  kNap = 50000            // ns
};

unsigned ucp_worker_progress(void* worker);

static long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

int sched_yield(void) {
  static __thread long last;
  static __thread int idle;
  idle = nanoseconds() - last < kBetweenYields ? idle + 1 : 0;
  if (idle < kIdleYields) {
    syscall(SYS_sched_yield);
  } else {
    nanosleep(&(struct timespec){.tv_sec = 0, .tv_nsec = kNap}, NULL);
  }
  last = nanoseconds();
  return 0;
}

// UCX is in the program's own scope, or was loaded by a Python module into a scope that RTLD_NEXT does not search.
static void* find_next(void) {
  void* const found = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (found) return found;
  void* const ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  return ucp ? dlsym(ucp, "ucp_worker_progress") : NULL;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  static __thread int idle;
  // ISO C has no conversion from void* to a function; POSIX has this one.
  if (!next) *(void**)&next = find_next();
  const unsigned done = next(worker);
  if (done) {
    idle = 0;
  } else if (idle < kIdleCalls) {
    ++idle;
  } else {
    sched_yield();
  }
  return done;
}
