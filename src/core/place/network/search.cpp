#include "core/place/network/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/refine/annealing.h"

namespace ranktree::core::place::network {
namespace {

using engine::Arc;
using engine::Graph;
using engine::Vertex;

constexpr int kNone = -1;
constexpr double kGain = 1e-9;  // of what an exchange touches: less is rounding

// The nodes near each node, found at the first query.
class NearNodes {
 public:
  NearNodes(const Distances& distances, int most)
      : distances_(distances), most_(most), near_(at(distances.nodes())), known_(near_.size(), 0) {}

  std::span<const int> of(int node) {
    if (std::exchange(known_[at(node)], std::uint8_t{1}) == 0)
      near_[at(node)] = distances_.interconnect().near(node, most_);
    return near_[at(node)];
  }

 private:
  const Distances& distances_;
  int most_;
  std::vector<std::vector<int>> near_;
  std::vector<std::uint8_t> known_;
};

// The space of single ranks: places are slots, vertices are ranks.
class SlotSpace {
 public:
  SlotSpace(const Distances& distances, int near) : distances_(distances), near_(distances, near) {}

  [[nodiscard]] int places() const { return distances_.slots(); }
  [[nodiscard]] double distance(int a, int b) const { return distances_.distance(a, b); }
  [[nodiscard]] static bool alike(int /*a*/, int /*b*/) { return true; }
  template <class Visit>
  void visit_near(int place, Visit visit) {
    visit_node(distances_.node(place), visit);
    for (const int node : near_.of(distances_.node(place))) visit_node(node, visit);
  }

 private:
  template <class Visit>
  void visit_node(int node, Visit visit) {
    const Slot end = distances_.first_slot(node) + distances_.capacity(node);
    for (Slot slot = distances_.first_slot(node); slot < end; ++slot) visit(slot);
  }

  const Distances& distances_;
  NearNodes near_;
};

// The space of whole nodes: places are nodes, a vertex is all that a node holds.
class NodeSpace {
 public:
  NodeSpace(const Distances& distances, int near) : distances_(distances), near_(distances, near) {}

  [[nodiscard]] int places() const { return distances_.nodes(); }
  [[nodiscard]] double distance(int a, int b) const { return a == b ? 0 : distances_.between(a, b); }
  [[nodiscard]] bool alike(int a, int b) const { return distances_.form(a) == distances_.form(b); }
  [[nodiscard]] std::span<const int> near(int place) { return near_.of(place); }
  template <class Visit>
  void visit_near(int place, Visit visit) {
    visit(place);
    for (const int node : near_.of(place)) visit(node);
  }

 private:
  const Distances& distances_;
  NearNodes near_;
};

// The vertex at each place, and the gains of exchanges.
template <class Space>
class Exchange {
 public:
  Exchange(Space& space, const Graph& graph, std::vector<std::uint8_t> fixed, std::vector<int>& place_of)
      : space_(space),
        graph_(graph),
        fixed_(std::move(fixed)),
        place_of_(place_of),
        held_(at(space.places()), kNone),
        hub_degree_(graph.hub_degree()) {
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      held_[at(place_of_[at(vertex)])] = vertex;
      here_.push_back(cost_at(vertex, place_of_[at(vertex)]));
    }
  }

  Space& space() { return space_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] int place(Vertex vertex) const { return place_of_[at(vertex)]; }
  [[nodiscard]] bool is_fixed(Vertex vertex) const { return !fixed_.empty() && fixed_[at(vertex)] != 0; }
  // Hubs move in their own turns only.
  [[nodiscard]] bool may_move(Vertex vertex, int target) const {
    const int other = held_[at(target)];
    const bool yields = other == kNone || (!is_fixed(other) && graph_.arcs_of(other).size() <= hub_degree_);
    return target != place(vertex) && yields && space_.alike(place(vertex), target);
  }

  // The cost of a vertex at another place, with its partners where they are.
  [[nodiscard]] double cost_at(Vertex vertex, int target) const {
    double sum = 0;
    for (const Arc& arc : graph_.arcs_of(vertex)) sum += arc.weight * space_.distance(target, place_of_[at(arc.to)]);
    return sum;
  }

