// The cost of a schedule under LogGP (A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman: LogGP, incorporating long
// messages into the LogP model, 1995): latency L, overheads o of the processors, gap g between messages, gap G a byte.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/predict/costs.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

struct LogGPLink {
  double latency = 0;           // L: of the network alone
  double overhead_send = 0;     // o
  double overhead_receive = 0;  // o
  double gap = 0;               // g
  double per_byte = 0;          // G
};

struct LogGP {
  std::function<LogGPLink(schedule::Rank from, schedule::Rank to)> link;
  double reduce = 0;  // seconds per element combined
  double copy = 0;    // seconds per element copied
  // As Hockney::node_of: ranks of a node share a wire, which a message occupies for max(g, nG).
  std::vector<std::int32_t> node_of;
};

// Seconds until the last rank finishes when all begin together. For a message of n elements, the sender's processor is
// busy for o, then its port for max(g, nG); the last byte arrives nG + L after the first has left; then the receiver's
// processor is busy for o. A message leaves whether or not its receive is posted, messages to one peer in program
// order; its buffer is free once it has left. Combining and copying take the processor. (nG where the paper has
// (n-1)G.) Throws Error(kMismatch) when a rank waits forever. O(steps log steps).
double evaluate(std::span<const schedule::Program> schedule, const LogGP& model);

// The machine's links: L is Hockney's latency without the overheads.
LogGP loggp_of(const Machine& machine);

}  // namespace ranktree::core::predict
