// One of the recorded runs in data/real: point-to-point traffic, all messages sent, and the collective calls.
#pragma once

#include <string>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::test {

// A line of the .ops.txt file.
struct RecordedCalls {
  std::string operation;            // MPI's name
  core::pattern::Rank ranks = 0;    // of the communicator
  core::pattern::Rank callers = 0;  // ranks of the world that called
  double calls = 0;                 // summed over the ranks
  double bytes = 0;                 // summed over the ranks and calls
};

struct RecordedCase {
  std::string name;
  core::pattern::Pattern application;  // point-to-point only
  core::pattern::Pattern everything;   // with collectives as they were decomposed
  std::vector<RecordedCalls> calls;
};

// Names of the cases, sorted.
std::vector<std::string> recorded_cases();
RecordedCase read_case(const std::string& name);

}  // namespace ranktree::test
