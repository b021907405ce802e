// The network of an emulated cluster: a two-level tree of switches in user space, with the exact rate and latency of
// every link. Each node's network namespace has a TAP device; frames are held until they have crossed their links.
//
// usage: minicluster_switch STATE NODES_PER_SWITCH LATENCY RATE UPLINK_LATENCY UPLINK_RATE PROCESS...
//   latencies in microseconds in one direction, rates in Mbit/s (0: unlimited), one process per node, in whose network
//   namespace the node's device is made; port i is the i-th of them, on leaf switch i / NODES_PER_SWITCH.
// Writes STATE/counters (counters.h) and creates STATE/switch.ready when it forwards frames. Exits on SIGTERM. Queues
// are unbounded: no frame is lost; TCP's windows bound the data in flight.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "fabric.h"
#include "tap.h"

enum { kReadsPerWake = 16, kFirstProcess = 7 };

typedef struct {
  int ports;
  struct pollfd devices[kMaxPorts];
  CounterPair* counters;
  Fabric fabric;
} Switch;

static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number) {
  (void)signal_number;
  stop_requested = 1;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static bool fail(const char* what, const char* detail) {
  fprintf(stderr, "minicluster_switch: %s %s: %s\n", what, detail, strerror(errno));
  return false;
}

static void count(Switch* self, int source, const CableView* view) {
  CounterPair* const pair = &self->counters[source * self->ports + view->destination];
  __atomic_fetch_add(&pair->bytes, view->bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&pair->frames, view->frames, __ATOMIC_RELAXED);
}

// Sends a node's frame. A frame is lost when there is no memory, as on a real switch.
static void accept_frame(Switch* self, int source, const unsigned char* data, size_t length) {
  CableView view;
  if (!tap_inspect(data, length, self->ports, &view)) {
    return;
  }
  Frame* const frame = malloc(sizeof(Frame) + length);
  if (!frame) {
    return;
  }
  const int64_t arrival = now();
  *frame = (Frame){
      .burst = {.head = arrival, .tail = arrival, .bytes = view.bytes, .segment = view.segment},
      .source = source,
      .destination = view.destination,
      .length = length,
  };
  memcpy(frame->data, data, length);
  count(self, source, &view);
  fabric_send(&self->fabric, frame);
}

static void read_device(Switch* self, int port) {
  static unsigned char data[kLargestFrame];
  for (int i = 0; i < kReadsPerWake; ++i) {
    const ssize_t length = read(self->devices[port].fd, data, sizeof data);
    if (length <= 0) {
      return;
    }
    accept_frame(self, port, data, (size_t)length);
  }
}

// Delivers every frame that is due; returns the nanoseconds until the next action.
static int64_t deliver_due_frames(Switch* self) {
  enum { kIdleWait = 1000000000 };
  for (;;) {
    const int64_t time = now();
    Frame* const frame = fabric_receive(&self->fabric, time);
    if (!frame) {
      const int64_t next = fabric_next(&self->fabric);
      return next == INT64_MAX ? kIdleWait : next - time;
    }
    // A node that is going away or has its queue full loses the frame; TCP sends it again.
    const ssize_t written = write(self->devices[frame->destination].fd, frame->data, frame->length);
    (void)written;
    free(frame);
  }
}

static void carry_frames(Switch* self) {
  while (!stop_requested) {
    const int64_t wait = deliver_due_frames(self);
    const struct timespec timeout = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
    if (ppoll(self->devices, (nfds_t)self->ports, &timeout, NULL) <= 0) {
      continue;
    }
    for (int port = 0; port < self->ports; ++port) {
      if (self->devices[port].revents & POLLIN) {
        read_device(self, port);
      }
    }
  }
}

static bool open_devices(Switch* self, char** processes) {
  for (int port = 0; port < self->ports; ++port) {
    const int device = tap_open(atoi(processes[port]));
    if (device < 0) {
      return fail("cannot make a network device for process", processes[port]);
    }
    self->devices[port] = (struct pollfd){.fd = device, .events = POLLIN};
  }
  return true;
}

// Punctual delivery: no timer slack, and before ordinary processes where that is allowed. The switch sleeps between
// frames, so it cannot starve other processes.
static void become_punctual(void) {
  const struct sched_param priority = {.sched_priority = 50};
  prctl(PR_SET_TIMERSLACK, 1);
  if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
    fail("runs without", "real-time priority");
  }
}

static bool announce(const char* state) {
  char path[4096];
  snprintf(path, sizeof path, "%s/switch.ready", state);
  const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) {
    return fail("cannot create", path);
  }
  close(file);
  return true;
}

static bool set_up(Switch* self, char** arguments) {
  const Link node_link = link_make(atof(arguments[3]), atof(arguments[4]));
  const Link root_link = link_make(atof(arguments[5]), atof(arguments[6]));
  fabric_init(&self->fabric, atoi(arguments[2]), node_link, root_link);
  char path[4096];
  snprintf(path, sizeof path, "%s/counters", arguments[1]);
  self->counters = counters_map(path, self->ports);
  if (!self->counters) {
    return fail("cannot map", path);
  }
  return open_devices(self, arguments + kFirstProcess);
}

int main(int count_of_arguments, char** arguments) {
  static Switch self;
  self.ports = count_of_arguments - kFirstProcess;
  if (self.ports < 1 || self.ports > kMaxPorts || atoi(arguments[2]) < 1) {
    fprintf(stderr,
            "usage: minicluster_switch STATE NODES_PER_SWITCH LATENCY RATE UPLINK_LATENCY UPLINK_RATE PROCESS...\n"
            "1 to %d processes, at least 1 node a switch\n",
            kMaxPorts);
    return 2;
  }
  const struct sigaction action = {.sa_handler = request_stop};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  if (!set_up(&self, arguments)) {
    return 1;
  }
  become_punctual();
  if (!announce(arguments[1])) {
    return 1;
  }
  carry_frames(&self);
  return 0;
}
