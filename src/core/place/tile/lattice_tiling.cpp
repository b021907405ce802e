#include "core/place/tile/lattice_tiling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"
#include "core/place/slots/slot_tree.h"
#include "core/place/tiling.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The arities by level, root first; nothing where groups of a level differ.
std::optional<std::vector<int>> arities_of(const SlotTree& tree) {
  std::vector<int> arities;
  for (int level = 0; level < tree.levels(); ++level) {
    const SlotTree::Group count = tree.child_count(level, 0);
    for (SlotTree::Group group = 1; group < tree.groups(level); ++group) {
      if (tree.child_count(level, group) != count) return std::nullopt;
    }
    arities.push_back(count);
  }
  return arities;
}

// Of all places, one after the other.
std::vector<int> coordinates_of(const Lattice& lattice) {
  std::vector<int> all;
  all.reserve(lattice.vertex_at.size() * lattice.sizes.size());
  std::vector<int> now(lattice.sizes.size(), 0);
  for (std::size_t place = 0; place < lattice.vertex_at.size(); ++place) {
    all.insert(all.end(), now.begin(), now.end());
    for (std::size_t j = now.size(); j-- > 0;) {
      if (++now[j] < lattice.sizes[j]) break;
      now[j] = 0;
    }
  }
  return all;
}

// The offsets in the grid between ranks that communicate, each with its total weight.
class Stencil {
 public:
  // `coordinates`: of all places.
  Stencil(const Graph& graph, const Lattice& lattice, const std::vector<int>& coordinates) : lattice_(lattice) {
    std::vector<const int*> where(lattice.vertex_at.size());  // by vertex
    for (std::size_t place = 0; place < where.size(); ++place) {
      where[at(lattice.vertex_at[place])] = coordinates.data() + place * lattice.sizes.size();
    }
    std::vector<std::int32_t> index_of(where.size(), -1);  // by key
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      for (const Arc& arc : graph.arcs_of(vertex)) {
        if (arc.to < vertex) continue;
        const std::int64_t key = key_of(where[at(vertex)], where[at(arc.to)]);
        std::int32_t& index = index_of[at(key)];
        if (index < 0 && steps_.size() < kMostSteps) {
          index = static_cast<std::int32_t>(steps_.size());
          steps_.push_back({lattice_.coordinates(key)});
        }
        if (index >= 0) steps_[at(index)].add(arc.weight);
      }
    }
  }

  // The weight between different boxes of one kind.
  [[nodiscard]] double cut(const Box& box) const {
    double sum = 0;
    for (const Step& step : steps_) {
      double within = 1;
      for (std::size_t j = 0; j < box.size(); ++j) within *= share_within(j, box[j], step.far[j]);
      sum += step.weight * (1 - within);
    }
    return sum;
  }

  // All pairs of one offset communicate, and about as much, wherever in the grid they are.
  [[nodiscard]] bool uniform() const {
    constexpr double kAlike = 0.95;
    return steps_.size() < kMostSteps && std::all_of(
                                             steps_.begin(), steps_.end(),
                                             [&](const Step& step) {
                                               return 2 * step.pairs >= kAlike * pairs_there_are(step) &&
                                                      step.lightest >= kAlike * step.heaviest;
                                             });
  }

  // The border of a box over the shortest that any set of as many vertices has, at least 1.
  [[nodiscard]] double border_ratio(const Box& box) const {
    std::vector<double> face(box.size(), 0);  // the weight that crosses a face of one vertex
    for (const Step& step : steps_) {
      for (std::size_t j = 0; j < box.size(); ++j) face[j] += step.weight * step.far[j];
    }
    double border = 0;
    double product = 1;
    for (std::size_t j = 0; j < box.size(); ++j) {
      border += face[j] / box[j];
      product *= face[j] / box[j];
    }
    const auto dimensions = static_cast<double>(box.size());
    return border / (dimensions * std::pow(product, 1 / dimensions));
  }

 private:
  static constexpr std::size_t kMostSteps = 256;  // others are not counted: they cross most boxes anyway
  struct Step {
    std::vector<int> far;  // by dimension, without its sign
    double weight = 0;     // of all pairs
    double pairs = 0;
    double lightest = std::numeric_limits<double>::infinity();
    double heaviest = 0;

    void add(double more) {
      weight += more;
      ++pairs;
      lightest = std::min(lightest, more);
      heaviest = std::max(heaviest, more);
    }
  };

  // The number of pairs of one offset in a dimension that are in one box.
  [[nodiscard]] double share_within(std::size_t dimension, int edge, int far) const {
    const int size = lattice_.sizes[dimension];
    if (edge == size || far == 0) return 1;
    const int pairs = lattice_.wraps[dimension] != 0 ? size : size - far;
    const int boxes = size / edge;  // a tiling's come out even
    return static_cast<double>(boxes) * std::max(0, edge - far) / pairs;
  }

  // The place that is as far from the first.
  [[nodiscard]] std::int64_t key_of(const int* one, const int* other) const {
    std::int64_t key = 0;
    for (std::size_t j = 0; j < lattice_.sizes.size(); ++j) {
      const int size = lattice_.sizes[j];
      const int far = std::abs(one[j] - other[j]);
      key = key * size + (lattice_.wraps[j] != 0 ? std::min(far, size - far) : far);
    }
    return key;
  }

  // Each pair counts twice, once from either end.
  [[nodiscard]] double pairs_there_are(const Step& step) const {
    double pairs = 1;
    for (std::size_t j = 0; j < step.far.size(); ++j) {
      const int size = lattice_.sizes[j];
      const bool wraps = lattice_.wraps[j] != 0;
      const bool one_way = step.far[j] == 0 || (wraps && 2 * step.far[j] == size);
      pairs *= (one_way ? 1 : 2) * (wraps ? size : size - step.far[j]);
    }
    return pairs;
  }

  const Lattice& lattice_;
  std::vector<Step> steps_;
};

}  // namespace

