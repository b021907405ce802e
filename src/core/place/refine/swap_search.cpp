#include "core/place/refine/swap_search.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/engine/context.h"
#include "core/place/graph/graph.h"
#include "core/place/refine/swap_costs.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {
namespace {

using Slot = SlotTree::Slot;
using Group = SlotTree::Group;

// Vertices on the groups of one level (their positions), moved between the groups of the level above (their homes).
// Vertices come in blocks: for those of a block the best moves are looked for at the same time, then made one after
// another where they still help. So it does not matter how many look.
class SwapSearch {
 public:
  SwapSearch(const SlotTree& tree, int level, const Graph& graph, const Context& context, Workers& workers,
             std::vector<Group>& position_of)
      : tree_(tree),
        level_(level),
        graph_(graph),
        context_(context),
        workers_(workers),
        position_of_(position_of),
        distance_(tree, level),
        aggregates_(tree, level, graph, position_of, workers),
        vertex_at_(at(tree.groups(level)), -1),
        home_(at(tree.groups(level))),
        least_(position_of.size()),
        excess_(at(tree.groups(level)), 0),
        active_(position_of.size(), 1),
        hub_degree_(graph.hub_degree()) {
    for (Group group = 0; group < tree.groups(level); ++group) {
      home_[at(group)] = tree.group(level - 1, tree.first_slot(level, group));
    }
    spot_of_.reserve(position_of.size());
    for (const Group position : position_of) {
      vertex_at_[at(position)] = static_cast<Vertex>(spot_of_.size());
      spot_of_.push_back(spot(position));
    }
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
  // The place of a vertex, in one structure because neighbours read all of it.
  struct Spot {
    std::uint64_t path;
    Group position, home;
  };
  [[nodiscard]] Spot spot(Group position) const { return {distance_.path(position), position, home_[at(position)]}; }
  struct End {
    std::uint64_t path;
    double weight;
  };
  // What looking for moves needs, for each who looks.
  struct Desk {
    std::vector<double> tie;  // by home
    std::vector<Group> homes, places;
    std::vector<double> row;  // the arcs of the vertex at hand by their ends ...
    std::vector<End> ends;    // ... and where those are
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
      std::unique_ptr<Desk> desk = take_desk();
      for (std::size_t i = begin; i < end; ++i) moves_[i] = best_move(block[i], *desk);
      put_back(std::move(desk));
    });
    for (const Vertex vertex : block) active_[at(vertex)] = 0;
    ++stamp_;
    bool made = false;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (moves_[i].to < 0) continue;
      if (made && is_stale(block[i], moves_[i].to) && !still_helps(block[i], moves_[i].to)) {
        active_[at(block[i])] = stamp_;
        continue;
      }
      swap(block[i], moves_[i].to);
      made = true;
    }
    return made;
  }

  // One that was in use lately, so that its memory is near.
  std::unique_ptr<Desk> take_desk() {
    const std::lock_guard lock(desks_mutex_);
    if (desks_.empty()) return std::make_unique<Desk>();
    std::unique_ptr<Desk> desk = std::move(desks_.back());
    desks_.pop_back();
    return desk;
  }
  void put_back(std::unique_ptr<Desk> desk) {
    const std::lock_guard lock(desks_mutex_);
    desks_.push_back(std::move(desk));
  }

  // What the arcs of a vertex would cost at a position, an arc to the vertex there counted as within one home.
  [[nodiscard]] double cost_at(Vertex vertex, Group position) const {
    if (aggregates_.known()) return aggregates_.cost_at(vertex, position);
    double cost = 0;
    if (distance_.fit()) {
      const std::uint64_t path = distance_.path(position);
      for (const Arc& arc : graph_.arcs_of(vertex)) {
        cost += arc.weight * distance_.of_paths(path, spot_of_[at(arc.to)].path);
      }
    } else {
      for (const Arc& arc : graph_.arcs_of(vertex)) cost += arc.weight * distance_to(position, arc.to);
    }
    return cost;
  }
  // The same of the vertex at hand.
  [[nodiscard]] double cost_of_ends(Vertex vertex, Group position, const Desk& desk) const {
    if (aggregates_.known() || !distance_.fit()) return cost_at(vertex, position);
    const std::uint64_t path = distance_.path(position);
    double cost = 0;
    for (const End& end : desk.ends) cost += end.weight * distance_.of_paths(path, end.path);
    return cost;
  }
  [[nodiscard]] double weight_between(Vertex vertex, Vertex other) const {
    double weight = 0;
    for (const Arc& arc : graph_.arcs_of(other)) weight += arc.to == vertex ? arc.weight : 0;
    return weight;
  }
  [[nodiscard]] double distance_to(Group position, Vertex vertex) const {
    const Spot& there = spot_of_[at(vertex)];
    return distance_.fit() ? distance_.of_paths(distance_.path(position), there.path)
                           : distance_(position, there.position);
  }

  // The homes that a vertex is tied to, the strongest first, without its own.
  void collect_homes(Vertex vertex, Desk& desk) const {
    const Group own = spot_of_[at(vertex)].home;
    auto& homes = desk.homes;
    auto& tie = desk.tie;
    if (tie.empty()) tie.assign(at(tree_.groups(level_ - 1)), 0);
    homes.clear();
    desk.ends.clear();
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      const auto& [path, position, home] = spot_of_[at(arc.to)];
      desk.ends.push_back({path, arc.weight});
      if (home == own || arc.weight == 0) continue;
      if (tie[at(home)] == 0) homes.push_back(home);
      tie[at(home)] += arc.weight;
    }
    const auto count = std::min(homes.size(), at(context_.search_groups));
    std::partial_sort(homes.begin(), homes.begin() + static_cast<std::ptrdiff_t>(count), homes.end(),
                      [&](Group a, Group b) { return tie[at(a)] != tie[at(b)] ? tie[at(a)] > tie[at(b)] : a < b; });
    for (const Group home : homes) tie[at(home)] = 0;
    homes.resize(count);
  }

  // Vertices with very many arcs search for a place themselves; the gains of other vertices ignore those arcs.
  [[nodiscard]] bool is_hub(Vertex vertex) const {
    return !aggregates_.known() && graph_.arcs_of(vertex).size() > hub_degree_;
  }

  // What swapping with the vertex at a position gains, when a vertex alone would gain `alone` by going to that home.
  [[nodiscard]] double gain_of(Vertex vertex, Group to, double alone, const Desk* desk) const {
    const Vertex other = vertex_at_[at(to)];
    if (other < 0) return alone;
    const Group from = position_of_[at(vertex)];
    const double near = tree_.cost(level_ - 1);
    const double between = desk != nullptr ? desk->row[at(other)] : weight_between(vertex, other);
    const double there = cost_at(other, from);
    // The arc between the two costs as much after as before: both counted it as brought within one home.
    return alone + (cost_of(other) - there) - 2 * between * (distance_(from, to) - near);
  }

  // The arcs of the vertex at hand by their ends, for gain_of().
  void spread_row(Vertex vertex, bool set, Desk& desk) const {
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
    bool spread = false;
    for (const Group home : desk.homes) {
      const double alone = cost_of(vertex) - cost_of_ends(vertex, tree_.first_child(level_ - 1, home), desk);
      collect_places(home, tree_.form(level_, from), best.gain - alone, desk.places);
      if (!spread && !desk.places.empty()) {
        spread_row(vertex, true, desk);
        spread = true;
      }
      for (const Group to : desk.places) {
        const double gain = gain_of(vertex, to, alone, &desk);
        if (gain > best.gain) best = {gain, to};
      }
    }
    if (spread) spread_row(vertex, false, desk);
    return best;
  }

  // Whether a move of this block may have changed what a move gains.
  [[nodiscard]] bool is_stale(Vertex vertex, Group to) const {
    const Vertex other = vertex_at_[at(to)];
    return other < 0 || active_[at(vertex)] == stamp_ || active_[at(other)] == stamp_;
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
    spot_of_[at(vertex)] = spot(to);
    active_[at(vertex)] = stamp_;
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      active_[at(arc.to)] = stamp_;
      if (aggregates_.known()) aggregates_.move(arc.to, from, to, arc.weight);
      excess_[at(position_of_[at(arc.to)])] += arc.weight * (distance_to(to, arc.to) - distance_to(from, arc.to));
    }
  }

  const SlotTree& tree_;
  int level_;
  const Graph& graph_;
  const Context& context_;
  Workers& workers_;
  std::vector<Group>& position_of_;
  Distances distance_;
  Aggregates aggregates_;
  std::vector<Vertex> vertex_at_;
  std::vector<Group> home_;            // by position
  std::vector<Spot> spot_of_;          // by vertex
  double nearest_ = 0;                 // the lowest cost of two positions
  std::vector<double> least_;          // by vertex: what its arcs cost at least
  std::vector<double> excess_;         // by position: what the arcs of the vertex there cost above that; 0: free
  std::uint32_t stamp_ = 1;            // of the block
  std::vector<std::uint32_t> active_;  // by vertex: the stamp of the last block that woke it; 0: it rests
  std::size_t hub_degree_;
  std::mutex desks_mutex_;
  std::vector<std::unique_ptr<Desk>> desks_;
  std::vector<Move> moves_;  // of a block
};

