// Preload this into MPI ranks that share few cores. MPI waits by polling its sockets continuously. With this library,
// an empty poll becomes a sleep in the kernel until the next byte arrives, once a thread has polled in vain a few
// times.
//
// MINICLUSTER_SPIN: empty polls before sleeping (8). MINICLUSTER_BLOCK_US: longest sleep in microseconds (1000);
// messages through shared memory wake no sleeper, so use sockets only (Open MPI: btl self,tcp), or a short sleep.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>

typedef int PollFunction(struct pollfd*, nfds_t, int);
typedef int EpollFunction(int, struct epoll_event*, int, int);

static struct {
  long spin;
  struct timespec sleep;
  PollFunction* poll;
  EpollFunction* epoll_wait;
} settings;

static __thread long empty_polls;

static long number_of(const char* variable, long otherwise) {
  const char* const text = getenv(variable);
  return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void initialize(void) {
  const long microseconds = number_of("MINICLUSTER_BLOCK_US", 1000);
  settings.spin = number_of("MINICLUSTER_SPIN", 8);
  settings.sleep = (struct timespec){.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
  settings.epoll_wait = (EpollFunction*)dlsym(RTLD_NEXT, "epoll_wait");
  settings.poll = (PollFunction*)dlsym(RTLD_NEXT, "poll");
  prctl(PR_SET_TIMERSLACK, 1);
}

static int remember(int ready) {
  empty_polls = ready ? 0 : empty_polls + 1;
  return ready;
}

// Another library's constructor may poll before this one has run.
static void initialize_if_early(void) {
  if (!settings.poll) {
    initialize();
  }
}

__attribute__((visibility("default"))) int poll(struct pollfd* files, nfds_t count, int timeout) {
  initialize_if_early();
  if (timeout || !count) {
    return settings.poll(files, count, timeout);
  }
  if (empty_polls < settings.spin) {
    return remember(settings.poll(files, count, 0));
  }
  return remember(ppoll(files, count, &settings.sleep, NULL));
}

__attribute__((visibility("default"))) int epoll_wait(int set, struct epoll_event* events, int capacity, int timeout) {
  initialize_if_early();
  if (timeout) {
    return settings.epoll_wait(set, events, capacity, timeout);
  }
  if (empty_polls < settings.spin) {
    return remember(settings.epoll_wait(set, events, capacity, 0));
  }
  return remember(epoll_pwait2(set, events, capacity, &settings.sleep, NULL));
}

// Called after each empty poll; the sleep above has already given the core away.
__attribute__((visibility("default"))) int sched_yield(void) { return 0; }
