#include "core/split/chain.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::split {
namespace {

using topo::Kind;
using topo::Leaf;
using topo::Object;

constexpr unsigned kKindBits = 5;
constexpr std::uint64_t kKindMask = (1U << kKindBits) - 1;
constexpr std::uint64_t kIdMask = (std::uint64_t{1} << 58U) - 1;

// Several objects with the same PUs get the name that comes first here. A Group comes last: it has no meaning of its
// own.
constexpr std::array kByPrecedence{Kind::kNode, Kind::kNumaNode, Kind::kPackage, Kind::kDie,  Kind::kL5, Kind::kL4,
                                   Kind::kL3,   Kind::kL2,       Kind::kL1,      Kind::kCore, Kind::kPu, Kind::kGroup};

auto precedence(Kind kind) { return std::find(kByPrecedence.begin(), kByPrecedence.end(), kind); }

}  // namespace

std::uint64_t code_of(const Link& link) {
  return (static_cast<std::uint64_t>(link.id) << kKindBits) | static_cast<std::uint64_t>(link.kind);
}

Link link_of(std::uint64_t code) {
  return {static_cast<Kind>(code & kKindMask), static_cast<std::int64_t>(code >> kKindBits)};
}

std::string_view resource_name(Kind kind) { return kind == Kind::kNode ? "Machine" : topo::kind_name(kind); }

std::string type_name(std::span<const Link> chain, std::size_t position) {
  std::string name(topo::kind_name(chain[position].kind));
  return chain[position].kind == Kind::kSwitch ? name + std::to_string(position) : name;
}

// FNV-1a, then the mixing steps of splitmix64, which spread the last letters over all bits.
std::int64_t name_id(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>((hash ^ (hash >> 31U)) & kIdMask);
}

NodeMap::NodeMap(const topo::Tree& node) : node_(node) {
  // Objects of one kind may lie at different depths; hwloc numbers them from left to right.
  std::map<Kind, std::vector<std::pair<Leaf, Object>>> by_kind;
  for (Object object = 0; object < node_.object_count(); ++object) {
    by_kind[node_.level(node_.level_of(object)).kind].emplace_back(node_.first_leaf(object), object);
  }
  logical_.resize(at(node_.object_count()));
  for (auto& [kind, objects] : by_kind) {
    kinds_.push_back(kind);
    std::sort(objects.begin(), objects.end());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      logical_[at(objects[i].second)] = static_cast<std::int32_t>(i);
    }
  }
  // The tree has no level for a NUMA node that spans the whole machine, but that node exists.
  one_numa_node_ = !by_kind.contains(Kind::kNumaNode);
  if (one_numa_node_) kinds_.insert(std::lower_bound(kinds_.begin(), kinds_.end(), Kind::kNumaNode), Kind::kNumaNode);
  for (Leaf leaf = 0; leaf < node_.leaf_count(); ++leaf) {
    for (const int pu : node_.pus(leaf)) {
      if (pu < 0) continue;
      if (at(pu) >= leaf_of_pu_.size()) leaf_of_pu_.resize(at(pu) + 1, -1);
      leaf_of_pu_[at(pu)] = leaf;
    }
  }
}

// The lowest object that contains the PUs, -1 when there is none. The first and the last PU decide, because the leaves
// below an object are consecutive.
Object NodeMap::container(std::span<const int> pus) const {
  if (pus.empty()) return -1;
  Leaf first = node_.leaf_count();
  Leaf last = -1;
  for (const int pu : pus) {
    if (pu < 0 || at(pu) >= leaf_of_pu_.size() || leaf_of_pu_[at(pu)] < 0) return -1;
    first = std::min(first, leaf_of_pu_[at(pu)]);
    last = std::max(last, leaf_of_pu_[at(pu)]);
  }
  Object object = node_.leaf_object(first);
  while (node_.first_leaf(object) + node_.leaves_below(object) <= last) object = node_.parent(object);
  return object;
}

Link NodeMap::link(Object object) const { return {node_.level(node_.level_of(object)).kind, logical_[at(object)]}; }

Chain NodeMap::locate_all(std::span<const int> pus) const {
  Chain chain;
  Object object = container(pus);
  const bool found = object >= 0;
  for (; object > 0; object = node_.parent(object)) chain.push_back(link(object));
  if (found && one_numa_node_) chain.push_back({Kind::kNumaNode, 0});
  std::reverse(chain.begin(), chain.end());
  return chain;
}

Chain NodeMap::locate(std::span<const int> pus) const {
  Chain chain;
  Leaf size = 0;  // leaves of the object pushed last
  for (Object object = container(pus); object > 0 && node_.leaves_below(object) < node_.leaf_count();
       object = node_.parent(object)) {
    const Link here = link(object);
    if (node_.leaves_below(object) != size) {
      chain.push_back(here);
    } else if (precedence(here.kind) < precedence(chain.back().kind)) {
      chain.back() = here;
    }
    size = node_.leaves_below(object);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace ranktree::core::split
