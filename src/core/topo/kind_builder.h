// Builds a Tree from objects that name their kind; the order of the levels is found, not given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {

// A level by its kind and which of several levels of that kind it is (nested groups, switches under switches).
using LevelKey = std::pair<Kind, int>;

// A level stands below all that stand above it on some path from the root; where that leaves a choice, the order of
// Kind decides (a Group may lie above or below a Package). Objects with the same leaves may change places: a NUMA node
// that is a whole package stands below its L3 where another node has several NUMA nodes under one L3.
class KindBuilder {
 public:
  // Returns a handle to pass as a parent; the first call makes the root (parent -1).
  std::int32_t add(std::int32_t parent, Kind kind, int os_index = -1, std::string_view name = {});
  // The same, on the level of that key; add() takes the number of the kind above the object.
  std::int32_t add(std::int32_t parent, LevelKey key, int os_index = -1, std::string_view name = {});
  // As TreeBuilder's.
  void set_pus(std::int32_t leaf, std::vector<int> pus) { pus_.emplace_back(leaf, std::move(pus)); }
  void forbid(std::int32_t leaf) { forbidden_.push_back(leaf); }
  // The tree, each level as `level_of` describes it, and by default only of its kind. Throws Error(kInput) as
  // TreeBuilder does, and Error(kUnsupported) when a level lies above another in one place and below it in a second,
  // with several objects under one in both.
  [[nodiscard]] Tree build(const std::function<Level(const LevelKey&)>& level_of = only_kind) &&;

 private:
  // The kinds from the root down to an object: few, however many objects there are.
  struct Path {
    std::int32_t above;  // -1 for the root's
    LevelKey key;
  };
  struct Draft {
    std::int32_t parent;
    std::int32_t path;
    std::int32_t os_index;
  };

  static Level only_kind(const LevelKey& key) { return {key.first, {}, {}}; }
  [[nodiscard]] const LevelKey& key_of(std::int32_t object) const { return paths_[at(drafts_[at(object)].path)].key; }
  std::vector<LevelKey> order_levels();
  std::vector<LevelKey> order_with_runs();
  void sort_run(const std::vector<std::int32_t>& run, const std::vector<LevelKey>& order);

  std::vector<Path> paths_;
  std::map<std::pair<std::int32_t, LevelKey>, std::int32_t> path_at_;
  std::vector<Draft> drafts_;
  std::map<std::int32_t, std::string> names_;
  std::vector<std::pair<std::int32_t, std::vector<int>>> pus_;
  std::vector<std::int32_t> forbidden_;
};

}  // namespace ranktree::core::topo
