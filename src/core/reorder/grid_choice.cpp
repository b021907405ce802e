#include "core/reorder/grid_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/divisors.h"
#include "core/base/error.h"
#include "core/reorder/grid.h"
#include "core/reorder/slots.h"

namespace ranktree::core::reorder {
namespace {

// A tiling's cost only orders the grids, whose placements are then compared: few boxes a level are enough.
constexpr std::size_t kEstimateWidth = 64;

void refuse(const std::string& text) { throw Error(Fault::kInput, "grid: " + text); }

void check(const GridTraffic& traffic) {
  const std::string count = std::to_string(traffic.dims.size());
  if (traffic.periodic.size() != traffic.dims.size()) {
    refuse("expected " + count + " periods, found " + std::to_string(traffic.periodic.size()));
  }
  if (!traffic.plane_weights.empty() && traffic.plane_weights.size() != traffic.dims.size()) {
    refuse("expected " + count + " weights, found " + std::to_string(traffic.plane_weights.size()));
  }
  for (std::size_t j = 0; j < traffic.dims.size(); ++j) {
    if (traffic.dims[j] < 0) {
      refuse("dimension " + std::to_string(j) + ": expected 0 or more, found " + std::to_string(traffic.dims[j]));
    }
  }
  for (const double weight : traffic.plane_weights) {
    if (!(weight >= 0 && std::isfinite(weight))) refuse("weight: expected 0 or more, found " + std::to_string(weight));
  }
}

// What the dimensions that are to be chosen must multiply to; 0 where no grid has so many vertices.
std::int64_t open_vertices(std::int64_t vertices, const GridTraffic& traffic) {
  for (const int length : traffic.dims) {
    if (length == 0) continue;
    if (vertices % length != 0) return 0;
    vertices /= length;
  }
  return vertices == 1 || std::count(traffic.dims.begin(), traffic.dims.end(), 0) > 0 ? vertices : 0;
}

class Enumeration {
 public:
  Enumeration(std::int64_t open, const GridTraffic& traffic) : divisors_(divisors_of(open)), dims_(traffic.dims) {
    for (std::size_t j = 0; j < dims_.size(); ++j) {
      if (dims_[j] == 0) open_.push_back(j);
    }
    fill(0, open);
  }

  [[nodiscard]] std::vector<std::vector<int>>& found() { return found_; }

 private:
  void fill(std::size_t index, std::int64_t rest) {
    if (index == open_.size()) {
      found_.push_back(dims_);
      return;
    }
    const bool last = index + 1 == open_.size();
    for (const int length : divisors_) {
      if (rest % length != 0 || (last && length != rest)) continue;
      dims_[open_[index]] = length;
      fill(index + 1, rest / length);
    }
  }

  std::vector<int> divisors_;
  std::vector<int> dims_;
  std::vector<std::size_t> open_;
  std::vector<std::vector<int>> found_;
};

Grid grid_with(const std::vector<int>& dims, const GridTraffic& traffic) {
  Grid grid{dims, traffic.periodic, {}};
  for (std::size_t j = 0; j < dims.size(); ++j) {
    const double plane = traffic.plane_weights.empty() ? 1 : traffic.plane_weights[j];
    grid.link_weights.push_back(plane * dims[j]);
  }
  return grid;
}

double traffic_of(const std::vector<int>& dims, const GridTraffic& traffic) {
  double sum = 0;
  for (std::size_t j = 0; j < dims.size(); ++j) {
    const int planes = dims[j] == 1 ? 0 : traffic.periodic[j] != 0 ? dims[j] : dims[j] - 1;
    sum += planes * (traffic.plane_weights.empty() ? 1 : traffic.plane_weights[j]);
  }
  return sum;
}

// What a pair of different leaves costs at least.
double least_distance(const BranchingLevels& levels) {
  return levels.costs.empty() ? 0 : *std::min_element(levels.costs.begin(), levels.costs.end());
}

// Indices of grids, the cheapest tilings first; grids arrive in the order of their traffic, so that the rest cannot be
// cheaper once the traffic alone costs as much as the best.
std::vector<std::size_t> by_tiling(const BranchingLevels& levels, const std::vector<Grid>& grids,
                                   const GridTraffic& traffic, std::size_t count) {
  const auto vertices = static_cast<double>(grids.front().vertices());
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t i = 0; i < grids.size(); ++i) {
    const double least = vertices * traffic_of(grids[i].dims, traffic) * least_distance(levels);
    if (found.size() >= count && least >= found[count - 1].first) break;
    const std::optional<double> cost = tiling_cost(levels, grids[i], kEstimateWidth);
    if (!cost) continue;
    const std::pair entry{*cost, i};
    found.insert(std::upper_bound(found.begin(), found.end(), entry), entry);
  }
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < std::min(count, found.size()); ++i) indices.push_back(found[i].second);
  return indices;
}

