#include "core/reorder/spread_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/reorder/network.h"

namespace ranktree::core::reorder {
namespace {

constexpr int kProposals = 5;  // each matches a constant fraction of what is free

// The same at both ends.
std::uint64_t hash_of(int one, int other, std::uint64_t seed) {
  const auto low = static_cast<std::uint64_t>(std::min(one, other));
  const auto high = static_cast<std::uint64_t>(std::max(one, other));
  return Random(seed ^ Random((high << 32U) | low).next()).next();
}

class Matching {
 public:
  Matching(Network& network, const SpreadGraph& graph, std::span<const std::int64_t> limit, std::uint64_t seed)
      : network_(network), graph_(graph), limit_(limit), seed_(seed), mate_(graph.size(), -1), choice_(graph.size()) {
    for (const SpreadVertex& vertex : graph) taken_.emplace_back(vertex.edges.size(), 0);
  }

  std::vector<int> run() {
    for (int i = 0; i < kProposals; ++i) {
      propose();
      if (i + 1 < kProposals) announce();
    }
    for (std::size_t i = 0; i < mate_.size(); ++i) {
      if (mate_[i] < 0) mate_[i] = graph_[i].id;
    }
    return std::move(mate_);
  }

 private:
  void propose() {
    std::vector<Letter<Nothing>> letters;
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      choice_[i] = mate_[i] < 0 ? best_of(i) : -1;
      if (choice_[i] >= 0) letters.push_back({choice_[i], graph_[i].id, {}});
    }
    letters = deliver(network_, letters);
    std::span<const Letter<Nothing>> rest(letters);
    matched_.clear();
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      for (const auto& letter : take_run(rest, graph_[i].id)) {
        if (letter.from != choice_[i]) continue;
        mate_[i] = letter.from;
        matched_.push_back(i);
      }
    }
  }

  [[nodiscard]] int best_of(std::size_t index) const {
    const SpreadVertex& vertex = graph_[index];
    std::tuple<double, std::uint64_t, int> best{-1, 0, -1};
    for (std::size_t i = 0; i < vertex.edges.size(); ++i) {
      const SpreadEdge& edge = vertex.edges[i];
      if (taken_[index][i] != 0 || vertex.weight + edge.peer_weight > limit_[at(vertex.part)]) continue;
      // The product of both weights, so that both ends rate alike.
      const double rating = edge.weight / (static_cast<double>(vertex.weight) * edge.peer_weight);
      best = std::max(best, {rating, hash_of(vertex.id, edge.peer, seed_), edge.peer});
    }
    return std::get<int>(best);
  }

  // Who has just been matched is no longer free.
  void announce() {
    std::vector<Letter<Nothing>> letters;
    for (const std::size_t i : matched_) {
      for (std::size_t edge = 0; edge < graph_[i].edges.size(); ++edge) {
        if (taken_[i][edge] == 0) letters.push_back({graph_[i].edges[edge].peer, graph_[i].id, {}});
      }
    }
    letters = deliver(network_, letters);
    std::span<const Letter<Nothing>> rest(letters);
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const auto& edges = graph_[i].edges;
      for (const auto& letter : take_run(rest, graph_[i].id)) {
        const auto edge = std::lower_bound(edges.begin(), edges.end(), letter.from,
                                           [](const SpreadEdge& one, int peer) { return one.peer < peer; });
        taken_[i][at(edge - edges.begin())] = 1;
      }
    }
  }

  Network& network_;
  const SpreadGraph& graph_;
  std::span<const std::int64_t> limit_;
  std::uint64_t seed_;
  std::vector<int> mate_, choice_;
  std::vector<std::vector<std::uint8_t>> taken_;  // by edge: the neighbour is matched
  std::vector<std::size_t> matched_;              // in the last round
};

struct Name {
  int id = 0;
  int weight = 1;
};

int weight_of_edge_to(const SpreadVertex& vertex, int peer) {
  for (const SpreadEdge& edge : vertex.edges) {
    if (edge.peer == peer) return edge.peer_weight;
  }
  return 0;
}

// Which of two ids stays changes from pair to pair, so that no process collects vertices because its number is small.
int kept_of(int one, int other) {
  return (hash_of(one, other, 0) & 1U) != 0 ? std::min(one, other) : std::max(one, other);
}

void merge_parallel(std::vector<SpreadEdge>& edges) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const SpreadEdge& a, const SpreadEdge& b) { return a.peer < b.peer; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (kept > 0 && edges[kept - 1].peer == edges[i].peer) {
      edges[kept - 1].weight += edges[i].weight;
    } else {
      edges[kept++] = edges[i];
    }
  }
  edges.resize(kept);
  edges.shrink_to_fit();
}

}  // namespace

std::vector<int> match(Network& network, const SpreadGraph& graph, std::span<const std::int64_t> limit,
                       std::uint64_t seed) {
  return Matching(network, graph, limit, seed).run();
}

SpreadGraph contract(Network& network, SpreadLevel& level) {
  const SpreadGraph& graph = level.graph;
  std::vector<Name> names;
  level.kept_as.clear();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const bool alone = level.mate[i] == graph[i].id;
    level.kept_as.push_back(alone ? graph[i].id : kept_of(graph[i].id, level.mate[i]));
    names.push_back({level.kept_as.back(), graph[i].weight + (alone ? 0 : weight_of_edge_to(graph[i], level.mate[i]))});
  }
  const std::vector<Name> peers =
      exchange_with_neighbours<Name>(network, graph, [&](std::size_t i) { return names[i]; });
  SpreadGraph coarse;
  std::vector<Letter<SpreadEdge>> moved;
  auto peer = peers.begin();
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const bool stays = names[i].id == graph[i].id;
    if (stays) coarse.push_back({graph[i].id, graph[i].part, names[i].weight, {}});
    for (const SpreadEdge& edge : graph[i].edges) {
      const Name name = *peer++;
      if (name.id == names[i].id) continue;
      const SpreadEdge renamed{name.id, name.weight, edge.weight};
      if (stays) {
        coarse.back().edges.push_back(renamed);
      } else {
        moved.push_back({names[i].id, graph[i].id, renamed});
      }
    }
  }
  moved = deliver(network, moved);
  std::span<const Letter<SpreadEdge>> rest(moved);
  for (SpreadVertex& vertex : coarse) {
    for (const auto& letter : take_run(rest, vertex.id)) vertex.edges.push_back(letter.content);
    merge_parallel(vertex.edges);
  }
  return coarse;
}

}  // namespace ranktree::core::reorder
