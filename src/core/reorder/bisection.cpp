#include "core/reorder/bisection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/place/placement.h"
#include "core/place/shape.h"
#include "core/reorder/grid.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using Vertex = std::int32_t;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class Bisection {
 public:
  explicit Bisection(const Grid& grid) : grid_(grid), links_(grid_affinity(grid)), side_(at(grid.vertices()), 0) {
    leaf_of_.resize(side_.size());
    for (std::size_t j = 0; j < grid.dims.size(); ++j) {
      std::vector<std::size_t> order(grid.dims.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(j),
                  order.begin() + 1 + static_cast<std::ptrdiff_t>(j));
      orders_.push_back(order);
      std::reverse(order.begin() + 1, order.end());
      if (order != orders_.back()) orders_.push_back(order);
    }
  }

  place::Placement run(const place::Shape& shape) {
    std::vector<Vertex> all(side_.size());
    std::iota(all.begin(), all.end(), Vertex{0});
    descend(shape, all);
    return {leaf_of_};
  }

 private:
  void descend(const place::Shape& shape, std::span<Vertex> vertices) {
    if (shape.children.empty()) {
      leaf_of_[at(vertices[0])] = shape.leaf;
    } else {
      share(shape.children, vertices);
    }
  }

  // Halves the children where what they hold differs least.
  void share(std::span<const place::Shape> children, std::span<Vertex> vertices) {
    if (children.size() == 1) {
      descend(children[0], vertices);
      return;
    }
    std::size_t first = 1;
    std::int64_t held = children[0].leaves;
    const auto whole = static_cast<std::int64_t>(vertices.size());
    while (first + 1 < children.size() && 2 * held + children[first].leaves <= whole) held += children[first++].leaves;
    cut(vertices, at(held));
    share(children.first(first), vertices.first(at(held)));
    share(children.subspan(first), vertices.subspan(at(held)));
  }

  // Brings those vertices to the front that are best cut off.
  void cut(std::span<Vertex> vertices, std::size_t held) {
    std::vector<Vertex> best;
    double least = 0;
    std::vector<Vertex> work(vertices.begin(), vertices.end());
    for (const std::vector<std::size_t>& order : orders_) {
      sort(work, order);
      const double links = links_cut(work, held);
      if (!best.empty() && links >= least) continue;
      best = work;
      least = links;
    }
    std::copy(best.begin(), best.end(), vertices.begin());
  }

  // By coordinates, those in `order` first; vertices of one row or plane then lie one after the other.
  void sort(std::vector<Vertex>& vertices, const std::vector<std::size_t>& order) const {
    std::vector<std::int64_t> key(vertices.size());
    std::vector<std::size_t> index(vertices.size());
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      index[i] = i;
      for (const std::size_t j : order) key[i] = key[i] * grid_.dims[j] + coordinate(vertices[i], j);
    }
    std::sort(index.begin(), index.end(), [&](std::size_t a, std::size_t b) { return key[a] < key[b]; });
    std::vector<Vertex> sorted;
    sorted.reserve(vertices.size());
    for (const std::size_t i : index) sorted.push_back(vertices[i]);
    vertices.swap(sorted);
  }

  [[nodiscard]] int coordinate(Vertex vertex, std::size_t dimension) const {
    for (std::size_t j = grid_.dims.size() - 1; j > dimension; --j) vertex /= grid_.dims[j];
    return vertex % grid_.dims[dimension];
  }

  double links_cut(std::span<const Vertex> vertices, std::size_t held) {
    ++stamp_;
    for (const Vertex vertex : vertices.first(held)) side_[at(vertex)] = 2 * stamp_;
    for (const Vertex vertex : vertices.subspan(held)) side_[at(vertex)] = 2 * stamp_ + 1;
    double links = 0;
    for (const Vertex vertex : vertices.first(held)) {
      const auto neighbours = links_.neighbours(vertex);
      const auto weights = links_.weights_of(vertex);
      for (std::size_t i = 0; i < neighbours.size(); ++i) {
        if (side_[at(neighbours[i])] == 2 * stamp_ + 1) links += weights[i];
      }
    }
    return links;
  }

  const Grid& grid_;
  pattern::Affinity links_;
  std::vector<std::vector<std::size_t>> orders_;  // of dimensions
  std::vector<std::int64_t> side_;                // of the cut with this stamp
  std::int64_t stamp_ = 0;
  std::vector<topo::Leaf> leaf_of_;
};

}  // namespace

place::Placement bisect(const topo::Tree& tree, const Grid& grid) { return Bisection(grid).run(place::shape_of(tree)); }

}  // namespace ranktree::core::reorder
