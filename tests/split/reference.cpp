#include "reference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::split {
namespace {

using topo::Kind;

// An object by what it spans: the switches and the node it is in, and its PUs (empty: the whole node).
struct Container {
  std::vector<std::string> path;
  std::set<int> pus;
  std::string type;

  bool operator==(const Container& other) const { return path == other.path && pus == other.pus; }
};

constexpr std::array kNames{Kind::kNumaNode, Kind::kPackage, Kind::kDie,  Kind::kL5, Kind::kL4,   Kind::kL3,
                            Kind::kL2,       Kind::kL1,      Kind::kCore, Kind::kPu, Kind::kGroup};

std::set<int> pus_of(const topo::Tree& tree, topo::Object object) {
  std::set<int> pus;
  for (topo::Leaf leaf = tree.first_leaf(object); leaf < tree.first_leaf(object) + tree.leaves_below(object); ++leaf) {
    pus.insert(tree.pus(leaf).begin(), tree.pus(leaf).end());
  }
  return pus;
}

// The objects of a node that contain the binding and are smaller than the node, the largest first.
std::vector<std::pair<std::set<int>, Kind>> objects_around(const Spot& spot) {
  const std::set<int> binding(spot.pus.begin(), spot.pus.end());
  const std::set<int> whole = pus_of(*spot.tree, 0);
  std::map<std::set<int>, std::vector<Kind>> kinds;
  for (topo::Object object = 0; object < spot.tree->object_count(); ++object) {
    const std::set<int> pus = pus_of(*spot.tree, object);
    const bool contains = std::includes(pus.begin(), pus.end(), binding.begin(), binding.end());
    if (contains && pus != whole) kinds[pus].push_back(spot.tree->level(spot.tree->level_of(object)).kind);
  }
  std::vector<std::pair<std::set<int>, Kind>> objects;
  for (const auto& [pus, candidates] : kinds) {
    const auto* name = std::find_if(kNames.begin(), kNames.end(), [&found = candidates](Kind kind) {
      return std::find(found.begin(), found.end(), kind) != found.end();
    });
    objects.emplace_back(pus, *name);
  }
  std::sort(objects.begin(), objects.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return objects;
}

std::vector<Container> containers_of(const Spot& spot) {
  std::vector<Container> containers;
  std::vector<std::string> path;
  for (const std::string& name : spot.switches) {
    path.push_back("switch " + name);
    containers.push_back({path, {}, "Switch" + std::to_string(path.size() - 1)});
  }
  path.push_back("node " + std::to_string(spot.node));
  containers.push_back({path, {}, "Node"});
  if (spot.pus.empty()) return containers;
  for (const auto& [pus, kind] : objects_around(spot)) {
    containers.push_back({path, pus, std::string(kind_name(kind))});
  }
  return containers;
}

bool contains_all(const Container& container, std::span<const std::vector<Container>> all) {
  return std::all_of(all.begin(), all.end(), [&](const std::vector<Container>& one) {
    return std::find(one.begin(), one.end(), container) != one.end();
  });
}

// Every rank's largest container that does not contain all ranks.
std::vector<std::optional<Container>> next_containers(std::span<const std::vector<Container>> all) {
  std::vector<std::optional<Container>> next;
  for (const std::vector<Container>& one : all) {
    const auto found =
        std::find_if(one.begin(), one.end(), [&](const Container& candidate) { return !contains_all(candidate, all); });
    next.push_back(found == one.end() ? std::nullopt : std::optional(*found));
  }
  return next;
}

// The name of the communicator itself: the smallest container that contains all ranks.
std::string name_of_parent(std::span<const std::vector<Container>> all) {
  std::string name = "Cluster";
  for (const Container& container : all.front()) {
    if (contains_all(container, all)) name = container.type;
  }
  return name;
}

// Whether the split puts two ranks into the same part.
bool together(std::span<const std::optional<Container>> next, std::size_t i, std::size_t j, Leftover leftover) {
  const bool both = next[i].has_value() && next[j].has_value();
  const bool neither = !next[i].has_value() && !next[j].has_value();
  if (both) return next[i] == next[j];
  return neither && ((i == j && leftover != Leftover::kNull) || leftover == Leftover::kGroup);
}

// The ranks in the same part as rank i, ordered by key.
std::vector<int> members_with(std::span<const std::optional<Container>> next, std::size_t i, std::span<const int> keys,
                              Leftover leftover) {
  std::vector<int> members;
  for (std::size_t j = 0; j < next.size(); ++j) {
    if (together(next, i, j, leftover)) members.push_back(static_cast<int>(j));
  }
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) {
    return !keys.empty() && keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return members;
}

// Numbers the parts by their roots.
void number_parts(std::vector<Outcome>& outcomes) {
  std::set<int> roots;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.members.empty()) roots.insert(outcome.members.front());
  }
  for (Outcome& outcome : outcomes) {
    if (outcome.members.empty()) continue;
    outcome.count = static_cast<int>(roots.size());
    outcome.index = static_cast<int>(std::distance(roots.begin(), roots.find(outcome.members.front())));
  }
}

}  // namespace

std::vector<Outcome> reference_split(std::span<const Spot> ranks, std::span<const int> keys, Leftover leftover) {
  std::vector<std::vector<Container>> all;
  for (const Spot& spot : ranks) all.push_back(containers_of(spot));
  const auto next = next_containers(all);
  std::vector<Outcome> outcomes(ranks.size());
  if (std::none_of(next.begin(), next.end(), [](const auto& one) { return one.has_value(); })) return outcomes;
  const std::string parent = name_of_parent(all);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    outcomes[i].members = members_with(next, i, keys, leftover);
    if (outcomes[i].members.empty()) continue;
    const auto& own = next[i];
    outcomes[i].type = own.has_value() ? own->type : parent;
  }
  number_parts(outcomes);
  return outcomes;
}

}  // namespace ranktree::core::split
