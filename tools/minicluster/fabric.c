#include "fabric.h"

#include <stdlib.h>
#include <string.h>

void fabric_init(Fabric* fabric, int ports_per_switch, Link node_link, Link root_link) {
  memset(fabric, 0, sizeof *fabric);
  fabric->ports_per_switch = ports_per_switch;
  for (int port = 0; port < kMaxPorts; ++port) {
    fabric->up[port] = fabric->down[port] = node_link;
    fabric->root_up[port] = fabric->root_down[port] = root_link;
  }
}

// The link that a frame gets to next, NULL at its destination.
static Link* next_link(Fabric* fabric, const Frame* frame) {
  const int source_switch = frame->source / fabric->ports_per_switch;
  const int destination_switch = frame->destination / fabric->ports_per_switch;
  Link* const up = &fabric->up[frame->source];
  Link* const down = &fabric->down[frame->destination];
  Link* const within[] = {up, down, NULL};
  Link* const across[] = {up, &fabric->root_up[source_switch], &fabric->root_down[destination_switch], down, NULL};
  return (source_switch == destination_switch ? within : across)[frame->links];
}

static void cross(Fabric* fabric, Frame* frame, Link* link) {
  link_cross(link, &frame->burst);
  ++frame->links;
  frame->due = next_link(fabric, frame) ? frame->burst.head : frame->burst.tail;
  if (!frame_queue_push(&fabric->queue, frame)) {
    free(frame);
  }
}

void fabric_send(Fabric* fabric, Frame* frame) { cross(fabric, frame, &fabric->up[frame->source]); }

Frame* fabric_receive(Fabric* fabric, int64_t time) {
  while (fabric_next(fabric) <= time) {
    Frame* const frame = frame_queue_pop(&fabric->queue);
    Link* const link = next_link(fabric, frame);
    if (!link) {
      return frame;
    }
    cross(fabric, frame, link);
  }
  return NULL;
}

int64_t fabric_next(const Fabric* fabric) {
  const Frame* const first = frame_queue_first(&fabric->queue);
  return first ? first->due : INT64_MAX;
}