// How many grids are placed to compare them: placing takes most of the time.
std::size_t candidates_of(std::int64_t vertices, bool tiled) {
  if (vertices <= kAllVertices) return static_cast<std::size_t>(kMostGrids);
  if (vertices > 4096) return tiled ? 1 : 2;
  return tiled ? 4 : 8;
}

std::vector<std::size_t> candidates(const Slots& slots, const std::vector<Grid>& grids, const GridTraffic& traffic) {
  const std::int64_t vertices = grids.front().vertices();
  const auto levels = branching_levels(slots.tree);
  const std::size_t count = std::min(grids.size(), candidates_of(vertices, levels.has_value()));
  std::vector<std::size_t> chosen;
  if (levels && count < grids.size()) chosen = by_tiling(*levels, grids, traffic, count);
  if (chosen.empty()) {
    chosen.resize(count);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  }
  chosen.push_back(0);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace

// The product over the primes of how its powers can be shared among the dimensions.
std::int64_t grids_of(std::int64_t vertices, const GridTraffic& traffic) {
  std::int64_t rest = open_vertices(vertices, traffic);
  if (rest == 0) return 0;
  const auto open = std::count(traffic.dims.begin(), traffic.dims.end(), 0);
  std::int64_t grids = 1;
  for (std::int64_t prime = 2; rest > 1; ++prime) {
    if (prime * prime > rest) prime = rest;
    for (std::int64_t power = 1; rest % prime == 0; ++power) {
      rest /= prime;
      grids = grids * (open + power - 1) / power;
      if (grids > kMostGrids) return kMostGrids + 1;
    }
  }
  return grids;
}

std::vector<Grid> grids_by_traffic(std::int64_t vertices, const GridTraffic& traffic) {
  check(traffic);
  const std::int64_t count = grids_of(vertices, traffic);
  if (count == 0) refuse("expected dimensions whose product divides " + std::to_string(vertices));
  if (count > kMostGrids) {
    throw Error(Fault::kUnsupported, "grid: expected at most " + std::to_string(kMostGrids) +
                                         " grids to choose from, found more: give some of the dimensions");
  }
  Enumeration all(open_vertices(vertices, traffic), traffic);
  std::vector<std::tuple<double, std::int64_t, std::vector<int>>> order;
  for (std::vector<int>& dims : all.found()) {
    const std::int64_t sum = std::accumulate(dims.begin(), dims.end(), std::int64_t{0});
    order.emplace_back(traffic_of(dims, traffic), sum, std::move(dims));
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(b)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(a));
  });
  std::vector<Grid> grids;
  grids.reserve(order.size());
  for (const auto& each : order) grids.push_back(grid_with(std::get<2>(each), traffic));
  return grids;
}

ChosenGrid choose_grid(const Slots& slots, const GridTraffic& traffic, const GridOptions& options) {
  const auto vertices = static_cast<std::int64_t>(slots.home.leaf_of.size());
  std::vector<Grid> grids = grids_by_traffic(vertices, traffic);
  ChosenGrid best;
  bool found = false;
  for (const std::size_t index : candidates(slots, grids, traffic)) {
    if (found && options.keep_going && !options.keep_going()) break;
    GridPlacement placed = place_grid(slots, grids[index], options);
    if (found && !(placed.after < best.placed.after)) continue;
    best = {std::move(grids[index]), std::move(placed)};
    found = true;
  }
  const auto scale = static_cast<double>(vertices);
  for (double& weight : best.grid.link_weights) weight /= scale;
  best.placed.before /= scale;
  best.placed.after /= scale;
  return best;
}

}  // namespace ranktree::core::reorder
