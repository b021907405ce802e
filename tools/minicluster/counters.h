// The traffic through the switch, in a file that other processes map and read at any time; only the switch writes it.
// Layout (native byte order): `ports` x `ports` CounterPair, row = from, column = to.
#pragma once

#include <stdint.h>

typedef struct {
  uint64_t bytes;  // on the cable: Ethernet header, checksum, preamble and gap included, once a frame
  uint64_t frames;
} CounterPair;

// Creates the file, all zero, and maps it; NULL with errno set when it cannot.
CounterPair* counters_map(const char* path, int ports);
