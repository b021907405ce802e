// Choices that were found good, by what an operation is: what `ranktree tune` writes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

// Both ends belong to it.
template <class Number>
struct Interval {
  Number first = 0;
  Number last = std::numeric_limits<Number>::max();
  [[nodiscard]] bool has(Number number) const { return first <= number && number <= last; }
  bool operator==(const Interval&) const = default;
};

struct Rule {
  schedule::Collective collective = schedule::Collective::kBroadcast;
  Interval<schedule::Rank> ranks;  // of the communicator
  Interval<schedule::Rank> nodes;  // that its ranks are on
  Interval<std::int64_t> bytes;    // as Question::bytes
  Choice choice;
  bool operator==(const Rule&) const = default;
};

struct Rules {
  std::string mpi;      // what they were measured with; may be empty
  std::string machine;  // likewise
  std::vector<Rule> rules;
};

// The first that fits; null where none does.
const Rule* find_rule(const Rules& rules, schedule::Collective collective, schedule::Rank ranks, schedule::Rank nodes,
                      std::int64_t bytes);

}  // namespace ranktree::core::predict
