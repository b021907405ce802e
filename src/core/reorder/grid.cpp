#include "core/reorder/grid.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/reorder/positions.h"
#include "core/reorder/tiling.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

void check(const Grid& grid) {
  if (grid.periodic.size() != grid.dims.size()) {
    throw Error(Fault::kInput, "grid: expected " + std::to_string(grid.dims.size()) + " periods, found " +
                                   std::to_string(grid.periodic.size()));
  }
  for (std::size_t j = 0; j < grid.dims.size(); ++j) {
    if (grid.dims[j] < 1) {
      throw Error(Fault::kInput, "grid: dimension " + std::to_string(j) + ": expected 1 or more, found " +
                                     std::to_string(grid.dims[j]));
    }
  }
  if (grid.vertices() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(Fault::kInput, "grid: expected fewer than 2^31 vertices");
  }
}

// Links of one vertex by neighbour. `stride` of a dimension: how far apart its neighbours' numbers are.
std::map<pattern::Rank, double> links_of(const Grid& grid, std::int64_t vertex) {
  std::map<pattern::Rank, double> links;
  std::int64_t stride = 1;
  for (std::size_t j = grid.dims.size(); j-- > 0;) {
    const std::int64_t length = grid.dims[j];
    const std::int64_t coordinate = vertex / stride % length;
    for (const std::int64_t step : {std::int64_t{-1}, std::int64_t{1}}) {
      const std::int64_t other = coordinate + step;
      const bool inside = other >= 0 && other < length;
      if (length == 1 || (!inside && grid.periodic[j] == 0)) continue;
      const std::int64_t wrapped = (other + length) % length;
      links[static_cast<pattern::Rank>(vertex + (wrapped - coordinate) * stride)] += 1;
    }
    stride *= length;
  }
  return links;
}

// What is found, and the cheapest of it.
class Contest {
 public:
  Contest(const Positions& positions, pattern::Affinity links) : tree_(positions.tree), links_(std::move(links)) {
    best_.placement = positions.home;
    best_.before = best_.after = cost(positions.home);
  }

  void enter(place::Placement placement, GridMethod method) {
    const double after = cost(placement);
    if (after >= best_.after) return;
    best_.after = after;
    best_.placement = std::move(placement);
    best_.method = method;
  }

  [[nodiscard]] const GridPlacement& best() const { return best_; }
  [[nodiscard]] const pattern::Affinity& links() const { return links_; }

 private:
  [[nodiscard]] double cost(const place::Placement& placement) const {
    return place::evaluate(tree_, links_, placement).total;
  }

  const topo::Tree& tree_;
  pattern::Affinity links_;
  GridPlacement best_;
};

}  // namespace

// Stops early so as not to overflow; dimensions below 1 count as they are.
std::int64_t Grid::vertices() const {
  std::int64_t product = 1;
  for (const int length : dims) {
    product *= length;
    if (product > std::numeric_limits<std::int32_t>::max()) break;
  }
  return product;
}

pattern::Affinity grid_affinity(const Grid& grid) {
  check(grid);
  pattern::Affinity affinity;
  affinity.ranks = static_cast<pattern::Rank>(grid.vertices());
  for (std::int64_t vertex = 0; vertex < grid.vertices(); ++vertex) {
    for (const auto& [neighbour, links] : links_of(grid, vertex)) {
      affinity.indices.push_back(neighbour);
      affinity.weights.push_back(links);
    }
    affinity.indptr.push_back(static_cast<std::int64_t>(affinity.indices.size()));
  }
  return affinity;
}

GridPlacement place_grid(const Positions& positions, const Grid& grid, const GridOptions& options) {
  pattern::Affinity links = grid_affinity(grid);
  if (static_cast<std::size_t>(links.ranks) != positions.home.leaf_of.size()) {
    throw Error(Fault::kMismatch, "grid: expected " + std::to_string(positions.home.leaf_of.size()) +
                                      " vertices, one a process, found " + std::to_string(links.ranks));
  }
  Contest contest(positions, std::move(links));
  if (auto tiling = tile(positions.tree, grid)) contest.enter(std::move(tiling->placement), GridMethod::kTiling);
  if (options.keep_going && !options.keep_going()) return contest.best();
  place::EngineOptions engine;
  engine.preset = options.preset;
  engine.seed = options.seed;
  engine.keep_going = options.keep_going;
  contest.enter(place::run_engine(positions.tree, contest.links(), engine), GridMethod::kEngine);
  engine.start = contest.best().placement;
  contest.enter(place::run_engine(positions.tree, contest.links(), engine), GridMethod::kEngine);
  return contest.best();
}

}  // namespace ranktree::core::reorder
