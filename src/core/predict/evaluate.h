// What a schedule costs under Hockney's model, found by following its messages.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

// A message of n elements takes latency + n per_element seconds. On a wire that others use too it occupies the wire for
// gap + n per_element.
struct Link {
  double latency = 0;
  double per_element = 0;
  double gap = 0;
};

struct Hockney {
  std::function<Link(schedule::Rank from, schedule::Rank to)> link;
  double reduce = 0;  // seconds per element combined
  double copy = 0;    // seconds per element copied
  // The node of each rank: the ranks of a node share one wire each way, on which one message at a time leaves for other
  // nodes, or arrives from them. Empty: every rank has wires of its own.
  std::vector<std::int32_t> node_of;
};

// The same link between all ranks.
Hockney uniform(const Link& link, double reduce, double copy = 0);

// Seconds until the last rank is done when all begin together. The papers' rank: it sends one message and receives one
// at a time, both at once if it can, and begins no message while it combines or copies. A message begins when both ends
// have posted it and both ports are free; of those that could begin at one time the one that comes first in its
// sender's program does, then the one of the lower rank. Throws Error(kMismatch) when some rank waits for ever. O(steps
// log steps), times the messages that wait for one port at a time.
double evaluate(std::span<const schedule::Program> schedule, const Hockney& model);

}  // namespace ranktree::core::predict
