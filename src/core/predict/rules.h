// The best variants by kind of operation: what `ranktree tune` writes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

// A closed interval.
template <class Number>
struct Interval {
  Number first = 0;
  Number last = std::numeric_limits<Number>::max();
  [[nodiscard]] bool has(Number number) const { return first <= number && number <= last; }
  bool operator==(const Interval&) const = default;
};

struct Rule {
  schedule::Collective collective = schedule::Collective::kBroadcast;
  Interval<schedule::Rank> ranks;  // number of ranks in the communicator
  Interval<schedule::Rank> nodes;  // number of nodes these ranks are on
  Interval<std::int64_t> bytes;    // message size, as Question::bytes
  Choice choice;
  bool operator==(const Rule&) const = default;
};

struct Rules {
  std::string mpi;      // the MPI library they were measured with; may be empty
  std::string machine;  // the machine they were measured on; may be empty
  std::vector<Rule> rules;
};

}  // namespace ranktree::core::predict
