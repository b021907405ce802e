#include "link.h"

Link link_make(double latency_microseconds, double rate_megabits_per_second) {
  Link link = {.latency = (int64_t)(latency_microseconds * 1000), .time_per_byte = 0, .free_at = 0};
  if (rate_megabits_per_second > 0) {
    link.time_per_byte = 8000.0 / rate_megabits_per_second;
  }
  return link;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

void link_cross(Link* link, Burst* burst) {
  const int64_t start = later(burst->head, link->free_at);
  link->free_at = start + (int64_t)(burst->bytes * link->time_per_byte);
  burst->tail = later(link->free_at, burst->tail) + link->latency;
  burst->head = start + (int64_t)(burst->segment * link->time_per_byte) + link->latency;
}
