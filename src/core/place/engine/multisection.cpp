#include "core/place/engine/multisection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/bisection.h"
#include "core/place/engine/exact_bisection.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/pair_refinement.h"
#include "core/place/engine/refinement.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The seed of a part of the work, the same in whatever order the parts are done.
std::uint64_t seed_of(std::uint64_t seed, std::uint64_t part) {
  return Random(seed + 0x632be59bd9b4e019U * part).next();
}

}  // namespace

std::vector<SeatTree::Seat> Multisection::place(const Piece& guide, std::uint64_t seed) {
  seat_of_.assign(guide.name.size(), -1);
  place_below(0, 0, guide.graph, guide.name, seed);
  return std::move(seat_of_);
}

std::vector<Multisection::Child> Multisection::children_for(int level, SeatTree::Group group,
                                                            std::int64_t ranks) const {
  std::vector<Child> children;
  const SeatTree::Group first = tree_.first_child(level, group);
  children.reserve(at(tree_.child_count(level, group)));
  for (SeatTree::Group i = 0; i < tree_.child_count(level, group); ++i) {
    children.push_back({first + i, tree_.capacity(level + 1, first + i)});
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.capacity > b.capacity; });
  if (spread_ == Spread::kLoose) return children;
  std::size_t needed = 0;
  for (std::int64_t held = 0; held < ranks; ++needed) held += children[needed].capacity;
  children.resize(needed);
  return children;
}

bool Multisection::stop() {
  stopped_ = stopped_ || (keep_going_ && !keep_going_());
  return stopped_;
}

// Each child takes as many as it has seats, in order.
void Multisection::fill(std::span<const Child> children, Vertex first, std::span<const Vertex> name) {
  std::size_t child = 0;
  std::int64_t held = 0;
  for (const Vertex vertex : name) {
    if (held == children[child].capacity) {
      ++child;
      held = 0;
    }
    part_of_[at(vertex)] = first + static_cast<Vertex>(child);
    ++held;
  }
}

// The best of several bisections.
Sides Multisection::best_division(const Guide& graph, Window window, std::int64_t aim) {
  Sides best;
  if (graph.vertices() <= kExactVertices && window.least == window.most) {
    bisect_exactly(graph, static_cast<int>(window.least), 2000, best);
    return best;
  }
  double best_cut = 0;
  Sides next;
  for (int i = 0; i < effort_.repeats; ++i) {
    const double cut = bisection_.divide(graph, window, aim, next);
    if (i > 0 && cut >= best_cut) continue;
    best_cut = cut;
    std::swap(best, next);
  }
  return best;
}

// Bisects until one child is left for each part; part_of_[name] becomes its index, `first` that of the first child.
void Multisection::divide(std::span<const Child> children, Vertex first, const Guide& graph,
                          std::span<const Vertex> name, std::uint64_t seed) {
  if (children.size() == 1 || name.empty() || stop()) {
    fill(children, first, name);
    return;
  }
  std::int64_t total = 0;
  for (const Child& child : children) total += child.capacity;
  std::size_t half = 0;
  std::int64_t left = 0;
  while (half + 1 < children.size() && 2 * (left + children[half].capacity) <= total) left += children[half++].capacity;
  if (half == 0) left = children[half++].capacity;

  const auto ranks = static_cast<std::int64_t>(name.size());
  const Window window{std::max<std::int64_t>(0, ranks - (total - left)), std::min(ranks, left)};
  const auto share =
      static_cast<std::int64_t>(static_cast<double>(ranks) * static_cast<double>(left) / static_cast<double>(total));
  bisection_.reseed(seed);
  const Sides sides = best_division(graph, window, std::clamp(share, window.least, window.most));
  const std::vector<Vertex> part(sides.begin(), sides.end());
  const auto pieces = pieces_of(graph, name, part, 2);
  divide(children.first(half), first, pieces[0].graph, pieces[0].name, seed_of(seed, 1));
  divide(children.subspan(half), first + static_cast<Vertex>(half), pieces[1].graph, pieces[1].name, seed_of(seed, 2));
}

void Multisection::place_below(int level, SeatTree::Group group, const Guide& graph, std::span<const Vertex> name,
                               std::uint64_t seed) {
  const auto ranks = static_cast<std::int64_t>(name.size());
  if (ranks == 0) return;
  if (level + 1 >= tree_.levels() || ranks == 1) {  // all seats below are equally far from each other
    SeatTree::Seat seat = tree_.first_seat(level, group);
    for (const Vertex vertex : name) seat_of_[at(vertex)] = seat++;
    return;
  }
  const std::vector<Child> children = children_for(level, group, ranks);
  if (children.size() == 1) {
    place_below(level + 1, children.front().group, graph, name, seed);
    return;
  }
  std::vector<Vertex> self(name.size());
  std::iota(self.begin(), self.end(), 0);
  part_of_.assign(name.size(), 0);
  divide(children, 0, graph, self, seed);
  std::vector<Vertex> part_of = std::move(part_of_);
  if (effort_.pair_rounds > 0 && children.size() > 2 && !stop()) {
    std::vector<std::int64_t> capacities;
    capacities.reserve(children.size());
    for (const Child& child : children) capacities.push_back(child.capacity);
    bisection_.reseed(seed_of(seed, 3));
    refine_pairs(graph, capacities, effort_.pair_rounds, bisection_, part_of);
  }
  const auto pieces = pieces_of(graph, name, part_of, static_cast<Vertex>(children.size()));
  for (std::size_t i = 0; i < children.size(); ++i) {
    place_below(level + 1, children[i].group, pieces[i].graph, pieces[i].name, seed_of(seed, 4 + i));
  }
}

}  // namespace ranktree::core::place::engine
