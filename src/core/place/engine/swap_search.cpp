#include "core/place/engine/swap_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {
namespace {

using Seat = SeatTree::Seat;
using Group = SeatTree::Group;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The weight that ties each vertex to each group of the levels above some level, where that takes no more memory than
// the graph: costs are then sums over levels instead of over arcs, which is what dense graphs need.
class Aggregates {
 public:
  Aggregates(const SeatTree& tree, int level, const Graph& graph, const std::vector<Group>& position_of)
      : tree_(tree), level_(level) {
    std::size_t groups = 0;
    for (int i = 0; i < level; ++i) groups += at(tree.groups(i));
    if (groups * position_of.size() > 2 * graph.arcs.size()) return;
    for (int i = 0; i < level; ++i) weight_.emplace_back(position_of.size() * at(tree.groups(i)), 0.0);
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      for (const Arc& arc : graph.arcs_of(vertex)) add(vertex, position_of[at(arc.to)], arc.weight);
    }
  }

  [[nodiscard]] bool known() const { return !weight_.empty(); }

  void add(Vertex vertex, Group position, double weight) {
    for (int i = 0; i < level_; ++i) {
      const Group group = tree_.group(i, tree_.first_seat(level_, position));
      weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(group)] += weight;
    }
  }

  // Arcs that end in the position's home cost what they cost within it.
  [[nodiscard]] double cost_at(Vertex vertex, Group position) const {
    const SeatTree::Seat seat = tree_.first_seat(level_, position);
    double cost = 0;
    double below = 0;
    for (int i = level_ - 1; i >= 0; --i) {
      const double weight = weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(tree_.group(i, seat))];
      cost += (weight - below) * tree_.cost(i);
      below = weight;
    }
    return cost;
  }

 private:
  const SeatTree& tree_;
  int level_;
  std::vector<std::vector<double>> weight_;  // level -> vertex x group
};

// Vertices on the groups of one level (their positions), moved between the groups of the level above (their homes).
class SwapSearch {
 public:
  SwapSearch(const SeatTree& tree, int level, const Graph& graph, std::vector<Group>& position_of)
      : tree_(tree),
        level_(level),
        graph_(graph),
        position_of_(position_of),
        aggregates_(tree, level, graph, position_of),
        vertex_at_(at(tree.groups(level)), -1),
        home_(at(tree.groups(level))),
        cost_(position_of.size(), -1),
        active_(position_of.size(), 1),
        tie_(at(tree.groups(level - 1)), 0),
        hub_degree_(8 * graph.arcs.size() / std::max<std::size_t>(1, position_of.size()) + 16) {
    for (Group group = 0; group < tree.groups(level); ++group) {
      home_[at(group)] = tree.group(level - 1, tree.first_seat(level, group));
    }
    for (std::size_t i = 0; i < position_of.size(); ++i) vertex_at_[at(position_of[i])] = static_cast<Vertex>(i);
  }

  // Once over all active vertices; false when nothing changed.
  bool pass(const Effort& effort, Random& random) {
    std::vector<Vertex> order(active_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    bool any = false;
    for (const Vertex vertex : order) {
      if (active_[at(vertex)] == 0) continue;
      active_[at(vertex)] = 0;
      any = try_vertex(vertex, effort) || any;
    }
    return any;
  }

 private:
  struct Move {
    double gain;
    Group to;
  };

  [[nodiscard]] double distance(Group a, Group b) const {
    return tree_.distance(tree_.first_seat(level_, a), tree_.first_seat(level_, b));
  }
  // What the arcs of a vertex would cost at a position where it is not, an arc to the vertex there counted as within
  // one home.
  [[nodiscard]] double cost_at(Vertex vertex, Group position) const {
    if (aggregates_.known()) return aggregates_.cost_at(vertex, position);
    double cost = 0;
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      const Group other = position_of_[at(arc.to)];
      cost += arc.weight * (other == position ? tree_.cost(level_ - 1) : distance(position, other));
    }
    return cost;
  }
  double cost_now(Vertex vertex) {
    double& cost = cost_[at(vertex)];
    if (cost < 0) cost = cost_at(vertex, position_of_[at(vertex)]);
    return cost;
  }

