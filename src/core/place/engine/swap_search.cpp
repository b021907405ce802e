#include "core/place/engine/swap_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/visiting_order.h"

namespace ranktree::core::place::engine {
namespace {

using Seat = SeatTree::Seat;
using Group = SeatTree::Group;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Distances between the groups of one level (positions), each called by its path from the root: what two have in common
// is in an exclusive or. O(1), or by the tree where paths do not fit 64 bits.
class Distances {
 public:
  Distances(const SeatTree& tree, int level)
      : tree_(tree), level_(level), path_(at(tree.groups(level)), 0), cost_of_bit_{tree.cost(level - 1)} {
    std::vector<int> width(at(level), 0);
    for (int i = 0; i < level; ++i) {
      for (Group group = 0; group < tree.groups(i); ++group) {
        const auto last = static_cast<std::uint32_t>(tree.child_count(i, group) - 1);
        width[at(i)] = std::max(width[at(i)], static_cast<int>(std::bit_width(last)));
      }
    }
    fits_ = std::accumulate(width.begin(), width.end(), 0) <= 64;
    if (!fits_) return;
    int bit = 0;
    for (int i = level - 1; i >= 0; --i) {
      for (Group position = 0; position < tree.groups(level); ++position) {
        const Seat seat = tree.first_seat(level, position);
        const Group child = tree.group(i + 1, seat) - tree.first_child(i, tree.group(i, seat));
        if (width[at(i)] > 0) path_[at(position)] |= static_cast<std::uint64_t>(child) << static_cast<unsigned>(bit);
      }
      for (int j = 0; j < width[at(i)]; ++j) cost_of_bit_.at(at(++bit)) = tree.cost(i);
    }
  }

  // The same position costs what another one of the same home does.
  [[nodiscard]] double operator()(Group a, Group b) const {
    if (!fits_) {
      return a == b ? tree_.cost(level_ - 1) : tree_.distance(tree_.first_seat(level_, a), tree_.first_seat(level_, b));
    }
    return cost_of_bit_[static_cast<std::size_t>(std::bit_width(path_[at(a)] ^ path_[at(b)]))];
  }

 private:
  const SeatTree& tree_;
  int level_;
  std::vector<std::uint64_t> path_;
  std::array<double, 65> cost_of_bit_;
  bool fits_ = false;
};

// The weight that ties each vertex to each group of the levels above some level, where that takes little memory: costs
// are then sums over levels instead of over arcs, which is what vertices of many arcs need.
class Aggregates {
 public:
  Aggregates(const SeatTree& tree, int level, const Graph& graph, const std::vector<Group>& position_of)
      : tree_(tree), level_(level) {
    constexpr std::size_t kAlways = std::size_t{1} << 21U;
    std::size_t groups = 0;
    for (int i = 0; i < level; ++i) groups += at(tree.groups(i));
    if (groups * position_of.size() > std::max(2 * graph.arcs.size(), kAlways)) return;
    for (int i = 0; i < level; ++i) weight_.emplace_back(position_of.size() * at(tree.groups(i)), 0.0);
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      for (const Arc& arc : graph.arcs_of(vertex)) add(vertex, position_of[at(arc.to)], arc.weight);
    }
  }

  [[nodiscard]] bool known() const { return !weight_.empty(); }

  void add(Vertex vertex, Group position, double weight) {
    const Seat seat = tree_.first_seat(level_, position);
    for (int i = 0; i < level_; ++i) {
      weight_[at(i)][at(vertex) * at(tree_.groups(i)) + at(tree_.group(i, seat))] += weight;
    }
  }

