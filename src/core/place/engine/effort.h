// How hard each part of the engine tries.
#pragma once

#include <cstdint>

namespace ranktree::core::place::engine {

struct Effort {
  int coarsest;              // vertices at which coarsening ends
  int starts;                // first divisions of the coarsest graph, at least ...
  int most_starts;           // ... and at most: the more, the more ranks it stands for
  int repeats;               // whole bisections of the same graph, the best kept; more while that still pays ...
  int most_repeats;          // ... and at most ...
  double alike;              // ... until the two best cuts differ by no more than this share
  int once;                  // ranks up to which one is enough where they go to many small parts
  int passes;                // of refinement at each size
  int patience;              // moves without a gain after which a pass of refinement ends ...
  double patience_share;     // ... and their share of the vertices, whichever is more
  int pair_rounds;           // rounds of refinement between the parts of one division
  int regroupings;           // rounds of dividing few parts of one division anew
  int annealing;             // trials for each rank on a border of the root's division, about; 0: none ...
  int annealing_below;       // ... of other divisions
  std::int64_t anneal_arcs;  // looked at in one annealing, at most
  int search_passes;         // of the search by swaps
  int search_groups;         // groups that a rank may be swapped into, the strongest tied first
  int runs;                  // whole placements of small graphs with different seeds
  std::int64_t search_arcs;  // of the largest graph that is searched at all
};

}  // namespace ranktree::core::place::engine
