// What a schedule costs under Hockney's model, found by following its messages.
#pragma once

#include <functional>
#include <span>

#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

// A message of n elements takes latency + n per_element seconds.
struct Link {
  double latency = 0;
  double per_element = 0;
};

struct Hockney {
  std::function<Link(schedule::Rank from, schedule::Rank to)> link;
  double reduce = 0;  // seconds per element combined
  double copy = 0;    // seconds per element copied
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