// Once over all vertices on the groups of one level, again and again while that changes something.
void search_level(const ExchangeSearch& search, int level, const Graph& graph, std::vector<Group>& position_of) {
  SwapSearch swaps(search.tree, level, graph, search.context, search.workers, position_of);
  for (int i = 0; i < search.context.search_passes && swaps.pass(search.random); ++i) {
  }
}

// What the groups of a level hold, from what those of the next level below do (`finer`) or, without it, from the ranks.
Contents merged(const SlotTree& tree, int level, const Graph& graph, const Contents* finer,
                const std::vector<Slot>& slot_of, Workers& workers) {
  Contents contents = contents_of(tree, level, slot_of);
  std::vector<Vertex> part_of(graph.size.size());
  for (std::size_t i = 0; i < slot_of.size(); ++i) {
    part_of[finer != nullptr ? at(finer->vertex_of[i]) : i] = contents.vertex_of[i];
  }
  contents.graph = contract(graph, part_of, contents.vertices, workers);
  return contents;
}

}  // namespace

Contents contents_of(const SlotTree& tree, int level, const std::vector<Slot>& slot_of) {
  Contents contents;
  contents.vertex_of.reserve(slot_of.size());
  std::vector<Vertex> vertex_in(at(tree.groups(level)), -1);
  for (const Slot slot : slot_of) {
    Vertex& vertex = vertex_in[at(tree.group(level, slot))];
    if (vertex < 0) vertex = contents.vertices++;
    contents.vertex_of.push_back(vertex);
  }
  return contents;
}

