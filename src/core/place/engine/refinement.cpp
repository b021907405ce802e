#include "core/place/engine/refinement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/vertex_heap.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::int64_t size_of_side_zero(const Graph& graph, const Sides& sides) {
  std::int64_t size = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) size += sides[i] == 0 ? graph.size[i] : 0;
  return size;
}

double cut_of(const Graph& graph, const Sides& sides) {
  double cut = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    if (sides[at(vertex)] != 0) continue;
    for (const Arc& arc : graph.arcs_of(vertex)) cut += sides[at(arc.to)] != 0 ? arc.weight : 0;
  }
  return cut;
}

double Refinement::run(const Graph& graph, Window window, std::int64_t slack, const Effort& effort, int passes,
                       Sides& sides) {
  graph_ = &graph;
  sides_ = &sides;
  window_ = window;
  slack_ = slack;
  size_ = size_of_side_zero(graph, sides);
  for (int i = 0; i < passes && pass(effort); ++i) {
  }
  return cut_;
}

// The cut and the gains of all vertices; the heaps start with those on the border, with all when the balance is to be
// mended.
void Refinement::open_pass() {
  const bool all = window_.excess(size_) > 0;
  gain_.resize(graph_->size.size());
  locked_.assign(graph_->size.size(), 0);
  moved_.clear();
  cut_ = 0;
  for (auto& vertices : first_) vertices.clear();
  for (Vertex vertex = 0; vertex < graph_->vertices(); ++vertex) {
    const std::uint8_t side = (*sides_)[at(vertex)];
    double inside = 0;
    double outside = 0;
    for (const Arc& arc : graph_->arcs_of(vertex)) ((*sides_)[at(arc.to)] == side ? inside : outside) += arc.weight;
    gain_[at(vertex)] = outside - inside;
    cut_ += outside / 2;
    if (all || outside > 0 || inside == 0) first_[side].push_back(vertex);
  }
  for (std::size_t side = 0; side < 2; ++side) {
    heaps_[side].reset(gain_.size(), gain_.data());
    heaps_[side].fill(first_[side]);
  }
}

bool Refinement::may_leave(int side) const {
  const VertexHeap& heap = heaps_[at(side)];
  if (heap.empty()) return false;
  const std::int64_t size = graph_->size[at(heap.top())];
  const std::int64_t excess = window_.excess(size_ + (side == 0 ? -size : size));
  return excess <= slack_ || excess < window_.excess(size_);
}

// The side whose best vertex moves next; -1: none may.
int Refinement::side_to_leave() const {
  const bool zero = may_leave(0);
  const bool one = may_leave(1);
  if (window_.excess(size_) > 0) {
    if (size_ > window_.most) return zero ? 0 : -1;
    return one ? 1 : -1;
  }
  if (zero != one) return zero ? 0 : 1;
  if (!zero) return -1;
  const double gain_zero = gain_[at(heaps_[0].top())];
  const double gain_one = gain_[at(heaps_[1].top())];
  if (gain_zero != gain_one) return gain_zero > gain_one ? 0 : 1;
  return 2 * size_ > window_.least + window_.most ? 0 : 1;
}

void Refinement::move(Vertex vertex) {
  std::uint8_t& side = (*sides_)[at(vertex)];
  heaps_[side].erase(vertex);
  locked_[at(vertex)] = 1;
  moved_.push_back(vertex);
  cut_ -= gain_[at(vertex)];
  size_ += side == 0 ? -graph_->size[at(vertex)] : graph_->size[at(vertex)];
  side ^= 1U;
  for (const Arc& arc : graph_->arcs_of(vertex)) {
    if (locked_[at(arc.to)] != 0) continue;
    const std::uint8_t other = (*sides_)[at(arc.to)];
    gain_[at(arc.to)] += other == side ? -2 * arc.weight : 2 * arc.weight;
    VertexHeap& heap = heaps_[other];
    if (heap.holds(arc.to)) {
      heap.update(arc.to);
    } else {
      heap.push(arc.to);
    }
  }
}

// True when it made something better.
bool Refinement::pass(const Effort& effort) {
  open_pass();
  const std::int64_t first_excess = window_.excess(size_);
  const double first_cut = cut_;
  const double tolerance = 1e-12 * first_cut;  // what rounding may pretend
  std::int64_t best_excess = first_excess;
  double best_cut = first_cut;
  std::int64_t best_size = size_;
  std::size_t best_moves = 0;
  const auto patience = static_cast<std::size_t>(
      std::max<double>(effort.patience, effort.patience_share * static_cast<double>(gain_.size())));
  for (int side = side_to_leave(); side >= 0; side = side_to_leave()) {
    move(heaps_[at(side)].top());
    const std::int64_t excess = window_.excess(size_);
    if (excess < best_excess || (excess == best_excess && cut_ < best_cut - tolerance)) {
      best_excess = excess;
      best_cut = cut_;
      best_size = size_;
      best_moves = moved_.size();
    } else if (best_excess == 0 && moved_.size() - best_moves > patience) {
      break;
    }
  }
  while (moved_.size() > best_moves) {
    (*sides_)[at(moved_.back())] ^= 1U;
    moved_.pop_back();
  }
  cut_ = best_cut;
  size_ = best_size;
  return best_moves > 0;
}

}  // namespace ranktree::core::place::engine
