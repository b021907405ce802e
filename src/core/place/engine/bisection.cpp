#include "core/place/engine/bisection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/place/engine/coarsening.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::int64_t largest(const Graph& graph) { return *std::max_element(graph.size.begin(), graph.size.end()); }

}  // namespace

// Graphs of falling size, the smallest last; empty when the graph is small already or does not shrink.
std::vector<Bisection::Sized> Bisection::coarsen(const Graph& graph, const Sides* sides) {
  std::vector<Sized> sizes;
  const Graph* last = &graph;
  const std::int64_t total = graph.total_size();
  const std::int64_t most = std::max<std::int64_t>(2, std::min(total / 20, 3 * total / effort_.coarsest));
  Sides own;
  while (last->vertices() > effort_.coarsest) {
    Matching matching = match_heavy_edges(*last, most, sides, random_);
    if (matching.parts > 0.95 * last->vertices()) break;
    Graph next = contract(*last, matching.part_of, matching.parts);
    if (sides != nullptr) {
      Sides coarse(at(matching.parts));
      for (std::size_t i = 0; i < sides->size(); ++i) coarse[at(matching.part_of[i])] = (*sides)[i];
      own = std::move(coarse);
      sides = &own;
    }
    sizes.push_back({std::move(next), std::move(matching.part_of)});
    last = &sizes.back().graph;
  }
  return sizes;
}

// The vertex with the strongest ties, or the next that has none; -1: all were looked at.
Vertex Bisection::next_to_grow(const Sides& sides, std::size_t first, std::size_t& scanned) {
  const std::size_t count = sides.size();
  if (heap_.empty()) {
    while (scanned < count && (sides[(first + scanned) % count] == 0 || refused_[(first + scanned) % count] != 0)) {
      ++scanned;
    }
    if (scanned == count) return -1;
    return static_cast<Vertex>((first + scanned) % count);
  }
  const Vertex vertex = heap_.top();
  heap_.erase(vertex);
  return vertex;
}

void Bisection::join_side(const Graph& graph, Vertex vertex, Sides& sides) {
  sides[at(vertex)] = 0;
  for (const Arc& arc : graph.arcs_of(vertex)) {
    if (sides[at(arc.to)] == 0 || refused_[at(arc.to)] != 0) continue;
    tie_[at(arc.to)] += 2 * arc.weight;
    if (heap_.holds(arc.to)) {
      heap_.update(arc.to);
    } else {
      heap_.push(arc.to);
    }
  }
}

// Side 0 grows from a random vertex by the vertex with the strongest ties to it less those to the rest, to the size
// nearest to the aim. O(arcs log vertices).
void Bisection::grow(const Graph& graph, std::int64_t aim, Sides& sides) {
  const std::size_t count = graph.size.size();
  sides.assign(count, 1);
  tie_.assign(count, 0);
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const Arc& arc : graph.arcs_of(vertex)) tie_[at(vertex)] -= arc.weight;
  }
  heap_.reset(count, tie_.data());
  refused_.assign(count, 0);
  const std::size_t first = random_.below(count);
  std::size_t scanned = 0;
  std::int64_t size = 0;
  while (size < aim) {
    const Vertex vertex = next_to_grow(sides, first, scanned);
    if (vertex < 0) break;
    const std::int64_t over = size + graph.size[at(vertex)] - aim;
    if (over > aim - size) {
      refused_[at(vertex)] = 1;
      continue;
    }
    size += graph.size[at(vertex)];
    join_side(graph, vertex, sides);
  }
}

void Bisection::first_division(const Graph& graph, Window window, std::int64_t aim, Sides& sides) {
  double best_cut = 0;
  std::int64_t best_excess = -1;
  const std::int64_t slack = largest(graph);
  const Window soft = window.widened(slack > 1 ? slack / 2 : 0);
  Sides next;
  for (int start = 0; start < effort_.starts; ++start) {
    grow(graph, aim, next);
    const double cut = refinement_.run(graph, soft, slack, effort_, effort_.passes + 1, next);
    const std::int64_t excess = soft.excess(size_of_side_zero(graph, next));
    if (best_excess >= 0 && (excess > best_excess || (excess == best_excess && cut >= best_cut))) continue;
    best_cut = cut;
    best_excess = excess;
    sides = next;
  }
}

// `sides` belongs to the smallest graph and ends up belonging to `graph`.
double Bisection::refine_upwards(const Graph& graph, const std::vector<Sized>& sizes, Window window, Sides& sides) {
  double cut = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const Graph& finer = i == 0 ? graph : sizes[i - 1].graph;
    Sides projected(finer.size.size());
    for (std::size_t vertex = 0; vertex < projected.size(); ++vertex) {
      projected[vertex] = sides[at(sizes[i].part_of[vertex])];
    }
    sides = std::move(projected);
    const std::int64_t slack = largest(finer);
    const std::int64_t soft = i == 0 || slack == 1 ? 0 : slack / 2;
    cut = refinement_.run(finer, window.widened(soft), slack, effort_, effort_.passes, sides);
  }
  if (!sizes.empty()) return cut;
  if (window.excess(size_of_side_zero(graph, sides)) == 0) return cut_of(graph, sides);
  return refinement_.run(graph, window, largest(graph), effort_, effort_.passes, sides);
}

double Bisection::divide_once(const Graph& graph, Window window, std::int64_t aim, Sides& sides) {
  const std::vector<Sized> sizes = coarsen(graph, nullptr);
  first_division(sizes.empty() ? graph : sizes.back().graph, window, aim, sides);
  return refine_upwards(graph, sizes, window, sides);
}

Sides Bisection::divide(const Graph& graph, Window window, std::int64_t aim) {
  Sides best;
  double best_cut = 0;
  Sides next;
  for (int i = 0; i < effort_.repeats; ++i) {
    const double cut = divide_once(graph, window, aim, next);
    if (i > 0 && cut >= best_cut) continue;
    best_cut = cut;
    best = next;
  }
  return best;
}

bool Bisection::improve(const Graph& graph, Window window, Sides& sides) {
  const double before = cut_of(graph, sides);
  if (before == 0) return false;
  const std::vector<Sized> sizes = coarsen(graph, &sides);
  Sides next = sides;
  for (const Sized& size : sizes) {
    Sides coarse(size.graph.size.size());
    for (std::size_t i = 0; i < next.size(); ++i) coarse[at(size.part_of[i])] = next[i];
    next = std::move(coarse);
  }
  const Graph& smallest = sizes.empty() ? graph : sizes.back().graph;
  refinement_.run(smallest, window, largest(smallest), effort_, effort_.passes, next);
  const double after = refine_upwards(graph, sizes, window, next);
  if (after >= before * (1 - 1e-12) || window.excess(size_of_side_zero(graph, next)) > 0) return false;
  sides = std::move(next);
  return true;
}

}  // namespace ranktree::core::place::engine
