#include "core/reorder/distributed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/scale.h"
#include "core/place/engine.h"
#include "core/reorder/halving.h"
#include "core/reorder/network.h"
#include "core/reorder/part_placement.h"
#include "core/reorder/spread_graph.h"
#include "core/reorder/survey.h"
#include "core/split/chain.h"

namespace ranktree::core::reorder {
namespace {

// What the shard of id 0 has, everywhere.
double from_first(Network& network, double own) {
  const auto bytes = std::as_bytes(std::span(&own, 1));
  const Bytes first = network.broadcast(Bytes(bytes.begin(), bytes.end()));
  std::memcpy(&own, first.data(), sizeof(own));
  return own;
}

// What all weights are multiplied by, so that sums stay finite; the same everywhere.
double common_scale(Network& network, const std::vector<int>& held, const std::vector<Share>& shares) {
  std::vector<Letter<double>> letters;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto weights = shares[i].weights;
    if (!weights.empty()) letters.push_back({0, held[i], *std::max_element(weights.begin(), weights.end())});
  }
  double largest = 0;
  for (const auto& letter : deliver(network, letters)) largest = std::max(largest, letter.content);
  return scale_for_sums(from_first(network, largest));
}

SpreadGraph graph_of(const std::vector<int>& held, const std::vector<Share>& shares, double scale) {
  SpreadGraph graph;
  for (std::size_t i = 0; i < held.size(); ++i) {
    SpreadVertex vertex{held[i], 0, 1, {}};
    for (std::size_t edge = 0; edge < shares[i].peers.size(); ++edge) {
      vertex.edges.push_back({shares[i].peers[edge], 1, shares[i].weights[edge] * scale});
    }
    graph.push_back(std::move(vertex));
  }
  return graph;
}

// Everything later relies on both ends knowing of an edge.
void require_both_ends(Network& network, const SpreadGraph& graph) {
  std::vector<Letter<Nothing>> letters;
  for (const SpreadVertex& vertex : graph) {
    for (const SpreadEdge& edge : vertex.edges) letters.push_back({edge.peer, vertex.id, {}});
  }
  letters = deliver(network, letters);
  std::span<const Letter<Nothing>> rest(letters);
  for (const SpreadVertex& vertex : graph) {
    const auto own = take_run(rest, vertex.id);
    const bool alike = std::equal(own.begin(), own.end(), vertex.edges.begin(), vertex.edges.end(),
                                  [](const Letter<Nothing>& a, const SpreadEdge& b) { return a.from == b.peer; });
    if (!alike) {
      throw Error(Fault::kInput, "vertex " + std::to_string(vertex.id) +
                                     ": expected the neighbours that name it as theirs, found others");
    }
  }
}

// Hops x weight when the vertices held here are where `paths` lead; the same everywhere.
double cost_of(Network& network, const std::vector<Share>& shares, double scale, const Survey& whole,
               const std::vector<const Path*>& paths) {
  const std::vector<int> held = network.held();
  std::vector<Letter<Step>> letters;
  for (std::size_t i = 0; i < held.size(); ++i) {
    for (const int peer : shares[i].peers) {
      for (const Step& step : *paths[i]) letters.push_back({peer, held[i], step});
    }
  }
  letters = deliver(network, letters);
  double both_ways = 0;
  std::span<const Letter<Step>> rest(letters);
  Path path;
  for (std::size_t i = 0; i < held.size(); ++i) {
    auto own = take_run(rest, held[i]);
    for (std::size_t edge = 0; edge < shares[i].peers.size(); ++edge) {
      for (path.clear(); !own.empty() && own.front().from == shares[i].peers[edge]; own = own.subspan(1)) {
        path.push_back(own.front().content);
      }
      const auto level = static_cast<std::size_t>(common_level(*paths[i], path));
      both_ways += shares[i].weights[edge] * scale * whole.cost[level];
    }
  }
  // The first process's sum counts for all, since sums may differ in their last digits.
  return from_first(network, network.sum({both_ways}).front()) / 2;
}

// Sends each process its vertex.
std::vector<int> send_vertices(Network& network, const std::vector<int>& held, const std::vector<Slot>& slots) {
  std::vector<Letter<Nothing>> letters;
  letters.reserve(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) letters.push_back({slots[i].process, held[i], {}});
  letters = deliver(network, letters);
  std::span<const Letter<Nothing>> rest(letters);
  std::vector<int> vertex;
  for (const int id : held) {
    const auto own = take_run(rest, id);
    if (own.size() != 1) {
      throw Error(Fault::kMismatch,
                  "process " + std::to_string(id) + ": expected one vertex, found " + std::to_string(own.size()));
    }
    vertex.push_back(own.front().from);
  }
  return vertex;
}

HalvingOptions effort(place::Preset preset, int coarse_vertices, std::uint64_t seed) {
  switch (preset) {
    case place::Preset::kFast:
      return {coarse_vertices, 1, 2, seed};
    case place::Preset::kDefault:
      return {coarse_vertices, 5, 4, seed};
    case place::Preset::kStrong:
      return {coarse_vertices, 7, 8, seed};
  }
  return {};
}

}  // namespace

void order_distributed(Network& network, const std::vector<Share>& shares, const DistributedOptions& options,
                       DistributedOrder& order) {
  const std::vector<int> held = network.held();
  order = {held, {}, {}};
  const int coarse = std::max(2, options.coarse_vertices);
  const double scale = common_scale(network, held, shares);
  SpreadGraph graph = graph_of(held, shares, scale);
  require_both_ends(network, graph);
  std::vector<split::Chain> chains;
  chains.reserve(shares.size());
  for (const Share& share : shares) chains.push_back(share.chain);
  const Survey whole = survey(network, chains, coarse);
  std::vector<const Path*> paths;
  paths.reserve(held.size());
  for (const Path& path : whole.path) paths.push_back(&path);
  const double before = cost_of(network, shares, scale, whole, paths);
  order.before = order.after = before / scale;

  int depth = 0;
  for (const Part& part : whole.parts) depth = std::max(depth, part.depth);
  for (int level = 0; level < depth; ++level) {
    const std::uint64_t seed = options.engine.seed + (static_cast<std::uint64_t>(level) << 32U);
    halve(network, whole, level, effort(options.engine.preset, coarse, seed), graph);
  }
  const std::vector<Slot> slots = place_parts(network, whole, graph, options.engine);
  graph.clear();
  paths.clear();
  for (const Slot& slot : slots) paths.push_back(&slot.path);
  const double after = cost_of(network, shares, scale, whole, paths);
  std::vector<int> vertex = send_vertices(network, held, slots);
  if (after < before) order = {std::move(vertex), before / scale, after / scale};
}

}  // namespace ranktree::core::reorder