// Contents of groups move as a whole, so that those of a level stay what they are until the search comes to its groups.
void search_groups(const ExchangeSearch& search, int lowest, Contents contents, std::vector<Slot>& slot_of) {
  const SlotTree& tree = search.tree;
  std::vector<Contents> on_level(at(lowest) + 1);
  on_level[at(lowest)] = std::move(contents);
  for (int level = lowest - 1; level >= 2; --level) {
    const Contents& finer = on_level[at(level) + 1];
    on_level[at(level)] = merged(tree, level, finer.graph, &finer, slot_of, search.workers);
  }
  for (int level = 2; level <= lowest; ++level) {
    const auto& [vertices, vertex_of, graph] = on_level[at(level)];
    if (!search.workers.go_on(static_cast<std::int64_t>(graph.arcs.size()))) return;
    std::vector<Group> position_of(at(vertices));
    for (std::size_t i = 0; i < slot_of.size(); ++i) position_of[at(vertex_of[i])] = tree.group(level, slot_of[i]);
    const std::vector<Group> before = position_of;
    search_level(search, level, graph, position_of);
    for (std::size_t i = 0; i < slot_of.size(); ++i) {
      const auto vertex = at(vertex_of[i]);
      slot_of[i] += tree.first_slot(level, position_of[vertex]) - tree.first_slot(level, before[vertex]);
    }
  }
}

void search_by_swaps(const SlotTree& tree, const Graph& graph, const Context& context, std::uint64_t seed,
                     Workers& workers, std::vector<Slot>& slot_of) {
  if (tree.levels() < 2 || !workers.go_on(static_cast<std::int64_t>(graph.arcs.size()))) return;
  Random random(seed);
  const ExchangeSearch search{tree, context, random, workers};
  const int lowest = tree.levels() - 1;
  if (lowest >= 2) search_groups(search, lowest, merged(tree, lowest, graph, nullptr, slot_of, workers), slot_of);
  if (workers.go_on(0)) search_level(search, tree.levels(), graph, slot_of);
}

double cost_of(const SlotTree& tree, const Graph& graph, const std::vector<Slot>& slot_of, Workers& workers) {
  constexpr std::size_t kBlocks = 16;  // however many threads there are: sums round the same
  std::array<double, kBlocks> costs{};
  workers.for_each(kBlocks, static_cast<std::int64_t>(graph.arcs.size() / 2), [&](int i) {
    double cost = 0;
    const auto last = static_cast<Vertex>(at(i + 1) * graph.size.size() / kBlocks);
    for (auto vertex = static_cast<Vertex>(at(i) * graph.size.size() / kBlocks); vertex < last; ++vertex) {
      for (const Arc& arc : graph.arcs_of(vertex)) {
        if (arc.to > vertex) cost += arc.weight * tree.distance(slot_of[at(vertex)], slot_of[at(arc.to)]);
      }
    }
    costs.at(at(i)) = cost;
  });
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

}  // namespace ranktree::core::place::engine