  // How much the cost falls when the vertex and the vertex at `target`, if any, exchange places. Gains up to `floor`
  // need not be exact.
  [[nodiscard]] double gain(Vertex vertex, int target, double floor) const {
    const int source = place(vertex);
    const int other = held_[at(target)];
    double there = 0;
    const double most = here_[at(vertex)] + (other == kNone ? 0 : here_[at(other)]) - floor;
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      there += arc.weight * space_.distance(arc.to == other ? source : target, place_of_[at(arc.to)]);
      // The distance of the exchanged pair does not change, and is counted so from both ends.
      if (there >= most) return floor;
    }
    if (other == kNone) return here_[at(vertex)] - there;
    double back = 0;
    for (const Arc& arc : graph_.arcs_of(other)) {
      back += arc.weight * space_.distance(arc.to == vertex ? target : source, place_of_[at(arc.to)]);
    }
    return here_[at(vertex)] - there + here_[at(other)] - back;
  }

  // Exchanges them; returns the vertex that was at `target`, or kNone.
  int move(Vertex vertex, int target) {
    const int source = place(vertex);
    const int other = held_[at(target)];
    put(vertex, target);
    held_[at(source)] = kNone;
    if (other != kNone) put(other, source);
    held_[at(target)] = vertex;
    update_partners(vertex, source, target);
    if (other != kNone) {
      update_partners(other, target, source);
      here_[at(other)] = cost_at(other, source);
    }
    here_[at(vertex)] = cost_at(vertex, target);
    return other;
  }

  [[nodiscard]] double here(Vertex vertex) const { return here_[at(vertex)]; }

 private:
  void put(Vertex vertex, int target) {
    place_of_[at(vertex)] = target;
    held_[at(target)] = vertex;
  }
  void update_partners(Vertex vertex, int from, int to) {
    for (const Arc& arc : graph_.arcs_of(vertex)) {
      const int there = place_of_[at(arc.to)];
      here_[at(arc.to)] += arc.weight * (space_.distance(to, there) - space_.distance(from, there));
    }
  }

  Space& space_;
  const Graph& graph_;
  std::vector<std::uint8_t> fixed_;
  std::vector<int>& place_of_;
  std::vector<int> held_;
  std::size_t hub_degree_;
  std::vector<double> here_;
};

// Moves each vertex to the best place near its partners, and again after one of its partners has moved.
template <class Space>
class Descent {
 public:
  Descent(Exchange<Space>& exchange, const SearchInput& input)
      : exchange_(exchange), input_(input), stamp_(at(exchange.space().places()), 0) {}

  void run() {
    const Vertex vertices = exchange_.graph().vertices();
    std::vector<std::uint8_t> waits(at(vertices), 1);
    constexpr int kStepsPerCheck = 64;
    std::int64_t looks = std::int64_t{vertices} * input_.effort.passes;
    for (bool moved = true; moved;) {
      moved = false;
      for (Vertex vertex = 0; vertex < vertices; ++vertex) {
        if (std::exchange(waits[at(vertex)], std::uint8_t{0}) == 0 || exchange_.is_fixed(vertex)) continue;
        --looks;
        if (looks < 0 || (looks % kStepsPerCheck == 0 && !input_.go_on())) return;
        const int target = best_place(vertex);
        if (target == kNone) continue;
        moved = true;
        wake(vertex, waits);
        const int other = exchange_.move(vertex, target);
        if (other != kNone) wake(other, waits);
      }
    }
  }

 private:
  void wake(Vertex vertex, std::vector<std::uint8_t>& waits) const {
    waits[at(vertex)] = 1;
    for (const Arc& arc : exchange_.graph().arcs_of(vertex)) waits[at(arc.to)] = 1;
  }

  int best_place(Vertex vertex) {
    int best = kNone;
    double gain = kGain * exchange_.here(vertex);
    ++round_;
    for (const Arc& arc : strongest(vertex)) {
      exchange_.space().visit_near(exchange_.place(arc.to), [&](int target) {
        if (std::exchange(stamp_[at(target)], round_) == round_ || !exchange_.may_move(vertex, target)) return;
        const double found = exchange_.gain(vertex, target, gain);
        if (found <= gain) return;
        gain = found;
        best = target;
      });
    }
    return best;
  }

