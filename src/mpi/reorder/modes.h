// Which rank each process shall have, given a graph: the three ways to compute it (include/ranktree/mpi.h, "Rank
// reordering").
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/place/engine.h"
#include "core/split/chain.h"
#include "mpi/text.h"

namespace ranktree::mpi {

// What one vertex says to others, both directions together: peers ascending, each once, no self loop, no zero.
struct VertexEdges {
  std::vector<int> peers;
  std::vector<double> weights;
};

enum class ReorderMode : std::uint8_t { kAuto, kCentral, kNode, kDistributed };

struct ReorderOptions {
  ReorderMode mode = ReorderMode::kAuto;
  core::place::Preset preset = core::place::Preset::kDefault;
  std::uint64_t seed = 1;
  std::int64_t time_limit = 0;  // milliseconds; 0: none
  int coarse_vertices = 4096;   // distributed: the top levels are placed on a graph of at most so many vertices
};

// The part of the graph and of the machine that the calling process holds before anything is computed: vertex k is held
// by rank k.
struct ReorderInput {
  MPI_Comm comm = MPI_COMM_NULL;
  const VertexEdges* own = nullptr;           // edges of the vertex with the number of the calling rank
  const core::split::Chain* chain = nullptr;  // where the calling process is
  double deadline = 0;                        // MPI_Wtime() from which on nothing more is tried; 0: none
};

// What one of the ways came to. `vertex` is the vertex this process shall own, that is its new rank.
struct Reordering {
  int vertex = 0;
  std::optional<double> before;  // hops x weight over all edges, equal on all ranks; nothing where it was not computed
  std::optional<double> after;   // at most `before`
  Text reason;                   // why nothing changes, empty where something does; equal on all ranks
};

// The reasons that are no failures.
Text no_better_order();
Text too_late(const ReorderOptions& options);

// Collective over input.comm. All ranks return alike or throw alike (AgreedError), whatever allocation of ours fails on
// whichever of them; MpiError as always.
Reordering reorder_central(const ReorderInput& input, const ReorderOptions& options);
Reordering reorder_in_nodes(const ReorderInput& input, const ReorderOptions& options);
Reordering reorder_distributed(const ReorderInput& input, const ReorderOptions& options);

}  // namespace ranktree::mpi
