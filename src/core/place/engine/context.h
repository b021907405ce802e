// The parameters of the engine, one set for each preset.
#pragma once

#include <cstdint>
#include <limits>

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
  int matrix_sweeps;         // over all pairs of children of a group, where most pairs of ranks communicate
  std::int64_t search_arcs;  // of the largest graph that is searched, and searched from the start, too
};

constexpr Context context_of(Preset preset) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  switch (preset) {
    case Preset::kFast:
      return {.runs = 6,
              .repeats = 1,
              .most_repeats = 1,
              .regroupings = 0,
              .annealing = 0,
              .search_passes = 1,
              .search_groups = 1,
              .matrix_sweeps = 1,
              .search_arcs = 16000};
    case Preset::kDefault:
      return {.runs = 8,
              .repeats = 2,
              .most_repeats = 2,
              .regroupings = 1,
              .annealing = 150,
              .search_passes = 2,
              .search_groups = 3,
              .matrix_sweeps = 12,
              .search_arcs = kAny};
    case Preset::kStrong:
      break;
  }
  return {.runs = 16,
          .repeats = 4,
          .most_repeats = 12,
          .regroupings = 3,
          .annealing = 1500,
          .search_passes = 20,
          .search_groups = 6,
          .matrix_sweeps = 48,
          .search_arcs = kAny};
}

}  // namespace ranktree::core::place::engine