  std::span<const Arc> strongest(Vertex vertex) {
    const auto arcs = exchange_.graph().arcs_of(vertex);
    const auto wanted = at(input_.effort.partners);
    if (arcs.size() <= wanted) return arcs;
    strongest_.assign(arcs.begin(), arcs.end());
    std::nth_element(
        strongest_.begin(), strongest_.begin() + static_cast<std::ptrdiff_t>(wanted), strongest_.end(),
        [](const Arc& a, const Arc& b) { return a.weight != b.weight ? a.weight > b.weight : a.to < b.to; });
    return std::span(strongest_).first(wanted);
  }

  Exchange<Space>& exchange_;
  const SearchInput& input_;
  std::vector<int> stamp_;
  int round_ = 0;
  std::vector<Arc> strongest_;
};

// The contents of each node as one vertex of a graph, and the slots of ranks once these vertices have moved.
class Contents {
 public:
  // Both must outlive this. O(arcs).
  Contents(const SearchInput& input, const std::vector<Slot>& slot_of) : input_(input), slot_of_(slot_of) {
    std::vector<int> vertex_at(at(input.distances.nodes()), kNone);
    for (const Slot slot : slot_of) {
      int& vertex = vertex_at[at(input.distances.node(slot))];
      if (vertex == kNone) {
        vertex = static_cast<int>(node_of_.size());
        node_of_.push_back(input.distances.node(slot));
      }
      part_of_.push_back(vertex);
    }
    first_ = node_of_;
    Workers alone(1);
    graph_ = engine::contract(input.graph, part_of_, static_cast<Vertex>(node_of_.size()), alone);
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  // The node of each vertex, which the search changes.
  std::vector<int>& node_of() { return node_of_; }

  // Vertices that hold a pinned rank; empty: none does.
  [[nodiscard]] std::vector<std::uint8_t> fixed() const {
    if (input_.fixed.empty()) return {};
    std::vector<std::uint8_t> result(node_of_.size(), 0);
    for (std::size_t rank = 0; rank < part_of_.size(); ++rank) {
      if (input_.fixed[rank] != 0) result[at(part_of_[rank])] = 1;
    }
    return result;
  }

  // The slots of the ranks after the contents have moved.
  [[nodiscard]] std::vector<Slot> slots() const {
    std::vector<Slot> result(slot_of_.size());
    for (std::size_t rank = 0; rank < result.size(); ++rank) {
      const auto part = at(part_of_[rank]);
      result[rank] =
          slot_of_[rank] - input_.distances.first_slot(first_[part]) + input_.distances.first_slot(node_of_[part]);
    }
    return result;
  }

 private:
  const SearchInput& input_;
  const std::vector<Slot>& slot_of_;
  Graph graph_;
  std::vector<Vertex> part_of_;
  std::vector<int> first_, node_of_;
};

// The contents of nodes, and how they move; the state of engine::anneal().
class MovingNodes {
 public:
  static constexpr std::int64_t kTrialsOfPhase = 4096;

  MovingNodes(const SearchInput& input, Contents& contents, std::uint64_t seed)
      : contents_(contents),
        space_(input.distances, input.effort.near),
        exchange_(space_, contents.graph(), contents.fixed(), contents.node_of()),
        random_(seed),
        best_nodes_(contents.node_of()),
        hot_(first_temperature()) {}

  std::int64_t open_phase(double share) {
    constexpr double kCold = 0.01;  // of the first temperature
    temperature_ = hot_ * std::pow(kCold, share);
    return kTrialsOfPhase;
  }

  void try_move() {
    const auto [vertex, target] = proposal();
    if (target == kNone) return;
    const double gain = exact_gain(vertex, target);
    if (gain < 0 && -gain > temperature_ * thresholds_[random_.next()]) return;
    exchange_.move(vertex, target);
    gained_ += gain;
  }