  // The homes that a vertex is tied to, the strongest first, without its own.
  void collect_homes(Vertex vertex, int most) {
    const Group own = home_[at(position_of_[at(vertex)])];
    homes_.clear();
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      const Group home = home_[at(position_of_[at(arc.to)])];
      if (home == own || arc.weight == 0) continue;
      if (tie_[at(home)] == 0) homes_.push_back(home);
      tie_[at(home)] += arc.weight;
    }
    const auto count = std::min(homes_.size(), at(most));
    std::partial_sort(homes_.begin(), homes_.begin() + static_cast<std::ptrdiff_t>(count), homes_.end(),
                      [&](Group a, Group b) { return tie_[at(a)] != tie_[at(b)] ? tie_[at(a)] > tie_[at(b)] : a < b; });
    for (const Group home : homes_) tie_[at(home)] = 0;
    homes_.resize(count);
  }

  // Vertices with very many arcs look for a place themselves; nobody else counts those arcs.
  [[nodiscard]] bool is_hub(Vertex vertex) const {
    return !aggregates_.known() && graph_.arcs_of(vertex).size() > hub_degree_;
  }

  // What swapping with the vertex at a position gains, when a vertex alone would gain `alone` by going to that home.
  double gain_of(Vertex vertex, Group to, double alone) {
    const Vertex other = vertex_at_[at(to)];
    if (other < 0) return alone;
    const Group from = position_of_[at(vertex)];
    const double far = distance(from, to);
    double there = 0;
    double between = 0;
    if (aggregates_.known()) {
      between = row_[at(other)];
      there = aggregates_.cost_at(other, from) - between * tree_.cost(level_ - 1);
    } else {
      for (const Arc& arc : graph_.arcs_of(other)) {
        if (arc.to == vertex) {
          between += arc.weight;
        } else {
          there += arc.weight * distance(from, position_of_[at(arc.to)]);
        }
      }
    }
    // The arc between the two costs as much after as before: alone counted it as brought within one home.
    return alone - between * (far - tree_.cost(level_ - 1)) + (cost_now(other) - between * far - there);
  }

  bool try_vertex(Vertex vertex, const Effort& effort) {
    collect_homes(vertex, effort.search_groups);
    if (homes_.empty()) return false;
    spread_row(vertex, true);
    const bool found = try_homes(vertex);
    spread_row(vertex, false);
    return found;
  }

  // The arcs of the vertex at hand by their ends, for gain_of().
  void spread_row(Vertex vertex, bool set) {
    if (!aggregates_.known()) return;
    if (row_.empty()) row_.assign(position_of_.size(), 0);
    for (const Arc& arc : graph_.arcs_of(vertex)) row_[at(arc.to)] = set ? row_[at(arc.to)] + arc.weight : 0;
  }

  bool try_homes(Vertex vertex) {
    const Group from = position_of_[at(vertex)];
    const double now = cost_now(vertex);
    Move best{1e-12 * now, -1};
    for (const Group home : homes_) {
      const Group first = tree_.first_child(level_ - 1, home);
      const double alone = now - cost_at(vertex, first);
      for (Group to = first; to < first + tree_.child_count(level_ - 1, home); ++to) {
        if (tree_.form(level_, to) != tree_.form(level_, from)) continue;
        const Vertex other = vertex_at_[at(to)];
        if (other >= 0 && (is_hub(other) || alone + cost_now(other) <= best.gain)) continue;
        const double gain = gain_of(vertex, to, alone);
        if (gain > best.gain) best = {gain, to};
      }
    }
    if (best.to < 0) return false;
    swap(vertex, best.to);
    return true;
  }

  void swap(Vertex vertex, Group to) {
    const Group from = position_of_[at(vertex)];
    const Vertex other = vertex_at_[at(to)];
    move(vertex, from, to);
    if (other >= 0) move(other, to, from);
    vertex_at_[at(to)] = vertex;
    vertex_at_[at(from)] = other;
  }

  // The neighbours' costs follow; where both ends move, what is cached for them is not used again.
  void move(Vertex vertex, Group from, Group to) {
    position_of_[at(vertex)] = to;
    active_[at(vertex)] = 1;
    cost_[at(vertex)] = -1;
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      active_[at(arc.to)] = 1;
      if (aggregates_.known()) {
        aggregates_.add(arc.to, from, -arc.weight);
        aggregates_.add(arc.to, to, arc.weight);
      }
      double& cost = cost_[at(arc.to)];
      const Group place = position_of_[at(arc.to)];
      if (cost < 0) continue;
      if (place == to || place == from) {
        cost = -1;
      } else {
        cost = std::max(0.0, cost + arc.weight * (distance(place, to) - distance(place, from)));
      }
    }
  }

  const SeatTree& tree_;
  int level_;
  const Graph& graph_;
  std::vector<Group>& position_of_;
  Aggregates aggregates_;
  std::vector<double> row_;
  std::vector<Vertex> vertex_at_;
  std::vector<Group> home_;
  std::vector<double> cost_;  // of a vertex's arcs now, negative: not known
  std::vector<std::uint8_t> active_;
  std::vector<double> tie_;
  std::vector<Group> homes_;
  std::size_t hub_degree_;
};

