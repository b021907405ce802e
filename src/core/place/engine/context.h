// The parameters of the engine, one set for each preset.
#pragma once

#include <cstdint>

#include "core/place/engine.h"

namespace ranktree::core::place::engine {

// docs/explanation/placement-engine.md has a table of the presets and the effect of each number.
struct Context {
  int runs;                  // whole placements of small patterns with different seeds; larger patterns get fewer
  int repeats;               // whole bisections of the same graph, at least; the best is kept ...
  int most_repeats;          // ... and at most: more while the two best differ
  int regroupings;           // rounds of dividing four neighbouring parts anew
  int annealing;             // trials for each vertex on a border between parts; 0: none
  int search_passes;         // of the search by exchanges
  int search_groups;         // groups that a vertex may be exchanged into, the strongest tied first
  std::int64_t search_arcs;  // of the largest graph that is searched, and searched from the start, too
};

Context context_of(Preset preset);

}  // namespace ranktree::core::place::engine
