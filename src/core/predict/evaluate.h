// The cost of a schedule under Hockney's model, found by following its messages.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

// A message of n elements takes latency + n per_element seconds. It occupies a wire that others share for gap + n
// per_element seconds.
struct Link {
  double latency = 0;
  double per_element = 0;
  double gap = 0;
};

struct Hockney {
  std::function<Link(schedule::Rank from, schedule::Rank to)> link;
  double reduce = 0;  // seconds per element combined
  double copy = 0;    // seconds per element copied
  // The node of each rank. Ranks of a node share one wire in each direction, on which one message at a time leaves for
  // other nodes, or arrives from them. Empty: every rank has its own wires.
  std::vector<std::int32_t> node_of;
};

// The same link between all ranks.
Hockney uniform(const Link& link, double reduce, double copy = 0);

// Seconds until the last rank finishes when all begin together. Ranks behave as in the papers: a rank sends one message
// and receives one at a time, possibly both at once, and begins no message while it combines or copies. A message
// begins when both sides have posted it and both ports are free. Among messages that could begin at the same time, the
// first in its sender's program goes first, then the one of the lower rank. Throws Error(kMismatch) when a rank waits
// forever. O(steps log steps), times the messages that wait for one port at a time.
double evaluate(std::span<const schedule::Program> schedule, const Hockney& model);

}  // namespace ranktree::core::predict