  // Arcs that end in the position's home cost what they cost within it.
  [[nodiscard]] double cost_at(Vertex vertex, Group position) const {
    const Seat seat = tree_.first_seat(level_, position);
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
// Vertices come in blocks: for those of a block the best moves are looked for at the same time, then made one after
// another where they still help. So it does not matter how many look.
class SwapSearch {
 public:
  SwapSearch(const SeatTree& tree, int level, const Graph& graph, const Effort& effort, Workers& workers,
             std::vector<Group>& position_of)
      : tree_(tree),
        level_(level),
        graph_(graph),
        effort_(effort),
        workers_(workers),
        position_of_(position_of),
        distance_(tree, level),
        aggregates_(tree, level, graph, position_of),
        vertex_at_(at(tree.groups(level)), -1),
        home_(at(tree.groups(level))),
        least_(position_of.size()),
        excess_(at(tree.groups(level)), 0),
        active_(position_of.size(), 1),
        hub_degree_(8 * graph.arcs.size() / std::max<std::size_t>(1, position_of.size()) + 16) {
    for (Group group = 0; group < tree.groups(level); ++group) {
      home_[at(group)] = tree.group(level - 1, tree.first_seat(level, group));
    }
    for (std::size_t i = 0; i < position_of.size(); ++i) vertex_at_[at(position_of[i])] = static_cast<Vertex>(i);
    nearest_ = tree.cost(level - 1);
    for (int i = 0; i + 1 < level; ++i) nearest_ = std::min(nearest_, tree.cost(i));
    workers_.for_each(kShares, steps_of(position_of.size()), [this](int share) {
      const auto [begin, end] = part_of(share, position_of_.size());
      for (std::size_t i = begin; i < end; ++i) {
        const auto vertex = static_cast<Vertex>(i);
        double weight = 0;
        for (const Arc& arc : graph_.arcs_of(vertex)) weight += arc.weight;
        least_[i] = weight * nearest_;
        excess_[at(position_of_[i])] = cost_at(vertex, position_of_[i]) - least_[i];
      }
    });
  }

  // Once over all active vertices; false when nothing changed.
  bool pass(Random& random) {
    std::vector<Vertex> order;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (active_[i] != 0) order.push_back(static_cast<Vertex>(i));
    }
    shuffle(order, random);
    const std::size_t block = std::clamp<std::size_t>(active_.size() / kBlocks, 1, kLargestBlock);
    bool any = false;
    for (std::size_t begin = 0; begin < order.size(); begin += block) {
      const std::size_t count = std::min(block, order.size() - begin);
      if (!workers_.go_on(steps_of(count))) return false;
      any = do_block({order.data() + begin, count}) || any;
    }
    return any;
  }

 private:
  static constexpr int kShares = 8;  // of a block
  static constexpr std::size_t kBlocks = 64;
  static constexpr std::size_t kLargestBlock = 1024;

  struct Move {
    double gain = 0;
    Group to = -1;
  };
  // What looking for moves needs, for each share.
  struct Desk {
    std::vector<double> tie;  // by home
    std::vector<Group> homes, places;
    std::vector<double> row;  // the arcs of the vertex at hand by their ends
  };

  static std::pair<std::size_t, std::size_t> part_of(int share, std::size_t count) {
    return {at(share) * count / kShares, at(share + 1) * count / kShares};
  }
  // About what looking for moves of so many vertices takes.
  [[nodiscard]] std::int64_t steps_of(std::size_t vertices) const {
    const auto degree = static_cast<std::int64_t>(graph_.arcs.size() / std::max<std::size_t>(1, position_of_.size()));
    return static_cast<std::int64_t>(vertices) * (degree + 1) * 8;
  }

  bool do_block(std::span<const Vertex> block) {
    moves_.assign(block.size(), Move{});
    workers_.for_each(kShares, steps_of(block.size()), [&](int share) {
      const auto [begin, end] = part_of(share, block.size());
      for (std::size_t i = begin; i < end; ++i) moves_[i] = best_move(block[i], desks_.at(at(share)));
    });
    for (const Vertex vertex : block) active_[at(vertex)] = 0;
    bool made = false;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (moves_[i].to < 0) continue;
      if (made && !still_helps(block[i], moves_[i].to)) {
        active_[at(block[i])] = 1;
        continue;
      }
      swap(block[i], moves_[i].to);
      made = true;
    }
    return made;
  }

