// An order of ranks that are already somewhere, by any objective: for a graph of which only the weights are known, or
// for a recorded pattern.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/objective/model.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/predict/parameters.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {

// kTreeMatch: as treematch-2013 §4 has it, by hops only.
enum class Algorithm : std::uint8_t { kEngine, kTreeMatch };

struct GraphOptions {
  Objective objective = Objective::kBytes;
  Algorithm algorithm = Algorithm::kEngine;
  place::Preset preset = place::Preset::kDefault;
  std::uint64_t seed = 1;
  std::function<bool()> keep_going;                    // as EngineOptions::keep_going; may be empty
  std::vector<place::Placement> candidates = {};       // compete with what is found
  std::optional<predict::Parameters> parameters = {};  // as Model::parameters
};

struct GraphOrder {
  place::Placement placement;
  // Hops x weight for kBytes, hops x edges for kMessages, else seconds of the model.
  double before = 0;  // of `home`
  double after = 0;   // at most `before`
};

// One rank a leaf. kBytes places the weights as they are, kMessages counts each pair once. For kBottleneck and kTime a
// weight is a number of bytes, half of it in each direction, in one message each; the levels of the tree take the time
// that the parameters give, without them what they have in the machine, or usual ones (simulate::level_costs()). `home`
// where nothing is better, by seconds where nothing is 2 % better. Throws what Platform throws, where the tree has a
// network but no nodes.
GraphOrder order_for_graph(const topo::Tree& tree, const pattern::Affinity& graph, const place::Placement& home,
                           const GraphOptions& options);

// The same by seconds (kBottleneck or kTime) for an expanded pattern, with its messages, directions and phases.
GraphOrder order_for_pattern(const topo::Tree& tree, const pattern::Pattern& expanded, const place::Placement& home,
                             const GraphOptions& options);

}  // namespace ranktree::core::objective
