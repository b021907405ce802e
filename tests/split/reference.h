// The split by its definition, slow and exact, with which tests compare the fast implementations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/split/summary.h"
#include "core/topo/tree.h"

namespace ranktree::core::split {

// The place of one rank in the machine.
struct Spot {
  std::vector<std::string> switches;  // outermost first
  std::int64_t node = 0;              // equal for ranks of one node
  const topo::Tree* tree = nullptr;   // the node's tree, with a root of kind Node
  std::vector<int> pus;               // the PUs it may run on
};

// The result of a split on one rank.
struct Outcome {
  std::vector<int> members;  // positions in the communicator that was split, in the new order; empty: MPI_COMM_NULL
  int count = 0;             // of siblings
  int index = 0;
  std::string type;
  bool operator==(const Outcome&) const = default;
};

// Splits a communicator whose rank i is at ranks[i] and passes keys[i] (all 0 when keys is empty). For every rank it
// collects all objects that contain its binding by comparing sets of PUs, removes those that contain every rank, and
// splits by the largest that remains. O(ranks^2 x objects x PUs).
std::vector<Outcome> reference_split(std::span<const Spot> ranks, std::span<const int> keys, Leftover leftover);

}  // namespace ranktree::core::split