  // What the arcs of a vertex would cost at a position, an arc to the vertex there counted as within one home.
  [[nodiscard]] double cost_at(Vertex vertex, Group position) const {
    if (aggregates_.known()) return aggregates_.cost_at(vertex, position);
    double cost = 0;
    for (const Arc& arc : graph_.arcs_of(vertex)) cost += arc.weight * distance_(position, position_of_[at(arc.to)]);
    return cost;
  }

  // The homes that a vertex is tied to, the strongest first, without its own.
  void collect_homes(Vertex vertex, Desk& desk) const {
    const Group own = home_[at(position_of_[at(vertex)])];
    auto& homes = desk.homes;
    auto& tie = desk.tie;
    if (tie.empty()) tie.assign(at(tree_.groups(level_ - 1)), 0);
    homes.clear();
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      const Group home = home_[at(position_of_[at(arc.to)])];
      if (home == own || arc.weight == 0) continue;
      if (tie[at(home)] == 0) homes.push_back(home);
      tie[at(home)] += arc.weight;
    }
    const auto count = std::min(homes.size(), at(effort_.search_groups));
    std::partial_sort(homes.begin(), homes.begin() + static_cast<std::ptrdiff_t>(count), homes.end(),
                      [&](Group a, Group b) { return tie[at(a)] != tie[at(b)] ? tie[at(a)] > tie[at(b)] : a < b; });
    for (const Group home : homes) tie[at(home)] = 0;
    homes.resize(count);
  }

  // Vertices with very many arcs look for a place themselves; nobody else counts those arcs.
  [[nodiscard]] bool is_hub(Vertex vertex) const {
    return !aggregates_.known() && graph_.arcs_of(vertex).size() > hub_degree_;
  }

  // What swapping with the vertex at a position gains, when a vertex alone would gain `alone` by going to that home.
  [[nodiscard]] double gain_of(Vertex vertex, Group to, double alone, const Desk* desk) const {
    const Vertex other = vertex_at_[at(to)];
    if (other < 0) return alone;
    const Group from = position_of_[at(vertex)];
    const double near = tree_.cost(level_ - 1);
    double there = 0;
    double between = 0;
    if (desk != nullptr && aggregates_.known()) {
      between = desk->row[at(other)];
      there = aggregates_.cost_at(other, from);
    } else {
      for (const Arc& arc : graph_.arcs_of(other)) {
        if (arc.to == vertex) between += arc.weight;
        there += arc.weight * distance_(from, position_of_[at(arc.to)]);
      }
    }
    // The arc between the two costs as much after as before: both counted it as brought within one home.
    return alone + (cost_of(other) - there) - 2 * between * (distance_(from, to) - near);
  }

