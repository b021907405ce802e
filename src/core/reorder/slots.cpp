#include "core/reorder/slots.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "core/topo/kind_builder.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using split::Chain;
using topo::Kind;
using topo::LevelKey;

// Grows one path for each rank, in the order of ranks, so that objects come in the order of the smallest they hold.
class Grower {
 public:
  explicit Grower(std::span<const Chain> chains) : root_(builder_.add(-1, Kind::kCluster)) {
    for (std::size_t rank = 0; rank < chains.size(); ++rank) grow(chains[rank], static_cast<int>(rank));
  }

  topo::Tree build() && { return std::move(builder_).build(); }

 private:
  void grow(const Chain& chain, int rank) {
    std::int32_t object = root_;
    for (const split::Link& link : chain) {
      const auto [child, fresh] = children_.try_emplace({object, split::code_of(link)}, 0);
      if (fresh) child->second = builder_.add(object, link.kind);
      object = child->second;
    }
    builder_.add(object, kLeafLevel, rank);
  }

  // Below every chain, however long.
  static constexpr LevelKey kLeafLevel{Kind::kPu, std::numeric_limits<int>::max()};

  topo::KindBuilder builder_;
  std::int32_t root_;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int32_t> children_;
};

}  // namespace

std::vector<LevelKey> levels_of(const Chain& chain) {
  std::map<Kind, int> seen;
  std::vector<LevelKey> levels;
  levels.reserve(chain.size());
  for (const split::Link& link : chain) levels.emplace_back(link.kind, seen[link.kind]++);
  return levels;
}

std::vector<LevelKey> levels_of(const topo::Tree& tree) {
  std::map<Kind, int> seen;
  std::vector<LevelKey> levels;
  for (int level = 1; level + 1 < tree.level_count(); ++level) {
    const Kind kind = tree.level(level).kind;
    levels.emplace_back(kind, seen[kind]++);
  }
  return levels;
}

Slots slots_of(std::span<const Chain> chains) {
  if (chains.empty()) throw Error(Fault::kInput, "slots: expected at least one rank, found none");
  Slots slots{Grower(chains).build(), {}, {}};
  slots.home.leaf_of.resize(chains.size());
  slots.rank_at_slot.resize(chains.size());
  for (topo::Leaf leaf = 0; leaf < slots.tree.leaf_count(); ++leaf) {
    const int rank = slots.tree.os_index(slots.tree.leaf_object(leaf));
    slots.rank_at_slot[at(leaf)] = rank;
    slots.home.leaf_of[at(rank)] = leaf;
  }
  return slots;
}

}  // namespace ranktree::core::reorder
