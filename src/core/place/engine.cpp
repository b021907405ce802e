#include "core/place/engine.h"

#include <utility>

#include "core/pattern/affinity.h"
#include "core/place/placement.h"
#include "core/place/treematch.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

Placement run_engine(const topo::Tree& tree, const pattern::Affinity& affinity, const EngineOptions& options) {
  Placement best = options.start ? *options.start : identity(tree, affinity.ranks, options.constraints);
  validate(tree, best, affinity.ranks, options.constraints);
  double cost = evaluate(tree, affinity, best).total;
  const auto consider = [&](Placement placement) {
    const double found = evaluate(tree, affinity, placement).total;
    if (found >= cost) return;
    cost = found;
    best = std::move(placement);
  };
  TreeMatchOptions grouping;
  grouping.constraints = options.constraints;
  grouping.seed = options.seed;
  consider(treematch(tree, affinity, grouping));
  consider(greedy(tree, affinity, options.constraints));
  return best;
}

}  // namespace ranktree::core::place
