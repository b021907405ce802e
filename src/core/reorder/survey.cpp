#include "core/reorder/survey.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/reorder/division.h"
#include "core/reorder/network.h"
#include "core/reorder/positions.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using split::Chain;
using topo::Tree;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Everybody's chain by id, at the shard of id 0; nothing elsewhere.
std::vector<Chain> collect(Network& network, const std::vector<int>& held, const std::vector<Chain>& chains) {
  std::vector<Letter<std::uint64_t>> letters;
  for (std::size_t i = 0; i < held.size(); ++i) {
    // An empty chain counts too.
    letters.push_back({0, held[i], chains[i].size()});
    for (const split::Link& link : chains[i]) letters.push_back({0, held[i], split::code_of(link)});
  }
  letters = deliver(network, letters);
  std::vector<Chain> all;
  for (std::size_t next = 0; next < letters.size();) {
    Chain chain(letters[next++].content);
    for (split::Link& link : chain) link = split::link_of(letters[next++].content);
    all.push_back(std::move(chain));
  }
  return all;
}

Path path_to(const Tree& tree, topo::Leaf leaf) {
  Path path;
  for (topo::Object object = tree.leaf_object(leaf); object >= 0; object = tree.parent(object)) {
    path.push_back({object, tree.level_of(object)});
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// To each process its leaf, then its path.
std::vector<Letter<Step>> places_of(const Positions& positions) {
  std::vector<Letter<Step>> letters;
  for (topo::Leaf leaf = 0; leaf < positions.tree.leaf_count(); ++leaf) {
    const int rank = positions.rank_at_leaf[at(leaf)];
    letters.push_back({rank, 0, {leaf, -1}});
    for (const Step step : path_to(positions.tree, leaf)) letters.push_back({rank, 0, step});
  }
  return letters;
}

struct LevelRecord {
  std::int64_t kind = 0;  // as wide as the cost: no byte without a value leaves the process
  double cost = 0;
};
static_assert(sizeof(LevelRecord) == sizeof(std::int64_t) + sizeof(double) && sizeof(Part) == 6 * sizeof(int));

template <typename Item>
void append(Bytes& bytes, const std::vector<Item>& items) {
  const std::size_t start = bytes.size();
  const std::uint64_t count = items.size();
  bytes.resize(start + sizeof(count) + count * sizeof(Item));
  std::memcpy(bytes.data() + start, &count, sizeof(count));
  if (count > 0) std::memcpy(bytes.data() + start + sizeof(count), items.data(), count * sizeof(Item));
}

template <typename Item>
std::vector<Item> take(std::span<const std::byte>& bytes) {
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof(count));
  std::vector<Item> items(count);
  if (count > 0) std::memcpy(static_cast<void*>(items.data()), bytes.data() + sizeof(count), count * sizeof(Item));
  bytes = bytes.subspan(sizeof(count) + count * sizeof(Item));
  return items;
}

Bytes common_part(const Positions& positions, int largest) {
  std::vector<LevelRecord> levels;
  levels.reserve(at(positions.tree.level_count()));
  for (int level = 0; level < positions.tree.level_count(); ++level) {
    levels.push_back({static_cast<std::int64_t>(positions.tree.level(level).kind), positions.tree.cost(level)});
  }
  Bytes bytes;
  append(bytes, divide(positions, largest));
  append(bytes, levels);
  return bytes;
}

}  // namespace

int common_level(std::span<const Step> one, std::span<const Step> other) {
  int level = 0;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()) && one[i].object == other[i].object; ++i) {
    level = one[i].level;
  }
  return level;
}

Survey survey(Network& network, const std::vector<Chain>& chains, int largest) {
  const std::vector<int> held = network.held();
  Bytes common;
  std::vector<Letter<Step>> places;
  {
    const std::vector<Chain> all = collect(network, held, chains);
    if (!all.empty()) {
      const Positions positions = positions_of(all);
      common = common_part(positions, largest);
      places = places_of(positions);
    }
  }
  common = network.broadcast(common);
  places = deliver(network, places);

  Survey result;
  std::span<const std::byte> bytes(common);
  result.parts = take<Part>(bytes);
  for (const LevelRecord& level : take<LevelRecord>(bytes)) {
    result.levels.push_back({static_cast<topo::Kind>(level.kind), {}, {}});
    result.cost.push_back(level.cost);
  }
  std::span<const Letter<Step>> rest(places);
  for (const int id : held) {
    const auto own = take_run(rest, id);
    result.leaf.push_back(own.front().content.object);
    Path path;
    for (const auto& letter : own.subspan(1)) path.push_back(letter.content);
    result.path.push_back(std::move(path));
  }
  return result;
}

}  // namespace ranktree::core::reorder
