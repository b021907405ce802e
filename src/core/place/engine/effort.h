// How hard each part of the engine tries.
#pragma once

#include <cstdint>

namespace ranktree::core::place::engine {

// Preset fast, unless said otherwise; decisions 0012, 0018, 0022, 0026, 0027, 0036, 0039, 0044, 0046 and 0047 say what
// each number buys.
struct Effort {
  int coarsest = 60;             // vertices at which coarsening ends
  int starts = 2;                // first divisions of the coarsest graph, at least ...
  int most_starts = 6;           // ... and at most: the more, the more ranks it stands for
  int repeats = 1;               // whole bisections of the same graph, the best kept; more while that still pays ...
  int most_repeats = 1;          // ... and at most ...
  bool by_ties = true;           // coarsening of uneven patterns asks what else a vertex is tied to
  int even_repeats = 1;          // ... or of even patterns at most ...
  double alike = 0.02;           // ... until the two best cuts differ by no more than this share
  int once = 0;                  // ranks up to which one is enough where they go to many small parts
  int passes = 4;                // of refinement at each size
  int patience = 50;             // moves without a gain after which a pass of refinement ends ...
  double patience_share = 0.05;  // ... and their share of the vertices, whichever is more
  int pair_rounds = 0;           // rounds of refinement between the parts of one division ...
  int even_pair_rounds = 0;      // ... of even patterns
  int regroupings = 0;           // rounds of dividing few parts of one division anew ...
  int root_regroupings = 0;      // ... of the root's alone, in large rough patterns; 0: their divisions are like others
  int regrouping_repeats = 2;    // whole bisections in that
  int annealing = 0;             // trials for each rank on a border of the root's division, about; 0: none ...
  int annealing_below = 0;       // ... of other divisions ...
  int even_below = 0;            // ... of even patterns, where that is none
  std::int64_t anneal_arcs = 0;  // looked at in annealing one graph, at most
  int anneal_coarser = 0;        // graphs annealed before the root's of even patterns, each of half the vertices
  int search_passes = 1;         // of the search by swaps
  int search_groups = 1;         // groups that a rank may be swapped into, the strongest tied first
  int runs = 3;                  // whole placements of small graphs with different seeds
  std::int64_t search_arcs = 16000;  // of the largest graph that is searched at all ...
  std::int64_t start_arcs = 16000;   // ... and from the start, too, where that is near
};

}  // namespace ranktree::core::place::engine
