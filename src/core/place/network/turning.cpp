// Whole groups of nodes turned around: what cutting a network in two, again and again, leaves open.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "core/place/engine/graph.h"
#include "core/place/network/contents.h"
#include "core/place/network/distances.h"
#include "core/place/network/search.h"
#include "core/place/network/surrogate.h"
#include "core/topo/interconnect.h"

namespace ranktree::core::place::network {
namespace {

using engine::Arc;
using engine::Vertex;

constexpr int kNobody = -1;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class Turning {
 public:
  Turning(const SearchInput& input, Contents& contents)
      : input_(input),
        distances_(input.distances),
        graph_(contents.graph()),
        node_of_(contents.node_of()),
        held_(at(distances_.nodes()), kNobody),
        target_(at(distances_.nodes())) {
    const auto fixed = contents.fixed();
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex) held_[at(node_of_[at(vertex)])] = vertex;
    for (int node = 0; node < distances_.nodes(); ++node) {
      target_[at(node)] = node;
      const int vertex = held_[at(node)];
      stays_.push_back(!fixed.empty() && vertex != kNobody ? fixed[at(vertex)] : 0);
    }
  }

  void run(const std::vector<Group>& groups) {
    constexpr int kRounds = 8;
    for (int round = 0, turned = 1; round < kRounds && turned > 0; ++round) {
      turned = 0;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        if (!input_.go_on()) return;
        turned += turn(groups[round % 2 == 0 ? groups.size() - 1 - i : i], groups);
      }
    }
  }

 private:
  using Pairs = std::vector<std::pair<int, int>>;  // what is on the first node goes to the second

  int turn(const Group& group, const std::vector<Group>& groups) {
    constexpr std::size_t kSiblings = 16;
    int turned = 0;
    const std::size_t parts = std::min(group.children.size(), kSiblings);
    for (std::size_t i = 0; i < parts; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        turned += try_pairs(exchanged(groups[group.children[i]].nodes, groups[group.children[j]].nodes));
      }
    }
    const auto* torus = std::get_if<topo::Torus>(&distances_.interconnect().network());
    return torus == nullptr || group.nodes.size() < 2 ? turned : turned + turn_box(*torus, group.nodes);
  }

  static Pairs exchanged(const std::vector<int>& one, const std::vector<int>& other) {
    Pairs pairs;
    for (std::size_t i = 0; i < one.size() && one.size() == other.size(); ++i) {
      pairs.emplace_back(one[i], other[i]);
      pairs.emplace_back(other[i], one[i]);
    }
    return pairs;
  }

  int turn_box(const topo::Torus& torus, const std::vector<int>& nodes) {
    const topo::Interconnect& network = distances_.interconnect();
    const std::size_t dimensions = torus.sizes.size();
    std::vector<int> low(torus.sizes);
    std::vector<int> high(dimensions, 0);
    for (const int node : nodes) {
      for (std::size_t i = 0; i < dimensions; ++i) {
        low[i] = std::min(low[i], network.coordinate(node, i));
        high[i] = std::max(high[i], network.coordinate(node, i));
      }
    }
    int turned = 0;
    for (std::size_t i = 0; i < dimensions; ++i) {
      if (high[i] == low[i]) continue;
      turned +=
          try_pairs(moved(torus, nodes, [&](std::vector<int>& where) { where[i] = low[i] + high[i] - where[i]; }));
      for (std::size_t j = 0; j < i; ++j) {
        if (high[i] - low[i] != high[j] - low[j]) continue;
        turned += try_pairs(moved(torus, nodes, [&](std::vector<int>& where) {
          where[i] -= low[i];
          where[j] -= low[j];
          std::swap(where[i], where[j]);
          where[i] += low[i];
          where[j] += low[j];
        }));
      }
    }
    return turned;
  }

  // Empty where a node would go where there is none.
  template <class Move>
  [[nodiscard]] Pairs moved(const topo::Torus& torus, const std::vector<int>& nodes, Move move) const {
    const topo::Interconnect& network = distances_.interconnect();
    Pairs pairs;
    std::vector<int> where(torus.sizes.size());
    for (const int node : nodes) {
      for (std::size_t i = 0; i < where.size(); ++i) where[i] = network.coordinate(node, i);
      move(where);
      std::int64_t router = 0;
      for (std::size_t i = 0; i < where.size(); ++i) router = router * torus.sizes[i] + where[i];
      const int port = network.positions()[at(node)] % torus.nodes_per_router;
      const int there = network.host_at(router * torus.nodes_per_router + port);
      if (there == kNobody) return {};
      pairs.emplace_back(node, there);
    }
    return pairs;
  }

  int try_pairs(const Pairs& pairs) {
    for (const auto& [from, to] : pairs) {
      const bool alike = distances_.form(from) == distances_.form(to);
      if (from != to && (!alike || stays_[at(from)] != 0)) return 0;
    }
    for (const auto& [from, to] : pairs) target_[at(from)] = to;
    double before = 0;
    double after = 0;
    for (const auto& [from, to] : pairs) {
      if (held_[at(from)] == kNobody) continue;
      for (const Arc& arc : graph_.arcs_of(held_[at(from)])) {
        const int other = node_of_[at(arc.to)];
        const double share = target_[at(other)] == other ? 1 : 0.5;  // seen from both ends where both move
        before += share * arc.weight * distances_.between(from, other);
        after += share * arc.weight * distances_.between(to, target_[at(other)]);
      }
    }
    const bool better = after < before * (1 - 1e-12);
    if (better) carry_out(pairs);
    for (const auto& [from, to] : pairs) target_[at(from)] = from;
    return better ? 1 : 0;
  }

  void carry_out(const Pairs& pairs) {
    std::vector<int> vertices;
    for (const auto& [from, to] : pairs) vertices.push_back(held_[at(from)]);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      held_[at(pairs[i].second)] = vertices[i];
      if (vertices[i] != kNobody) node_of_[at(vertices[i])] = pairs[i].second;
    }
  }

  const SearchInput& input_;
  const Distances& distances_;
  const engine::Graph& graph_;
  std::vector<int>& node_of_;
  std::vector<int> held_;
  std::vector<int> target_;  // by node: where what it holds would go
  std::vector<std::uint8_t> stays_;
};

}  // namespace

void turn_groups(const SearchInput& input, const std::vector<Group>& groups, std::vector<Seat>& seat_of) {
  Contents contents(input, seat_of);
  Turning(input, contents).run(groups);
  seat_of = contents.seats();
}

}  // namespace ranktree::core::place::network
