// One direction of one cable: a rate, a latency, and the time until which it is busy.
#pragma once

#include <stdint.h>

typedef struct {
  int64_t latency;       // nanoseconds
  double time_per_byte;  // nanoseconds
  int64_t free_at;       // nanoseconds of the monotonic clock: the cable is busy until then
} Link;

// A burst of frames that the kernel passed as one (segmentation offload), or a single frame.
typedef struct {
  int64_t head;      // when its first frame is completely received
  int64_t tail;      // when its last frame is completely received
  uint32_t bytes;    // on the cable, all frames with their overhead
  uint32_t segment;  // bytes of one frame with its overhead
} Burst;

Link link_make(double latency_microseconds, double rate_megabits_per_second);

// Sends the burst over the link behind what is already on it: store and forward of each frame, so that a long burst
// moves over several links as a pipeline. Updates the burst's head and tail.
void link_cross(Link* link, Burst* burst);
