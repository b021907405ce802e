// The three modes that compute a new rank of each process for a graph (include/ranktree/mpi.h, "Rank reordering").
#pragma once

#include <mpi.h>

#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/objective/graph_order.h"
#include "core/objective/model.h"
#include "core/place/engine.h"
#include "core/split/chain.h"
#include "core/topo/kind_builder.h"
#include "mpi/agree.h"
#include "mpi/exchange.h"
#include "mpi/reorder/root.h"
#include "mpi/text.h"

namespace ranktree::mpi {

// What one vertex exchanges with others, both directions together: peers ascending, each once, no self loop, no zero.
struct VertexEdges {
  std::vector<int> peers;
  std::vector<double> weights;
};

enum class ReorderMode : std::uint8_t { kAuto, kCentral, kNode, kDistributed };

// Whether the objective is a time, which only one rank that has the whole graph can compute.
inline bool counts_seconds(core::objective::Objective objective) {
  return objective == core::objective::Objective::kBottleneck || objective == core::objective::Objective::kTime;
}

struct ReorderOptions {
  ReorderMode mode = ReorderMode::kAuto;
  core::objective::Objective objective = core::objective::Objective::kBytes;
  core::objective::Algorithm algorithm = core::objective::Algorithm::kEngine;
  std::string pattern;     // file that rank 0 places by seconds in place of the graph; empty: none
  std::string parameters;  // what links cost, as io::parameters_named() takes it at rank 0; empty: usual values
  core::place::Preset preset = core::place::Preset::kDefault;
  std::uint64_t seed = 1;
  std::int64_t time_limit = 0;  // milliseconds; 0: none
  int coarse_vertices = 4096;   // distributed: the top levels are placed on a graph of at most so many vertices
};

// The ranks of a communicator that look for an order, and how that goes.
struct Search {
  MPI_Comm comm;
  Mailbox& mailbox;      // of comm
  LocalSteps& steps;     // of comm: what fails leaves the order as it is
  RootBuffers& buffers;  // allocated at the root, for modes central and node
  double deadline;       // MPI_Wtime() from which on nothing more is tried; 0: none
};

// The part of the graph and of the machine that the calling process holds before anything is computed: vertex k is held
// by rank k. Both may be empty where a step has failed.
struct OwnPart {
  VertexEdges edges;         // of the vertex with the number of the calling rank
  core::split::Chain chain;  // where the calling process is
};

// The result of one mode. `vertex` is the vertex this process shall own, that is its new rank.
struct Reordering {
  int vertex = 0;
  // Of the objective, hops x weight over all edges or seconds, equal on all ranks; nothing where it was not computed.
  std::optional<double> before;
  std::optional<double> after;  // at most `before`
  Text reason;                  // why nothing changes, empty where something does; equal on all ranks
};

// The reasons that are no failures.
inline Text no_better_order() { return Text("no order that was found costs less"); }
inline Text too_late(const ReorderOptions& options) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "the time limit of %" PRId64 " ms was reached", options.time_limit);
  return Text(text.data());
}

// A cost of scaled weights; nothing where it is beyond what a double holds.
inline std::optional<double> in_callers_units(std::optional<double> cost, double scale) {
  if (!cost || !std::isfinite(*cost / scale)) return std::nullopt;
  return *cost / scale;
}

// Collective over search.comm. All ranks return alike or throw alike (AgreedError), whatever allocation of ours fails
// on whichever of them, and what had failed before; MpiError as always.
Reordering reorder_central(const Search& search, const OwnPart& own, const ReorderOptions& options);
Reordering reorder_in_nodes(const Search& search, const OwnPart& own, const ReorderOptions& options);
Reordering reorder_distributed(const Search& search, const OwnPart& own, const ReorderOptions& options);

// The cost of pairs by the name of the level of their lowest common ancestor; without the root, which has none.
using LevelCosts = std::map<core::topo::LevelKey, double>;

// As reorder_central(). With `costs` levels have these costs, and a level that it does not name is an error; without,
// costs are hops in the tree of the ranks of search.comm.
Reordering reorder_at_root(const Search& search, const OwnPart& own, const ReorderOptions& options,
                           const LevelCosts* costs);

}  // namespace ranktree::mpi
