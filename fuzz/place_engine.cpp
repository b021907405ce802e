// The engine on arbitrary small machines and patterns: its result is a placement that respects every constraint, costs
// at most as much as the ranks in order, and is reproducible.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "bytes.h"
#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/bound.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "must.h"

namespace {

using ranktree::core::pattern::Affinity;
using ranktree::core::pattern::Rank;
using ranktree::core::topo::Interconnect;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Level;
using ranktree::core::topo::Tree;
namespace place = ranktree::core::place;
namespace topo = ranktree::core::topo;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Tree some_tree(Bytes& bytes) {
  constexpr Kind kKinds[] = {Kind::kCluster, Kind::kNode, Kind::kPackage, Kind::kCore};
  std::vector<Level> levels{{Kind::kCluster, {}, {}}};
  std::vector<int> arities;
  std::vector<double> costs;
  const int depth = 1 + bytes.next(3);
  for (int level = 1; level <= depth; ++level) {
    levels.push_back({kKinds[level], {}, {}});
    arities.push_back(1 + bytes.next(level == 1 ? 12 : 5));
    costs.push_back(bytes.next(8));
  }
  const Tree tree = topo::uniform_tree(levels, arities);
  return bytes.next(2) == 0 ? tree : tree.with_costs(costs);
}

// Sometimes puts the nodes in a torus, a dragonfly or a table.
Tree some_network(Bytes& bytes, const Tree& tree) {
  const int nodes = tree.child_count(0);
  const int kind = bytes.next(4);
  if (kind == 0 || nodes < 2) return tree;
  std::vector<int> positions(at(nodes));
  std::iota(positions.begin(), positions.end(), 0);
  Interconnect::Network network;
  if (kind == 1) {
    const int side = 1 + bytes.next(4);
    const auto wraps = static_cast<std::uint8_t>(bytes.next(2));
    network = topo::Torus{{side, (nodes + side - 1) / side}, {wraps, 1}, {{1}, {static_cast<double>(bytes.next(4))}}};
  } else if (kind == 2) {
    const int routers = 1 + bytes.next(3);
    network = topo::Dragonfly{(nodes + routers - 1) / routers, routers};
  } else {
    topo::DistanceTable table{nodes, false, std::vector<double>(at(nodes) * at(nodes), 0)};
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) table.values[at(i) * at(nodes) + at(j)] = i == j ? 0 : bytes.next(256);
    }
    network = table;
  }
  return tree.with_interconnect(std::make_shared<const Interconnect>(network, positions));
}

// Some patterns have weights that are none, and are refused.
double some_weight(Bytes& bytes, bool wrong) {
  constexpr double kWeights[] = {
      0, 1, 2, 3, 100, 0.1, 9007199254740992.0, 1e300, 5e-324, -1, std::numeric_limits<double>::quiet_NaN()};
  return kWeights[bytes.next(static_cast<int>(std::size(kWeights)) - (wrong ? 0 : 2))];
}

Affinity some_pattern(Bytes& bytes, Rank ranks) {
  std::vector<double> matrix(at(ranks) * at(ranks), 0);
  const bool wrong = bytes.next(16) == 15;
  const int pairs = bytes.next(96);
  for (int i = 0; i < pairs; ++i) {
    const auto from = at(bytes.next(ranks));
    matrix[from * at(ranks) + at(bytes.next(ranks))] = some_weight(bytes, wrong);
  }
  return ranktree::core::pattern::affinity(ranks, matrix);
}

void check(const Tree& tree, const Affinity& affinity, const place::EngineOptions& options) {
  const place::Placement found = place::run_engine(tree, affinity, options);
  must([&] { place::validate(tree, found, affinity.ranks, options.constraints); });
  const double cost = place::evaluate(tree, affinity, found).total;
  const double before =
      place::evaluate(tree, affinity, place::identity(tree, affinity.ranks, options.constraints)).total;
  if (!(cost <= before)) std::abort();
  place::EngineOptions other = options;
  other.threads = 3 - options.threads;
  if (place::run_engine(tree, affinity, other).leaf_of != found.leaf_of) std::abort();
  constexpr double kRounding = 1 + 1e-9;
  if (place::lower_bound(tree, affinity, options.constraints) > cost * kRounding) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  try {
    Tree tree = some_network(bytes, some_tree(bytes));
    std::vector<Leaf> allowed;
    for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
      if (bytes.next(5) != 4) allowed.push_back(leaf);
    }
    tree = tree.with_allowed(allowed);
    place::EngineOptions options;
    options.preset = static_cast<place::Preset>(bytes.next(3));
    options.constraints.capacity = 1 + bytes.next(3);
    options.seed = static_cast<std::uint64_t>(bytes.next(256));
    options.threads = 1 + bytes.next(2);
    const Rank ranks = 1 + bytes.next(40);
    for (int i = bytes.next(4); i > 0; --i) {
      const Rank rank = bytes.next(ranks + 1);
      options.constraints.pins.push_back({rank, bytes.next(tree.leaf_count() + 1)});
    }
    check(tree, some_pattern(bytes, ranks), options);
  } catch (const ranktree::core::Error&) {  // inputs that do not match are refused
  }
  return 0;
}
