#include "core/topo/kind_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {
namespace {

// What must stand above each level.
using Above = std::map<LevelKey, std::set<LevelKey>>;

// Repeatedly takes the first level by kind that has no remaining level above it, and leaves the others in `rest`: each
// stands above another, and below it. O(levels^2); there are few levels.
std::vector<LevelKey> take_in_order(Above& rest) {
  std::vector<LevelKey> order;
  while (true) {
    const auto next = std::find_if(rest.begin(), rest.end(), [](const auto& each) { return each.second.empty(); });
    if (next == rest.end()) return order;
    const LevelKey key = next->first;
    rest.erase(next);
    for (auto& [other, above] : rest) above.erase(key);
    order.push_back(key);
  }
}

[[noreturn]] void refuse_order(const Above& rest) {
  std::set<LevelKey> seen;
  LevelKey key = rest.begin()->first;
  while (seen.insert(key).second) key = *rest.at(key).begin();  // the last one found again stands above itself
  throw Error(Fault::kUnsupported, "machine: level " + std::string(kind_name(rest.at(key).begin()->first)) +
                                       " lies above level " + std::string(kind_name(key.first)) +
                                       " in one place and below it in another");
}

// Objects of which each is all that its parent holds: they have the same leaves, and any order of them is right.
class Runs {
 public:
  Runs(std::vector<std::int32_t> parents, const std::map<std::int32_t, std::string>& names)
      : parents_(std::move(parents)), children_(parents_.size(), 0), fixed_(parents_.size(), false) {
    for (std::size_t i = 1; i < parents_.size(); ++i) ++children_[at(parents_[i])];
    for (std::size_t i = 0; i < parents_.size(); ++i) fixed_[i] = i == 0 || children_[i] == 0;
    for (const auto& [object, name] : names) fixed_[at(object)] = true;
  }

  // The objects from this one up to the first of its run.
  [[nodiscard]] std::vector<std::int32_t> up_from(std::int32_t object) const {
    std::vector<std::int32_t> run{object};
    while (!is_first(run.back())) run.push_back(parents_[at(run.back())]);
    return run;
  }

  [[nodiscard]] bool is_first(std::int32_t object) const {
    if (fixed_[at(object)]) return true;
    const std::size_t parent = at(parents_[at(object)]);
    return fixed_[parent] || children_[parent] != 1;
  }

 private:
  std::vector<std::int32_t> parents_;
  std::vector<std::int32_t> children_;
  std::vector<bool> fixed_;  // the root, leaves, and what has a name
};

}  // namespace

std::int32_t KindBuilder::add(std::int32_t parent, Kind kind, int os_index, std::string_view name) {
  int number = 0;
  for (std::int32_t path = parent < 0 ? -1 : drafts_.at(at(parent)).path; path >= 0; path = paths_[at(path)].above) {
    number += paths_[at(path)].key.first == kind ? 1 : 0;
  }
  return add(parent, LevelKey(kind, number), os_index, name);
}

std::int32_t KindBuilder::add(std::int32_t parent, LevelKey key, int os_index, std::string_view name) {
  const auto object = static_cast<std::int32_t>(drafts_.size());
  const std::int32_t above = parent < 0 ? -1 : drafts_.at(at(parent)).path;
  const auto [path, fresh] = path_at_.try_emplace({above, key}, static_cast<std::int32_t>(paths_.size()));
  if (fresh) paths_.push_back({above, key});
  drafts_.push_back({parent, path->second, os_index});
  if (!name.empty()) names_.emplace(object, name);
  return object;
}

std::vector<LevelKey> KindBuilder::order_levels() {
  Above above;
  for (const Path& path : paths_) {
    std::set<LevelKey>& own = above[path.key];
    if (path.above >= 0) own.insert(paths_[at(path.above)].key);
  }
  std::vector<LevelKey> order = take_in_order(above);
  return above.empty() ? order : order_with_runs();
}

std::vector<LevelKey> KindBuilder::order_with_runs() {
  std::vector<std::int32_t> parents;
  parents.reserve(drafts_.size());
  for (const Draft& draft : drafts_) parents.push_back(draft.parent);
  const Runs runs(std::move(parents), names_);

  Above above;
  std::set<std::tuple<std::int32_t, std::size_t, std::size_t>> seen;  // paths, each cut in runs
  std::map<std::int32_t, std::vector<std::int32_t>> longer;           // runs by their last object
  for (std::int32_t object = 0; at(object) < drafts_.size(); ++object) {
    const std::vector<std::int32_t> own = runs.up_from(object);
    const std::int32_t parent = drafts_[at(own.back())].parent;
    const std::vector<std::int32_t> outer = parent < 0 ? std::vector<std::int32_t>{} : runs.up_from(parent);
    if (outer.size() > 1) longer.emplace(outer.front(), outer);
    if (!seen.emplace(drafts_[at(object)].path, own.size(), outer.size()).second) continue;
    std::set<LevelKey>& keys = above[key_of(object)];
    for (const std::int32_t each : outer) keys.insert(key_of(each));
  }
  std::vector<LevelKey> order = take_in_order(above);
  if (!above.empty()) refuse_order(above);
  for (const auto& [last, run] : longer) sort_run(run, order);
  return order;
}

// `run`: upwards.
void KindBuilder::sort_run(const std::vector<std::int32_t>& run, const std::vector<LevelKey>& order) {
  std::vector<Draft> sorted;
  sorted.reserve(run.size());
  for (const std::int32_t object : run) sorted.push_back(drafts_[at(object)]);
  const auto position = [&](const Draft& draft) {
    return std::find(order.begin(), order.end(), paths_[at(draft.path)].key) - order.begin();
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Draft& a, const Draft& b) { return position(a) > position(b); });
  for (std::size_t i = 0; i < run.size(); ++i) {
    drafts_[at(run[i])].path = sorted[i].path;
    drafts_[at(run[i])].os_index = sorted[i].os_index;
  }
}

Tree KindBuilder::build(const std::function<Level(const LevelKey&)>& level_of) && {
  std::vector<Level> levels;
  std::map<LevelKey, int> index;
  for (const LevelKey& key : order_levels()) {
    index.emplace(key, static_cast<int>(levels.size()));
    levels.push_back(level_of(key));
  }
  std::vector<int> level_at;  // by path
  level_at.reserve(paths_.size());
  for (const Path& path : paths_) level_at.push_back(index.at(path.key));
  TreeBuilder builder(std::move(levels));
  auto name = names_.begin();
  for (std::int32_t object = 0; at(object) < drafts_.size(); ++object) {
    const Draft& draft = drafts_[at(object)];
    const bool named = name != names_.end() && name->first == object;
    builder.add(draft.parent, level_at[at(draft.path)], draft.os_index, named ? name->second : std::string_view());
    if (named) ++name;
  }
  for (auto& [leaf, pus] : pus_) builder.set_pus(leaf, std::move(pus));
  for (const std::int32_t leaf : forbidden_) builder.forbid(leaf);
  return std::move(builder).build();
}

}  // namespace ranktree::core::topo
