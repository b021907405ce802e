// The phases of a run, put together from those of each thread.
#pragma once

#include <array>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/trace_layout.h"

namespace ranktree::io {

struct TracePhases {
  std::vector<trace_layout::Cut> cuts;  // in the order of the program
  // By phase - 1: what was exchanged in it, summed over its occurrences.
  std::array<std::vector<core::pattern::Entry>, core::pattern::kMostPhases> entries;
};

// Phases that both sides have: a segment between two cuts is of the same phase as an earlier one where it is on both
// sides. The most frequent kMostPhases are kept. A phase of one side that is several of both is divided by occurrences.
// Cuts that only one side has, as after the death of a rank, are dropped, and those behind the first where the
// operations differ.
void merge(TracePhases& into, TracePhases&& from);

// Adds the phases to a pattern that has all the traffic. Where the cuts reached their limit, a pair's traffic in all
// phases is scaled to all of its traffic: the program is taken to go on as it began.
void add_phases(const TracePhases& phases, core::pattern::Pattern& pattern);

}  // namespace ranktree::io
