// Ranks on the leaves of a machine as the cost models see them: a hierarchy with the parameters of its levels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/topo/tree.h"

namespace ranktree::core::predict {

// Where the parameters of the links come from.
enum class LinkSource : std::uint8_t {
  kMeasured,  // by calibration
  kMachine,   // the latency and bandwidth that the machine has, and usual ones on levels without
  kUsual      // usual_parameters()
};

struct Modelled {
  schedule::Hierarchy hierarchy;
  std::vector<std::string>
      names;  // of the levels, outermost first: the two ranks are in different objects of this kind
  Parameters parameters;
  LinkSource source = LinkSource::kUsual;
  std::vector<std::string> usual;  // kMachine: names of the levels without latency or bandwidth of their own
  int across = 0;                  // levels between nodes
  bool nodes_are_shared = false;   // some node has several ranks
};

// Ranks on the first leaves of the machine in order, or, with `by_node`, on each node in turn. `measured` may be null.
// O(leaves x levels). Throws Error(kMismatch) where the machine has fewer leaves than ranks.
Modelled modelled(const topo::Tree& tree, schedule::Rank ranks, const Parameters* measured, bool by_node);

}  // namespace ranktree::core::predict