std::optional<LatticeTiling> tile_lattice(const SlotTree& tree, const Graph& graph, const Lattice& lattice) {
  constexpr std::size_t kWidth = 128;  // kinds of box; three dimensions of 32,768 vertices have half as many
  constexpr double kShort = 1.1;
  if (tree.slots() != graph.vertices()) return std::nullopt;
  const auto arities = arities_of(tree);
  if (!arities) return std::nullopt;
  std::vector<double> costs;
  costs.reserve(at(tree.levels()));
  for (int level = 0; level < tree.levels(); ++level) costs.push_back(tree.cost(level));
  const std::vector<int> coordinates = coordinates_of(lattice);
  const Stencil stencil(graph, lattice, coordinates);
  const auto cut = [&](const Box& box) { return stencil.cut(box); };
  const auto tiling = cheapest_boxes(lattice.sizes, {*arities, costs}, cut, kWidth);
  if (!tiling) return std::nullopt;
  LatticeTiling result;
  result.slot_of.assign(lattice.vertex_at.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t j = lattice.sizes.size(); j-- > 0; stride *= lattice.sizes[j]) {
    std::vector<SlotTree::Slot> share(at(lattice.sizes[j]));  // of a coordinate in the slot: each has digits of its own
    for (std::size_t i = 0; i < share.size(); ++i) {
      share[i] = static_cast<SlotTree::Slot>(leaf_in(tiling->boxes, static_cast<std::int64_t>(i) * stride));
    }
    for (std::size_t place = 0; place < lattice.vertex_at.size(); ++place) {
      result.slot_of[at(lattice.vertex_at[place])] += share[at(coordinates[place * lattice.sizes.size() + j])];
    }
  }
  result.settled =
      stencil.uniform() && std::all_of(tiling->boxes.begin() + 1, tiling->boxes.end(),
                                       [&](const Box& box) { return stencil.border_ratio(box) <= kShort; });
  return result;
}

}  // namespace ranktree::core::place::engine
