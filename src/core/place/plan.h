// A plan: the slot of each rank of a job, by host and PUs, and the cost of this placement. `map` writes plans; `emit`
// and `run` read them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

struct Slot {
  std::string host;      // name of the Node; empty when the tree has none
  std::vector<int> pus;  // operating-system numbers of the PUs the rank is bound to, ascending, at least one
};

// The cost of one placement by level, as printed and as stored in the file.
struct CostRow {
  std::string placement;       // "identity", "round-robin", "traced", "plan"
  std::vector<double> weight;  // by level, as in Cost
  double total = 0;
};

struct Plan {
  std::vector<Slot> slots;  // by rank
  // Names of the tree's levels (topo::level_names()), root first; where the network is no tree, "Network" and a
  // distance for each distance that matters, the farthest first, then the kinds from Node on.
  std::vector<std::string> levels;
  std::vector<double> level_costs;  // tree.cost of each level
  std::vector<std::string> hosts;   // every host of the machine in tree order, used or not
  std::vector<int> pus_per_host;    // number of PUs of each of them
  std::string algorithm;            // "engine", or "identity" when nothing was better
  std::string metric;               // "size", "msg", "avg"
  std::uint64_t seed = 1;
  std::vector<CostRow> costs;  // identity, round-robin, [traced], plan
  bool described = false;      // the machine was described in words: its hosts have invented names
  bool gain = false;           // false: no placement found is cheaper than identity, which the plan is
  // No placement costs less (lower_bound()). Nothing in plans read from older files.
  std::optional<double> bound;
  // The plan's cost on each level, where that is not its weight times the level's cost because several distances share
  // a level; else empty, as in plans read from a file.
  std::vector<double> cost_by_level;
  bool stopped = false;             // keep_going ended the search early; false in plans read from a file
  std::vector<topo::Leaf> leaf_of;  // by rank, in the tree the plan was made for; empty in plans read from a file
};

// The plan without the name of its only host: a launcher then starts the ranks on the node that it runs on. Throws
// Error(kInput) when there are several.
Plan on_this_node(Plan plan);

// (cost - bound) / bound: an upper limit of the gain that is left. Nothing when there is no bound, no row "plan", or
// the bound is 0 and the cost is not.
std::optional<double> gap(const Plan& plan);

// A row of the plan's table. Throws Error(kInput) when it has none of this name.
const CostRow& row_of(const Plan& plan, std::string_view placement);

// The plan's cost on each level; their sum is the total of its row "plan".
std::vector<double> costs_of_levels(const Plan& plan);

struct PlanOptions {
  // engine, greedy, round-robin, treematch, random, identity; best: the cheapest of the first three
  std::string algorithm = "best";
  Preset preset = Preset::kDefault;  // of the engine
  pattern::Metric metric = pattern::Metric::kSize;
  std::uint64_t seed = 1;
  bool oversubscribe = false;        // allow ceil(ranks / leaves) ranks a leaf
  std::vector<Pin> pins = {};        // every row of the table honours them; treematch cannot
  int threads = 1;                   // the plan does not depend on it
  std::function<bool()> keep_going;  // as in EngineOptions: called from time to time; false keeps the best found so far
  // The plan's placement, which another objective chose: it is kept whatever it costs, and nothing is searched.
  std::optional<Placement> placement = std::nullopt;
};

// Throws Error(kInput) where there are no ranks.
Constraints constraints_of(const topo::Tree& tree, pattern::Rank ranks, const PlanOptions& options);

// The placement of the traced run, as its hosts (by rank) show it: each rank on the next free slot of its host. Nothing
// where the hosts are unknown, not all in the machine, or too small.
std::optional<Placement> traced_placement(const topo::Tree& tree, const std::vector<std::string>& hosts,
                                          const Constraints& constraints);

// The placement of the algorithm, even where identity is cheaper. Throws as make_plan().
Placement compute_placement(const topo::Tree& tree, const pattern::Pattern& expanded, const PlanOptions& options);

// Runs the algorithm, keeps the result only if its cost is lower than identity's (and the traced placement's, when the
// pattern knows hosts that the tree has), and fills the table. Collective calls must have been expanded; those left are
// ignored. Throws Error(kInput) on an unknown algorithm, when ranks exchange something but nothing that the metric
// counts, and when a cost is beyond what a double holds; Error(kMismatch) when the ranks do not fit the tree.
Plan make_plan(const topo::Tree& tree, const pattern::Pattern& expanded, const PlanOptions& options);

// `plan`, which make_plan() made of the same input, with options.placement in place of its own. Where the network is a
// tree, its bound and the rows of the other placements are kept, not computed again.
Plan with_placement(Plan plan, const topo::Tree& tree, const pattern::Pattern& expanded, const PlanOptions& options);

// As the first make_plan() for weights that come from elsewhere; options.metric is what they count.
Plan make_plan(const topo::Tree& tree, const pattern::Affinity& affinity, const PlanOptions& options);

// As the first make_plan() for a whole matrix. Where most pairs communicate (is_dense()), and the network is a tree, no
// lists are made of it, and "best" is the cheaper of the engine's and round-robin; "treematch" and "greedy" always make
// lists. Throws Error(kInput), naming the entry, when one is negative or not finite.
Plan make_plan(const topo::Tree& tree, const pattern::Matrix& matrix, const PlanOptions& options);

}  // namespace ranktree::core::place
