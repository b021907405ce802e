#include "frame_queue.h"

#include <stdlib.h>

static bool before(const Frame* a, const Frame* b) {
  return a->due < b->due || (a->due == b->due && a->sequence < b->sequence);
}

static bool grow(FrameQueue* queue) {
  const size_t capacity = queue->capacity ? 2 * queue->capacity : 1024;
  Frame** heap = realloc(queue->heap, capacity * sizeof(Frame*));
  if (!heap) {
    return false;
  }
  queue->heap = heap;
  queue->capacity = capacity;
  return true;
}

bool frame_queue_push(FrameQueue* queue, Frame* frame) {
  if (queue->count == queue->capacity && !grow(queue)) {
    return false;
  }
  frame->sequence = queue->next_sequence++;
  size_t hole = queue->count++;
  while (hole > 0 && before(frame, queue->heap[(hole - 1) / 2])) {
    queue->heap[hole] = queue->heap[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  queue->heap[hole] = frame;
  return true;
}

const Frame* frame_queue_first(const FrameQueue* queue) { return queue->count ? queue->heap[0] : NULL; }

// The child of `parent` that comes first, or count when it has none.
static size_t first_child(const FrameQueue* queue, size_t parent) {
  const size_t left = 2 * parent + 1;
  if (left >= queue->count) {
    return queue->count;
  }
  return left + 1 < queue->count && before(queue->heap[left + 1], queue->heap[left]) ? left + 1 : left;
}

Frame* frame_queue_pop(FrameQueue* queue) {
  Frame* const first = queue->heap[0];
  Frame* const last = queue->heap[--queue->count];
  size_t hole = 0;
  for (size_t child = first_child(queue, 0); child < queue->count && before(queue->heap[child], last);
       child = first_child(queue, hole)) {
    queue->heap[hole] = queue->heap[child];
    hole = child;
  }
  queue->heap[hole] = last;
  return first;
}