// The groups of a level that hold ranks, as vertices.
struct Occupied {
  std::vector<Vertex> part_of;
  std::vector<Group> position_of;
};

Occupied occupied_groups(const SeatTree& tree, int level, const std::vector<Seat>& seat_of) {
  Occupied result{std::vector<Vertex>(seat_of.size()), {}};
  std::vector<Vertex> vertex_of(at(tree.groups(level)), -1);
  for (std::size_t i = 0; i < seat_of.size(); ++i) {
    const Group group = tree.group(level, seat_of[i]);
    if (vertex_of[at(group)] < 0) {
      vertex_of[at(group)] = static_cast<Vertex>(result.position_of.size());
      result.position_of.push_back(group);
    }
    result.part_of[i] = vertex_of[at(group)];
  }
  return result;
}

}  // namespace

void search_by_swaps(const SeatTree& tree, const Graph& graph, const Effort& effort, std::uint64_t seed,
                     const std::function<bool()>& keep_going, std::vector<Seat>& seat_of) {
  Random random(seed);
  for (int level = 2; level <= tree.levels(); ++level) {
    const bool seats = level == tree.levels();
    Occupied groups = occupied_groups(tree, level, seat_of);
    const std::vector<Group> before = groups.position_of;
    const auto count = static_cast<Vertex>(before.size());
    const Graph between = contract(graph, groups.part_of, count);
    SwapSearch search(tree, level, between, groups.position_of);
    for (int i = 0; i < effort.search_passes && search.pass(effort, random); ++i) {
      if (keep_going && !keep_going()) break;
    }
    for (std::size_t i = 0; i < seat_of.size(); ++i) {
      const auto vertex = at(groups.part_of[i]);
      const Group now = groups.position_of[vertex];
      seat_of[i] = seats ? now : seat_of[i] - tree.first_seat(level, before[vertex]) + tree.first_seat(level, now);
    }
  }
}

double cost_of(const SeatTree& tree, const Graph& graph, const std::vector<Seat>& seat_of) {
  double cost = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const Arc& arc : graph.arcs_of(vertex)) {
      if (arc.to > vertex) cost += arc.weight * tree.distance(seat_of[at(vertex)], seat_of[at(arc.to)]);
    }
  }
  return cost;
}

}  // namespace ranktree::core::place::engine
