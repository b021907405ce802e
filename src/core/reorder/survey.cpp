#include "core/reorder/survey.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/reorder/network.h"
#include "core/reorder/slots.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using split::Chain;
using topo::Tree;

bool holds(const Tree& tree, topo::Object object, const Part& part) {
  return tree.first_leaf(object) <= part.first &&
         part.first + part.count <= tree.first_leaf(object) + tree.leaves_below(object);
}

// The lowest object that holds all of the part. O(depth x children).
topo::Object lowest_over(const Tree& tree, const Part& part) {
  topo::Object object = 0;
  for (int i = 0; i < tree.child_count(object);) {
    const topo::Object child = tree.first_child(object) + i++;
    if (!holds(tree, child, part)) continue;
    object = child;
    i = 0;
  }
  return object;
}

// The first leaf of the right half: where a child starts, as near to the middle as can be (ties: the left one).
int middle_of(const Tree& tree, const Part& part) {
  const topo::Object object = lowest_over(tree, part);
  const auto distance = [&part](int leaf) { return std::abs(2 * (leaf - part.first) - part.count); };
  int best = part.first;
  for (int i = 0; i < tree.child_count(object); ++i) {
    const int leaf = tree.first_leaf(tree.first_child(object) + i);
    if (leaf > part.first && leaf < part.first + part.count && distance(leaf) < distance(best)) best = leaf;
  }
  return best;
}

// The chains of all ids, by id, at the shard of id 0; nothing elsewhere.
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
std::vector<Letter<Step>> slot_letters(const Slots& slots) {
  std::vector<Letter<Step>> letters;
  for (topo::Leaf leaf = 0; leaf < slots.tree.leaf_count(); ++leaf) {
    const int rank = slots.rank_at_slot[at(leaf)];
    letters.push_back({rank, 0, {leaf, -1}});
    for (const Step step : path_to(slots.tree, leaf)) letters.push_back({rank, 0, step});
  }
  return letters;
}

struct LevelRecord {
  std::int64_t kind = 0;  // as wide as the cost: no byte without a value leaves the process
  double cost = 0;
};
static_assert(sizeof(LevelRecord) == sizeof(std::int64_t) + sizeof(double) && sizeof(Part) == 6 * sizeof(int));

Bytes common_part(const Slots& slots, int largest) {
  std::vector<LevelRecord> levels;
  levels.reserve(at(slots.tree.level_count()));
  for (int level = 0; level < slots.tree.level_count(); ++level) {
    levels.push_back({static_cast<std::int64_t>(slots.tree.level(level).kind), slots.tree.cost(level)});
  }
  Bytes bytes;
  append(bytes, divide(slots, largest));
  append(bytes, levels);
  return bytes;
}

}  // namespace

std::vector<Part> divide(const Slots& slots, int largest) {
  const auto leader = [&slots](int leaf) { return slots.rank_at_slot[static_cast<std::size_t>(leaf)]; };
  std::vector<Part> parts{{0, slots.tree.leaf_count(), leader(0), 0}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part part = parts[i];
    if (part.count <= largest) continue;
    const int middle = middle_of(slots.tree, part);
    parts[i].left = static_cast<int>(parts.size());
    parts[i].right = parts[i].left + 1;
    parts.push_back({part.first, middle - part.first, leader(part.first), part.depth + 1});
    parts.push_back({middle, part.first + part.count - middle, leader(middle), part.depth + 1});
  }
  return parts;
}

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
  std::vector<Letter<Step>> received;
  {
    const std::vector<Chain> all = collect(network, held, chains);
    if (!all.empty()) {
      const Slots slots = slots_of(all);
      common = common_part(slots, largest);
      received = slot_letters(slots);
    }
  }
  common = network.broadcast(common);
  received = deliver(network, received);

  Survey result;
  std::span<const std::byte> bytes(common);
  result.parts = take<Part>(bytes);
  for (const LevelRecord& level : take<LevelRecord>(bytes)) {
    result.levels.push_back({static_cast<topo::Kind>(level.kind), {}, {}});
    result.cost.push_back(level.cost);
  }
  std::span<const Letter<Step>> rest(received);
  for (const int id : held) {
    const auto own = take_run(rest, id);
    result.slot.push_back(own.front().content.object);
    Path path;
    for (const auto& letter : own.subspan(1)) path.push_back(letter.content);
    result.path.push_back(std::move(path));
  }
  return result;
}

}  // namespace ranktree::core::reorder