  // The arcs of the vertex at hand by their ends, for gain_of().
  void spread_row(Vertex vertex, bool set, Desk& desk) const {
    if (!aggregates_.known()) return;
    if (desk.row.empty()) desk.row.assign(position_of_.size(), 0);
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      desk.row[at(arc.to)] = set ? desk.row[at(arc.to)] + arc.weight : 0;
    }
  }

  // Of its arcs, where it is.
  [[nodiscard]] double cost_of(Vertex vertex) const {
    return least_[at(vertex)] + excess_[at(position_of_[at(vertex)])];
  }
  [[nodiscard]] double least_gain(Vertex vertex) const { return 1e-12 * cost_of(vertex); }

  // The positions of a home where a swap might gain: who is there costs more than `least` above the least he could. Of
  // many, those whose swap promises most.
  void collect_places(Group home, std::int32_t form, double least, std::vector<Group>& places) const {
    constexpr std::size_t kMost = 16;
    places.clear();
    const Group first = tree_.first_child(level_ - 1, home);
    for (Group to = first; to < first + tree_.child_count(level_ - 1, home); ++to) {
      if (excess_[at(to)] <= least || tree_.form(level_, to) != form || tree_.held(level_, to)) continue;
      const Vertex other = vertex_at_[at(to)];
      if (other < 0 || !is_hub(other)) places.push_back(to);
    }
    if (places.size() <= kMost) return;
    std::nth_element(places.begin(), places.begin() + kMost, places.end(), [&](Group a, Group b) {
      return excess_[at(a)] != excess_[at(b)] ? excess_[at(a)] > excess_[at(b)] : a < b;
    });
    places.resize(kMost);
  }

  [[nodiscard]] Move best_move(Vertex vertex, Desk& desk) const {
    Move best{least_gain(vertex), -1};
    if (tree_.held(level_, position_of_[at(vertex)])) return best;
    collect_homes(vertex, desk);
    if (desk.homes.empty()) return best;
    const Group from = position_of_[at(vertex)];
    spread_row(vertex, true, desk);
    for (const Group home : desk.homes) {
      const double alone = cost_of(vertex) - cost_at(vertex, tree_.first_child(level_ - 1, home));
      collect_places(home, tree_.form(level_, from), best.gain - alone, desk.places);
      for (const Group to : desk.places) {
        const double gain = gain_of(vertex, to, alone, &desk);
        if (gain > best.gain) best = {gain, to};
      }
    }
    spread_row(vertex, false, desk);
    return best;
  }

  [[nodiscard]] bool still_helps(Vertex vertex, Group to) const {
    const Group from = position_of_[at(vertex)];
    if (home_[at(to)] == home_[at(from)] || tree_.form(level_, to) != tree_.form(level_, from)) return false;
    return gain_of(vertex, to, cost_of(vertex) - cost_at(vertex, to), nullptr) > least_gain(vertex);
  }

  void swap(Vertex vertex, Group to) {
    const Group from = position_of_[at(vertex)];
    const Vertex other = vertex_at_[at(to)];
    move(vertex, from, to);
    if (other >= 0) move(other, to, from);
    vertex_at_[at(to)] = vertex;
    vertex_at_[at(from)] = other;
    excess_[at(to)] = cost_at(vertex, to) - least_[at(vertex)];
    excess_[at(from)] = other >= 0 ? cost_at(other, from) - least_[at(other)] : 0;
  }

  // The neighbours' costs follow; of the two that swap they are counted afterwards.
  void move(Vertex vertex, Group from, Group to) {
    position_of_[at(vertex)] = to;
    active_[at(vertex)] = 1;
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      active_[at(arc.to)] = 1;
      if (aggregates_.known()) {
        aggregates_.add(arc.to, from, -arc.weight);
        aggregates_.add(arc.to, to, arc.weight);
      }
      const Group place = position_of_[at(arc.to)];
      excess_[at(place)] += arc.weight * (distance_(place, to) - distance_(place, from));
    }
  }

  const SeatTree& tree_;
  int level_;
  const Graph& graph_;
  const Effort& effort_;
  Workers& workers_;
  std::vector<Group>& position_of_;
  Distances distance_;
  Aggregates aggregates_;
  std::vector<Vertex> vertex_at_;
  std::vector<Group> home_;
  double nearest_ = 0;          // the lowest cost of two positions
  std::vector<double> least_;   // by vertex: what its arcs cost at least
  std::vector<double> excess_;  // by position: what the arcs of the vertex there cost above that; 0: nobody there
  std::vector<std::uint8_t> active_;
  std::size_t hub_degree_;
  std::array<Desk, kShares> desks_;
  std::vector<Move> moves_;  // of a block
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
                     Workers& workers, std::vector<Seat>& seat_of) {
  Random random(seed);
  for (int level = 2; level <= tree.levels(); ++level) {
    if (!workers.go_on(static_cast<std::int64_t>(graph.arcs.size()))) return;
    const bool seats = level == tree.levels();
    Occupied groups = occupied_groups(tree, level, seat_of);
    const std::vector<Group> before = groups.position_of;
    const auto count = static_cast<Vertex>(before.size());
    const Graph between = contract(graph, groups.part_of, count);
    SwapSearch search(tree, level, between, effort, workers, groups.position_of);
    for (int i = 0; i < effort.search_passes && search.pass(random); ++i) {
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
