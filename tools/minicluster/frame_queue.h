// Frames in flight, ordered by the time of their next arrival; frames of equal time keep the order in which they came.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"

typedef struct {
  int64_t due;        // nanoseconds of the monotonic clock: when it gets to its next link, or to its destination
  uint64_t sequence;  // set by the queue
  Burst burst;
  int source;  // port
  int destination;
  int links;  // crossed so far
  size_t length;
  unsigned char data[];
} Frame;

typedef struct {
  Frame** heap;
  size_t count;
  size_t capacity;
  uint64_t next_sequence;
} FrameQueue;

// Takes the frame (made by malloc). False when memory is out: the frame is then still the caller's. O(log count).
bool frame_queue_push(FrameQueue* queue, Frame* frame);

// The earliest frame, NULL when there is none; it stays in the queue.
const Frame* frame_queue_first(const FrameQueue* queue);

// Removes the earliest frame of a queue that is not empty and gives it to the caller. O(log count).
Frame* frame_queue_pop(FrameQueue* queue);
