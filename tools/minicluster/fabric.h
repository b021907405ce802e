// The links of a two-level tree of switches, and the frames on them. A frame is queued on a link only when it reaches
// it, so a frame in a long queue does not delay others on later links.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "frame_queue.h"
#include "link.h"

enum { kMaxPorts = 250 };

typedef struct {
  int ports_per_switch;
  Link up[kMaxPorts];       // node to its leaf switch
  Link down[kMaxPorts];     // leaf switch to its node
  Link root_up[kMaxPorts];  // leaf switch to the root, by leaf switch
  Link root_down[kMaxPorts];
  FrameQueue queue;
} Fabric;

// Links of all ports, idle, and no frames.
void fabric_init(Fabric* fabric, int ports_per_switch, Link node_link, Link root_link);

// Puts a frame (made by malloc; source, destination, burst and data set, the rest zero) on its first link; the fabric
// owns it from now on. One that finds no memory is lost, as on a real switch. Calls in order of the bursts' heads.
void fabric_send(Fabric* fabric, Frame* frame);

// The next frame that is at its destination by `time` (nanoseconds of the monotonic clock), passed to the caller, which
// frees it; NULL when there is none. Frames come in order of their arrival, the burst's tail.
Frame* fabric_receive(Fabric* fabric, int64_t time);

// The time at which fabric_receive() may return a frame next; INT64_MAX when no frame is in flight.
int64_t fabric_next(const Fabric* fabric);
