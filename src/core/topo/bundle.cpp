#include "core/topo/bundle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {
namespace {

class Bundler {
 public:
  Bundler(const Tree& tree, int count) : tree_(tree), count_(count), builder_(levels_of(tree)) {
    before_.push_back(0);
    for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf)
      before_.push_back(before_.back() + (tree.allowed(leaf) ? 1 : 0));
  }

  Tree build() {
    add(-1, 0);
    Tree bundled = std::move(builder_).build();
    if (tree_.metric() != Metric::kHops) {
      std::vector<double> costs;
      for (int level = 0; level + 1 < tree_.level_count(); ++level) costs.push_back(tree_.cost(level));
      bundled = bundled.with_costs(costs);
    }
    if (tree_.interconnect() == nullptr) return bundled;
    return bundled.with_interconnect(std::make_shared<const Interconnect>(*tree_.interconnect()));
  }

 private:
  static std::vector<Level> levels_of(const Tree& tree) {
    std::vector<Level> levels;
    levels.reserve(static_cast<std::size_t>(tree.level_count()));
    for (int level = 0; level < tree.level_count(); ++level) levels.push_back(tree.level(level));
    return levels;
  }

  [[nodiscard]] Leaf end(Object object) const { return tree_.first_leaf(object) + tree_.leaves_below(object); }
  [[nodiscard]] Leaf allowed(Object object) const {
    return before_[at(end(object))] - before_[at(tree_.first_leaf(object))];
  }

  // Children with too few leaves for a bundle of their own share bundles, the last ones of the object. What larger
  // children leave over stays free.
  void add(std::int32_t parent, Object object) {
    const std::int32_t here = builder_.add(parent, tree_.level_of(object), tree_.os_index(object), tree_.name(object));
    bool deeper = false;
    for (int i = 0; i < tree_.child_count(object); ++i) {
      const Object child = tree_.first_child(object) + i;
      deeper = deeper || (tree_.child_count(child) > 0 && allowed(child) >= count_);
    }
    // All nodes stay: their number is the number of hosts.
    const bool above_nodes = tree_.level(tree_.level_of(object)).kind < Kind::kNode;
    std::vector<Leaf> rest;
    if (!deeper && !(above_nodes && tree_.child_count(object) > 0)) {
      append_allowed(object, rest);
      if (allowed(object) < count_) forbid(here, object);
      return add_bundles(here, rest);
    }
    for (int i = 0; i < tree_.child_count(object); ++i) {
      const Object child = tree_.first_child(object) + i;
      if (above_nodes || allowed(child) >= count_) {
        add(here, child);
      } else {
        append_allowed(child, rest);
      }
    }
    add_bundles(here, rest);
  }

  void append_allowed(Object object, std::vector<Leaf>& leaves) const {
    for (Leaf leaf = tree_.first_leaf(object); leaf < end(object); ++leaf) {
      if (tree_.allowed(leaf)) leaves.push_back(leaf);
    }
  }

  void add_bundles(std::int32_t parent, const std::vector<Leaf>& leaves) {
    const std::size_t bundles = leaves.size() / at(count_);
    for (std::size_t bundle = 0; bundle < bundles; ++bundle) {
      std::vector<int> owned;
      for (std::size_t i = bundle * at(count_); i < (bundle + 1) * at(count_); ++i) {
        const auto pus = tree_.pus(leaves[i]);
        owned.insert(owned.end(), pus.begin(), pus.end());
      }
      add_leaf(parent, static_cast<int>(bundle), std::move(owned));
    }
  }

  // A leaf of all PUs that no rank may use, where there are too few.
  void forbid(std::int32_t parent, Object object) {
    std::vector<int> owned;
    for (Leaf leaf = tree_.first_leaf(object); leaf < end(object); ++leaf) {
      const auto pus = tree_.pus(leaf);
      owned.insert(owned.end(), pus.begin(), pus.end());
    }
    std::sort(owned.begin(), owned.end());
    owned.erase(std::unique(owned.begin(), owned.end()), owned.end());
    builder_.forbid(add_leaf(parent, 0, std::move(owned)));
  }

  std::int32_t add_leaf(std::int32_t parent, int number, std::vector<int> pus) {
    std::sort(pus.begin(), pus.end());
    const std::int32_t leaf = builder_.add(parent, tree_.level_count() - 1, number);
    builder_.set_pus(leaf, std::move(pus));
    return leaf;
  }

  const Tree& tree_;
  int count_;
  TreeBuilder builder_;
  std::vector<Leaf> before_;  // leaf -> allowed leaves before it
};

}  // namespace

Tree bundle_leaves(const Tree& tree, int count) {
  if (count < 1) {
    throw Error(Fault::kInput, "threads per rank: expected at least 1, found " + std::to_string(count));
  }
  return count == 1 || tree.level_count() < 2 ? tree : Bundler(tree, count).build();
}

}  // namespace ranktree::core::topo
