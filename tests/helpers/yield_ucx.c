// Preloaded into ranks of an MPI over UCX: those that wait let others run, as those of Open MPI do by
// mpi_yield_when_idle. MPICH 4.0 has no such setting: without it 16 ranks on 2 cores take 8x the processor time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

// Calls without progress in a row before a rank yields: what comes at once is not waited for.
enum { kIdleCalls = 20 };

unsigned ucp_worker_progress(void* worker);

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
