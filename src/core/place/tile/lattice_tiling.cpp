#include "core/place/tile/lattice_tiling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"
#include "core/place/slots/slot_tree.h"
#include "core/place/tiling.h"

namespace ranktree::core::place::engine {
namespace {

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

  // The weight that crosses a face of one vertex, by dimension.
  [[nodiscard]] std::vector<double> faces() const {
    std::vector<double> face(lattice_.sizes.size(), 0);
    for (const Step& step : steps_) {
      for (std::size_t j = 0; j < face.size(); ++j) face[j] += step.weight * step.far[j];
    }
    return face;
  }

  // The border of a box over the shortest that any set of as many vertices has, at least 1.
  [[nodiscard]] double border_ratio(const Box& box) const {
    const std::vector<double> face = faces();
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

// One division by planes; places are numbers of the grid's vertices, row by row.
class PlaneDivision {
 public:
  // `coordinates`: of all places. `faces`: the weight that crosses a face of one vertex, by dimension.
  PlaneDivision(const SlotTree& tree, const Lattice& lattice, const std::vector<int>& coordinates,
                const std::vector<double>& faces, bool packed)
      : tree_(tree),
        lattice_(lattice),
        coordinates_(coordinates),
        faces_(faces),
        packed_(packed),
        slot_of_(lattice.vertex_at.size()) {}

  // By vertex.
  [[nodiscard]] std::vector<SlotTree::Slot> slots() {
    std::vector<std::int32_t> places(slot_of_.size());
    std::iota(places.begin(), places.end(), 0);
    place_below(0, 0, places);
    return std::move(slot_of_);
  }

 private:
  using Places = std::span<std::int32_t>;
  struct Plane {
    double price = std::numeric_limits<double>::infinity();
    std::int64_t before = 0;  // places before it; inside a layer by the other dimensions, the cheapest first
    std::size_t dimension = 0;
  };

  [[nodiscard]] int coordinate(std::int32_t place, std::size_t dimension) const {
    return coordinates_[at(place) * lattice_.sizes.size() + dimension];
  }

  void place_below(int level, SlotTree::Group group, Places places) {
    if (level + 1 >= tree_.levels() || places.size() == 1) {
      SlotTree::Slot slot = tree_.first_slot(level, group);
      for (const std::int32_t place : places) slot_of_[at(lattice_.vertex_at[at(place)])] = slot++;
      return;
    }
    const SlotTree::Group first = tree_.first_child(level, group);
    SlotTree::Group count = tree_.child_count(level, group);
    while (packed_ && count > 1 && std::cmp_less_equal(places.size(), capacity(level + 1, first, count - 1))) --count;
    divide(level + 1, first, count, places);
  }

  // Among so many groups of a level.
  void divide(int level, SlotTree::Group first, SlotTree::Group count, Places places) {
    if (places.empty()) return;
    if (count == 1) return place_below(level, first, places);
    const std::int64_t total = capacity(level, first, count);
    SlotTree::Group half = 1;
    while (half + 1 < count && 2 * capacity(level, first, half + 1) <= total) ++half;
    const std::int64_t left = capacity(level, first, half);
    const auto ranks = static_cast<std::int64_t>(places.size());
    const auto share =
        static_cast<std::int64_t>(static_cast<double>(ranks) * static_cast<double>(left) / static_cast<double>(total));
    const std::int64_t least = std::max<std::int64_t>(0, ranks - (total - left));
    const std::int64_t most = std::min(ranks, left);
    const auto before = at(cut(places, least, most, std::clamp(share, least, most)));
    divide(level, first, half, places.first(before));
    divide(level, first + half, count - half, places.subspan(before));
  }

  [[nodiscard]] std::int64_t capacity(int level, SlotTree::Group first, SlotTree::Group count) const {
    const SlotTree::Group last = first + count - 1;
    return tree_.first_slot(level, last) + tree_.capacity(level, last) - tree_.first_slot(level, first);
  }

  // Puts the places before the cheapest plane first; returns how many these are.
  [[nodiscard]] std::int64_t cut(Places places, std::int64_t least, std::int64_t most, std::int64_t aim) const {
    std::vector<std::vector<std::int64_t>> layers;  // places of each layer, by dimension, from the first that has some
    for (std::size_t j = 0; j < lattice_.sizes.size(); ++j) {
      const auto nearer = [&](std::int32_t a, std::int32_t b) { return coordinate(a, j) < coordinate(b, j); };
      const auto [first, last] = std::minmax_element(places.begin(), places.end(), nearer);
      const int low = coordinate(*first, j);
      std::vector<std::int64_t> count(at(coordinate(*last, j) - low) + 1, 0);
      for (const std::int32_t place : places) ++count[at(coordinate(place, j) - low)];
      layers.push_back(std::move(count));
    }
    std::vector<double> faces = faces_;
    std::vector<double> across;  // the weight that crosses a mean layer, over the number of places
    for (std::size_t j = 0; j < layers.size(); ++j) {
      const auto extent = std::ssize(layers[j]) - std::count(layers[j].begin(), layers[j].end(), 0);
      across.push_back(faces[j] / static_cast<double>(extent));
      if (lattice_.wraps[j] != 0 && extent == lattice_.sizes[j]) faces[j] *= 2;
    }
    std::vector<std::size_t> order(layers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return across[a] < across[b]; });
    Plane best;
    for (const std::size_t j : order) {
      const double step = order.size() > 1 ? across[order[order[0] == j ? 1 : 0]] : 0;
      Plane plane = plane_in(layers[j], faces[j], step, {least, most, aim});
      plane.dimension = j;
      if (plane.price < best.price) best = plane;
    }
    const auto chosen = std::find(order.begin(), order.end(), best.dimension);
    std::rotate(order.begin(), chosen, chosen + 1);
    std::nth_element(places.begin(), places.begin() + best.before, places.end(), [&](std::int32_t a, std::int32_t b) {
      for (const std::size_t j : order) {
        if (coordinate(a, j) != coordinate(b, j)) return coordinate(a, j) < coordinate(b, j);
      }
      return false;
    });
    return best.before;
  }

  struct Bounds {
    std::int64_t least;
    std::int64_t most;
    std::int64_t aim;
  };

  // Between two layers where that is within the bounds, the nearest to the aim; else inside a layer. `face`: the weight
  // that crosses a layer, `step` what crosses besides where the layer is divided, both over its number of places.
  static Plane plane_in(const std::vector<std::int64_t>& layers, double face, double step, const Bounds& bounds) {
    Plane between;
    Plane inside;
    std::int64_t before = 0;
    for (const std::int64_t count : layers) {
      const auto places = static_cast<double>(count);
      const double crossing = face * places;
      if (before < bounds.aim && bounds.aim <= before + count) {
        inside = {crossing + step * places, bounds.aim};
      }
      before += count;
      if (count == 0 || before < bounds.least || before > bounds.most) continue;
      const bool nearer = std::abs(before - bounds.aim) < std::abs(between.before - bounds.aim);
      if (std::isinf(between.price) || nearer) between = {crossing, before};
    }
    return std::isinf(between.price) ? inside : between;
  }

  const SlotTree& tree_;
  const Lattice& lattice_;
  const std::vector<int>& coordinates_;
  const std::vector<double>& faces_;
  bool packed_;
  std::vector<SlotTree::Slot> slot_of_;
};

}  // namespace

LatticePlanes divide_lattice(const SlotTree& tree, const Graph& graph, const Lattice& lattice) {
  const std::vector<int> coordinates = coordinates_of(lattice);
  const Stencil stencil(graph, lattice, coordinates);
  const std::vector<double> faces = stencil.faces();
  LatticePlanes planes{PlaneDivision(tree, lattice, coordinates, faces, true).slots(), {}, stencil.uniform()};
  if (tree.slots() > graph.vertices()) {
    planes.loose = PlaneDivision(tree, lattice, coordinates, faces, false).slots();
  }
  return planes;
}

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
