#include "core/place/divide/bisection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/workers.h"
#include "core/place/divide/coarsening.h"
#include "core/place/divide/refinement.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

constexpr std::int64_t kCoarsest = 60;  // vertices at which coarsening ends
constexpr int kGrowths = 6;             // first divisions of the coarsest graph, at most
constexpr int kPasses = 4;              // of refinement on each graph

std::int64_t largest(const Guide& graph) { return *std::max_element(graph.size.begin(), graph.size.end()); }

}  // namespace

// False when the graph is small already or does not shrink.
bool Bisection::coarsen_once(const Guide& graph, std::size_t level) {
  if (graph.vertices() <= kCoarsest) return false;
  if (level == coarse_.size()) coarse_.emplace_back();
  const std::int64_t most = std::max<std::int64_t>(2, std::min(size_ / 20, 3 * size_ / kCoarsest));
  coarsening_.run(graph, total_of(level), most, random_, coarse_[level]);
  return coarse_[level].graph.vertices() <= 0.95 * graph.vertices();
}

// The coarsest graph, so many levels above the graph itself.
const Guide& Bisection::coarsen(const Guide& graph, std::size_t& level) {
  const Guide* smallest = &graph;
  while (go_on(*smallest) && coarsen_once(*smallest, level)) smallest = &coarse_[level++].graph;
  return *smallest;
}

// The vertex with the strongest ties, or the next that has none; -1: all were looked at.
Vertex Bisection::next_to_grow(const Sides& sides, std::size_t first, std::size_t& scanned) {
  const std::size_t count = sides.size();
  if (queue_.empty()) {
    while (scanned < count && (sides[(first + scanned) % count] == 0 || refused_[(first + scanned) % count] != 0)) {
      ++scanned;
    }
    if (scanned == count) return -1;
    return static_cast<Vertex>((first + scanned) % count);
  }
  const Vertex vertex = queue_.top();
  queue_.erase(vertex);
  return vertex;
}

void Bisection::join_side(const Guide& graph, Vertex vertex, Sides& sides) {
  sides[at(vertex)] = 0;
  for (const GuideArc& arc : graph.arcs_of(vertex)) {
    if (sides[at(arc.to)] == 0 || refused_[at(arc.to)] != 0) continue;
    tie_[at(arc.to)] += 2 * arc.weight;
    if (queue_.holds(arc.to)) {
      queue_.update(arc.to);
    } else {
      queue_.push(arc.to);
    }
  }
}

// Side 0 grows from a random vertex by the vertex with the strongest ties to it less those to the rest, to the size
// nearest to the aim. O(arcs log vertices).
void Bisection::grow(const Guide& graph, std::size_t level, std::int64_t aim, Sides& sides) {
  const std::size_t count = graph.size.size();
  sides.assign(count, 1);
  refused_.assign(count, 0);
  tie_.resize(count);
  std::transform(total_of(level).begin(), total_of(level).end(), tie_.begin(), [](double total) { return -total; });
  queue_.reset(count, tie_.data());
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

// The best of some growths: of what is outside the window the least, then the smallest cut, which it returns.
double Bisection::first_division(const Guide& graph, std::size_t level, Window window, std::int64_t aim, Sides& sides) {
  constexpr std::int64_t kStart = 48;  // ranks; one start more for so many
  double best_cut = 0;
  std::int64_t best_excess = -1;
  const std::int64_t slack = largest(graph);
  const Window soft = window.widened(slack > 1 ? slack / 2 : 0);
  const int starts = std::clamp(static_cast<int>(size_ / kStart), 2, kGrowths);
  for (int start = 0; start < starts; ++start) {
    grow(graph, level, aim, next_);
    const double cut = refinement_.run(graph, {total_of(level), {}}, soft, slack, kPasses + 1, next_);
    const std::int64_t excess = soft.excess(size_of_side_zero(graph, next_));
    if (best_excess >= 0 && (excess > best_excess || (excess == best_excess && cut >= best_cut))) continue;
    best_cut = cut;
    best_excess = excess;
    std::swap(sides, next_);
  }
  return best_cut;
}

// `known`: the coarser graph's last refinement has found the vertices that are tied to their own side only.
double Bisection::refine_projected(const Guide& finer, std::size_t level, Window window, bool known, Sides& sides) {
  const auto& part_of = coarse_[level].part_of;
  projected_.resize(part_of.size());
  inner_.resize(known ? part_of.size() : 0);
  workers_.for_ranges(part_of.size(), finer.vertices(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; known && i < last; ++i) inner_[i] = refinement_.is_inner(part_of[i]);
    for (std::size_t i = first; i < last; ++i) projected_[i] = sides[at(part_of[i])];
  });
  std::swap(sides, projected_);
  const std::int64_t slack = level == 0 ? 1 : largest(finer);
  const Window allowed = window.widened(slack == 1 ? 0 : slack / 2);
  return refinement_.run(finer, {total_of(level), inner_}, allowed, slack, kPasses, sides);
}

// `sides` belongs to the smallest graph and ends up belonging to `graph`, unless the workers are to stop.
double Bisection::refine_upwards(const Guide& graph, std::size_t coarser, Window window, Sides& sides) {
  double cut = 0;
  for (std::size_t i = coarser; i-- > 0;) {
    const Guide& finer = i == 0 ? graph : coarse_[i - 1].graph;
    if (!go_on(finer)) break;
    cut = refine_projected(finer, i, window, i + 1 < coarser, sides);
  }
  return cut;
}

bool Bisection::go_on(const Guide& graph) { return workers_.go_on(static_cast<std::int64_t>(graph.arcs.size())); }

double Bisection::any_division(const Guide& graph, std::int64_t aim, Sides& sides) {
  sides.assign(graph.size.size(), 1);
  std::fill(sides.begin(), sides.begin() + aim, std::uint8_t{0});
  return cut_of(graph, sides);
}

std::span<const double> Bisection::total_of(std::size_t level) const {
  return level == 0 ? total_ : coarse_[level - 1].total;
}

double Bisection::divide(const Guide& graph, std::span<const double> total, Window window, std::int64_t aim,
                         Sides& sides) {
  size_ = std::accumulate(graph.size.begin(), graph.size.end(), std::int64_t{0});
  total_ = total;
  std::size_t level = 0;
  const Guide& smallest = coarsen(graph, level);
  if (!go_on(smallest)) return any_division(graph, aim, sides);
  first_division(smallest, level, window, aim, sides);
  if (level > 0) {
    const double cut = refine_upwards(graph, level, window, sides);
    return go_on(smallest) ? cut : any_division(graph, aim, sides);
  }
  if (window.excess(size_of_side_zero(graph, sides)) == 0) return cut_of(graph, sides);
  return refinement_.run(graph, {total_, {}}, window, largest(graph), kPasses, sides);
}

Bisections::Loan Bisections::lend(std::uint64_t seed) {
  std::unique_ptr<Bisection> bisection;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      bisection = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!bisection) bisection = std::make_unique<Bisection>(workers_);
  bisection->reseed(seed);
  return {bisection.release(), Return{this}};
}

void Bisections::Return::operator()(Bisection* bisection) const {
  std::unique_ptr<Bisection> mine(bisection);
  const std::lock_guard lock(owner->mutex_);
  try {
    owner->free_.push_back(std::move(mine));
  } catch (const std::bad_alloc&) {  // a deleter does not throw: what finds no memory in the list is freed
    mine.reset();
  }
}

}  // namespace ranktree::core::place::engine
