// Network cards of the nodes: one TAP device "eth0" in the network namespace of a process.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kLargestFrame = 66000 };  // a burst of 64 KiB with its headers and the offload header

// Creates eth0 in the network namespace of `process` and returns its file descriptor, nonblocking; -1 with errno set.
// The calling thread is then in that namespace.
int tap_open(int process);

// How the bytes just read from a TAP look on the cable. False when they are not for a known port (anything but unicast
// to an address 02:77:00:00:00:PORT: the nodes know each other's addresses, there is no ARP).
typedef struct {
  int destination;
  uint32_t bytes;
  uint32_t segment;
  uint32_t frames;
} CableView;
bool tap_inspect(const unsigned char* data, size_t length, int ports, CableView* view);
