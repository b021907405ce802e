#include "core/place/engine/exact_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/swap_search.h"

namespace ranktree::core::place::engine {
namespace {

using Seat = SeatTree::Seat;
using Group = SeatTree::Group;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class ExactSearch {
 public:
  ExactSearch(const SeatTree& tree, const Graph& graph, Workers& workers, std::vector<Seat>& best)
      : tree_(tree),
        graph_(graph),
        best_(best),
        best_cost_(cost_of(tree, graph, best, workers)),
        seat_of_(best.size(), -1) {
    for (int level = 0; level < tree.levels(); ++level) least_ = std::min(least_, tree.cost(level));
    if (tree.levels() == 0) least_ = 0;
    used_.resize(at(tree.levels()) + 1);
    order_vertices();
  }

  void run() { place(0, 0); }

 private:
  // Pinned ranks, which stay where they are.
  [[nodiscard]] bool held(Vertex vertex) const { return tree_.held(tree_.levels(), best_[at(vertex)]); }

  // Those who stay, then the heaviest, then the most strongly tied to those before it. rest_[i]: the least that arcs
  // with an end at order_[i] or later can cost.
  void order_vertices() {
    const Vertex count = graph_.vertices();
    std::vector<double> tie(at(count), 0);
    std::vector<std::uint8_t> taken(at(count), 0);
    for (Vertex vertex = 0; vertex < count; ++vertex) {
      for (const Arc& arc : graph_.arcs_of(vertex)) tie[at(vertex)] += 1e-9 * arc.weight;
      if (held(vertex)) tie[at(vertex)] = std::numeric_limits<double>::infinity();
    }
    rest_.assign(at(count) + 1, 0);
    for (Vertex step = 0; step < count; ++step) {
      Vertex next = -1;
      for (Vertex vertex = 0; vertex < count; ++vertex) {
        if (taken[at(vertex)] == 0 && (next < 0 || tie[at(vertex)] > tie[at(next)])) next = vertex;
      }
      taken[at(next)] = 1;
      order_.push_back(next);
      for (const Arc& arc : graph_.arcs_of(next)) {
        tie[at(arc.to)] += arc.weight;
        if (taken[at(arc.to)] != 0) rest_[at(step)] += arc.weight * least_;
      }
    }
    for (Vertex step = count; step-- > 0;) rest_[at(step)] += rest_[at(step) + 1];
  }

  void place(std::size_t step, double cost) {
    if (step == order_.size()) {
      if (cost >= best_cost_) return;
      best_cost_ = cost;
      best_ = seat_of_;
      return;
    }
    if (held(order_[step])) {
      try_seat(step, cost, best_[at(order_[step])]);
    } else {
      try_below(step, cost, 0, 0);
    }
  }

  int& used(int level, Group group) { return used_[at(level)][group]; }

  void try_below(std::size_t step, double cost, int level, Group group) {
    if (level == tree_.levels()) {
      try_seat(step, cost, group);
      return;
    }
    std::vector<std::int32_t> empty_forms;
    const Group first = tree_.first_child(level, group);
    const Group end = first + tree_.child_count(level, group);
    for (Group child = first; child < end; ++child) {
      const int held = used(level + 1, child);
      if (held == tree_.capacity(level + 1, child)) continue;
      if (held == 0) {
        const std::int32_t form = tree_.form(level + 1, child);
        if (std::find(empty_forms.begin(), empty_forms.end(), form) != empty_forms.end()) continue;
        empty_forms.push_back(form);
      }
      try_below(step, cost, level + 1, child);
    }
  }

  void try_seat(std::size_t step, double cost, Seat seat) {
    const Vertex vertex = order_[step];
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      if (seat_of_[at(arc.to)] >= 0) cost += arc.weight * tree_.distance(seat, seat_of_[at(arc.to)]);
    }
    if (cost + rest_[step + 1] >= best_cost_) return;
    count_seat(seat, 1);
    seat_of_[at(vertex)] = seat;
    place(step + 1, cost);
    seat_of_[at(vertex)] = -1;
    count_seat(seat, -1);
  }

  void count_seat(Seat seat, int amount) {
    for (int level = 0; level <= tree_.levels(); ++level) used(level, tree_.group(level, seat)) += amount;
  }

  const SeatTree& tree_;
  const Graph& graph_;
  std::vector<Seat>& best_;
  double best_cost_;
  std::vector<Seat> seat_of_;
  double least_ = std::numeric_limits<double>::max();
  std::vector<std::unordered_map<Group, int>> used_;  // level -> group -> ranks there
  std::vector<Vertex> order_;
  std::vector<double> rest_;
};

}  // namespace

void search_exactly(const SeatTree& tree, const Graph& graph, Workers& workers, std::vector<Seat>& seat_of) {
  ExactSearch(tree, graph, workers, seat_of).run();
}

}  // namespace ranktree::core::place::engine