  // Keeps the cheapest contents of all.
  bool close_phase() {
    if (gained_ > best_) {
      best_ = gained_;
      best_nodes_ = contents_.node_of();
    }
    return true;
  }

  [[nodiscard]] std::vector<int> best() && { return std::move(best_nodes_); }

 private:
  // A vertex, and a place near one of its partners.
  std::pair<Vertex, int> proposal() {
    const auto vertex = static_cast<Vertex>(random_.below(at(exchange_.graph().vertices())));
    const auto arcs = exchange_.graph().arcs_of(vertex);
    if (arcs.empty() || exchange_.is_fixed(vertex)) return {vertex, kNone};
    const int partner = exchange_.place(arcs[random_.below(arcs.size())].to);
    const auto near = space_.near(partner);
    const std::size_t choice = random_.below(near.size() + 1);
    const int target = choice == near.size() ? partner : near[choice];
    return {vertex, exchange_.may_move(vertex, target) ? target : kNone};
  }

  [[nodiscard]] double exact_gain(Vertex vertex, int target) const {
    return exchange_.gain(vertex, target, -std::numeric_limits<double>::infinity());
  }

  // A quarter of the mean loss of exchanges that raise the cost.
  double first_temperature() {
    constexpr int kSample = 256;
    double sum = 0;
    int count = 0;
    for (int i = 0; i < kSample; ++i) {
      const auto [vertex, target] = proposal();
      if (target == kNone) continue;
      const double gain = exact_gain(vertex, target);
      if (gain < 0) sum -= gain, ++count;
    }
    return count == 0 ? 1e-300 : sum / count / 4;
  }

  Contents& contents_;
  NodeSpace space_;
  Exchange<NodeSpace> exchange_;
  Random random_;
  const engine::Thresholds& thresholds_ = engine::thresholds();
  std::vector<int> best_nodes_;
  double hot_;
  double temperature_ = 0;
  double gained_ = 0;  // since the start
  double best_ = 0;    // the most of that
};

}  // namespace

double cost_of(const SearchInput& input, const std::vector<Slot>& slot_of) {
  double sum = 0;
  for (Vertex vertex = 0; vertex < input.graph.vertices(); ++vertex) {
    for (const Arc& arc : input.graph.arcs_of(vertex)) {
      if (arc.to > vertex) sum += arc.weight * input.distances.distance(slot_of[at(vertex)], slot_of[at(arc.to)]);
    }
  }
  return sum;
}

void swap_ranks(const SearchInput& input, std::vector<Slot>& slot_of) {
  SlotSpace space(input.distances, input.effort.near);
  Exchange<SlotSpace> exchange(space, input.graph, input.fixed, slot_of);
  Descent<SlotSpace>(exchange, input).run();
}

void swap_nodes(const SearchInput& input, std::vector<Slot>& slot_of) {
  Contents contents(input, slot_of);
  NodeSpace space(input.distances, input.effort.near);
  Exchange<NodeSpace> exchange(space, contents.graph(), contents.fixed(), contents.node_of());
  Descent<NodeSpace>(exchange, input).run();
  slot_of = contents.slots();
}

void anneal_nodes(const SearchInput& input, std::uint64_t seed, std::vector<Slot>& slot_of) {
  Contents contents(input, slot_of);
  const Vertex vertices = contents.graph().vertices();
  if (vertices < 2 || contents.graph().arcs.empty()) return;
  constexpr double kFewVisits = 6;  // the other work of a step takes as long
  const double visits = std::max(kFewVisits, static_cast<double>(contents.graph().arcs.size()) / vertices);
  const auto trials = static_cast<std::int64_t>(std::min(input.effort.cooling * vertices, input.effort.most / visits));
  const auto phases = (trials + MovingNodes::kTrialsOfPhase - 1) / MovingNodes::kTrialsOfPhase;
  MovingNodes nodes(input, contents, seed);
  engine::anneal(nodes, static_cast<int>(phases), [&](std::int64_t) { return input.go_on(); });
  contents.node_of() = std::move(nodes).best();
  slot_of = contents.slots();
}

}  // namespace ranktree::core::place::network
