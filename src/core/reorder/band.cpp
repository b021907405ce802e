#include "core/reorder/band.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"

namespace ranktree::core::reorder {

void report(const SpreadVertex& vertex, std::uint8_t side, std::span<const std::uint8_t> sides_of_peers, int leader,
            std::vector<Letter<Report>>& letters) {
  letters.push_back({leader, vertex.id, {-1, 2 * vertex.weight + side, 0}});
  for (std::size_t i = 0; i < vertex.edges.size(); ++i) {
    letters.push_back({leader, vertex.id, {vertex.edges[i].peer, sides_of_peers[i], vertex.edges[i].weight}});
  }
}

Band assemble(std::span<const Letter<Report>> letters) {
  Band band;
  for (const auto& letter : letters) {
    if (letter.content.peer < 0) band.ids.push_back(letter.from);
  }
  for (const auto& letter : letters) {
    const Report& said = letter.content;
    if (said.peer < 0) {
      band.graph.weight.push_back(said.number / 2);
      band.sides.push_back(static_cast<std::uint8_t>(said.number % 2));
      band.graph.pull.push_back(0);
      band.graph.begin.push_back(band.graph.peers.size());
      continue;
    }
    const auto found = std::lower_bound(band.ids.begin(), band.ids.end(), said.peer);
    if (found == band.ids.end() || *found != said.peer) {
      band.graph.pull.back() += said.number == 0 ? -said.weight : said.weight;
      continue;
    }
    band.graph.peers.push_back(static_cast<int>(found - band.ids.begin()));
    band.graph.weights.push_back(said.weight);
    band.graph.begin.back() = band.graph.peers.size();
  }
  return band;
}

}  // namespace ranktree::core::reorder
