#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(const std::string& text) { throw Error(Fault::kInput, "machine tree: " + text); }

}  // namespace

TreeBuilder::TreeBuilder(std::vector<Level> levels) : levels_(std::move(levels)) {
  if (levels_.empty()) refuse("expected at least one level, found none");
}

std::int32_t TreeBuilder::add(std::int32_t parent, int level, int os_index, std::string_view name) {
  const auto count = static_cast<std::int32_t>(drafts_.size());
  if (parent < -1 || parent >= count) refuse("object " + std::to_string(count) + ": its parent does not exist yet");
  if ((parent == -1) != (count == 0)) refuse("expected exactly one root, the first object");
  if (level < 0 || at(level) >= levels_.size()) {
    refuse("object " + std::to_string(count) + ": expected a level in 0.." + std::to_string(levels_.size() - 1) +
           ", found " + std::to_string(level));
  }
  if (parent >= 0 && level <= drafts_[at(parent)].level) {
    refuse("object " + std::to_string(count) + ": expected a level below its parent's");
  }
  drafts_.push_back({parent, level, os_index, std::string(name), {}, true});
  return count;
}

void TreeBuilder::set_pus(std::int32_t leaf, std::vector<int> pus) { drafts_.at(at(leaf)).pus = std::move(pus); }

void TreeBuilder::forbid(std::int32_t leaf) { drafts_.at(at(leaf)).allowed = false; }

// Two passes: objects are numbered breadth first, which keeps children together, then leaves from left to right.
// O(objects) beyond the sort of equal names.
Tree TreeBuilder::build() && {
  if (drafts_.empty()) refuse("expected a root, found nothing");
  const std::size_t count = drafts_.size();

  std::vector<std::int32_t> children_of(count + 1, 0);  // CSR offsets by draft, children in the order they were added
  for (std::size_t i = 1; i < count; ++i) ++children_of[at(drafts_[i].parent) + 1];
  std::partial_sum(children_of.begin(), children_of.end(), children_of.begin());
  std::vector<std::int32_t> children(count == 0 ? 0 : count - 1);
  std::vector<std::int32_t> next(children_of.begin(), children_of.end() - 1);
  for (std::size_t i = 1; i < count; ++i) {
    children[at(next[at(drafts_[i].parent)]++)] = static_cast<std::int32_t>(i);
  }

  Tree tree;
  tree.levels_ = std::move(levels_);
  tree.names_.emplace_back();
  std::map<std::string, std::int32_t, std::less<>> name_index{{"", 0}};
  std::vector<std::int32_t> order{0};  // the draft of each object
  tree.parent_.push_back(-1);
  for (std::size_t object = 0; object < order.size(); ++object) {
    Draft& draft = drafts_[at(order[object])];
    const auto begin = children_of[at(order[object])];
    const auto end = children_of[at(order[object]) + 1];
    tree.first_child_.push_back(static_cast<Object>(order.size()));
    tree.child_count_.push_back(end - begin);
    tree.level_of_.push_back(draft.level);
    tree.os_index_.push_back(draft.os_index);
    const auto [entry, fresh] = name_index.try_emplace(draft.name, static_cast<std::int32_t>(tree.names_.size()));
    if (fresh) tree.names_.push_back(draft.name);
    tree.name_of_.push_back(entry->second);
    for (auto i = begin; i < end; ++i) {
      order.push_back(children[at(i)]);
      tree.parent_.push_back(static_cast<Object>(object));
    }
  }
  number_leaves(tree, order);
  tree.cost_.assign(tree.levels_.size(), 0);
  return tree.with_metric(Metric::kHops);
}

void TreeBuilder::number_leaves(Tree& tree, std::span<const std::int32_t> order) {
  const std::size_t count = order.size();
  tree.leaves_below_.assign(count, 0);
  for (std::size_t object = count; object-- > 0;) {
    if (tree.child_count_[object] == 0) {
      if (at(tree.level_of_[object]) + 1 != tree.levels_.size()) {
        refuse("an object of level " + std::to_string(tree.level_of_[object]) + " (" +
               std::string(kind_name(tree.levels_[at(tree.level_of_[object])].kind)) +
               ") has no children but is not on the last level");
      }
      tree.leaves_below_[object] = 1;
    }
    if (object > 0) tree.leaves_below_[at(tree.parent_[object])] += tree.leaves_below_[object];
  }
  tree.first_leaf_.assign(count, 0);
  tree.leaf_object_.assign(at(tree.leaves_below_[0]), 0);
  for (std::size_t object = 0; object < count; ++object) {
    Leaf next = tree.first_leaf_[object];
    for (int i = 0; i < tree.child_count_[object]; ++i) {
      const auto child = at(tree.first_child_[object] + i);
      tree.first_leaf_[child] = next;
      next += tree.leaves_below_[child];
    }
    if (tree.child_count_[object] == 0) tree.leaf_object_[at(next)] = static_cast<Object>(object);
  }
  tree.pu_offset_.push_back(0);
  for (const Object object : tree.leaf_object_) {
    Draft& draft = drafts_[at(order[at(object)])];
    if (draft.pus.empty()) draft.pus.push_back(draft.os_index);
    tree.pu_numbers_.insert(tree.pu_numbers_.end(), draft.pus.begin(), draft.pus.end());
    tree.pu_offset_.push_back(static_cast<std::int64_t>(tree.pu_numbers_.size()));
    tree.allowed_.push_back(draft.allowed ? 1 : 0);
  }
}

namespace {

void check_arities(std::span<const Level> levels, std::span<const int> arities) {
  if (levels.size() != arities.size() + 1) {
    refuse("expected one arity for each level above the leaves, " + std::to_string(levels.size() - 1) + ", found " +
           std::to_string(arities.size()));
  }
  for (std::size_t depth = 0; depth < arities.size(); ++depth) {
    if (arities[depth] >= 1) continue;
    refuse("arity of level " + std::to_string(depth) + ": expected at least 1, found " +
           std::to_string(arities[depth]));
  }
}

// Adds one object of a uniform tree. Nodes are named and numbered over the whole tree, objects inside them within their
// node (per_node objects of this level each; 0 above the nodes or without nodes).
std::int32_t add_uniform(TreeBuilder& builder, std::int32_t parent, int level, Kind kind, std::int64_t index,
                         std::int64_t per_node) {
  if (kind == Kind::kNode) {
    return builder.add(parent, level, static_cast<int>(index), "n" + std::to_string(index));
  }
  return builder.add(parent, level, static_cast<int>(per_node == 0 ? index : index % per_node));
}

}  // namespace

Tree uniform_tree(std::span<const Level> levels, std::span<const int> arities) {
  check_arities(levels, arities);
  TreeBuilder builder(std::vector<Level>(levels.begin(), levels.end()));
  std::vector<std::int32_t> row{add_uniform(builder, -1, 0, levels[0].kind, 0, 0)};
  std::int64_t per_node = levels[0].kind == Kind::kNode ? 1 : 0;
  for (std::size_t depth = 0; depth < arities.size(); ++depth) {
    const Kind kind = levels[depth + 1].kind;
    per_node = kind == Kind::kNode ? 1 : per_node * arities[depth];
    std::vector<std::int32_t> below;
    below.reserve(row.size() * at(arities[depth]));
    for (std::size_t i = 0; i < row.size() * at(arities[depth]); ++i) {
      below.push_back(add_uniform(builder, row[i / at(arities[depth])], static_cast<int>(depth) + 1, kind,
                                  static_cast<std::int64_t>(i), per_node));
    }
    row = std::move(below);
  }
  return std::move(builder).build();
}

}  // namespace ranktree::core::topo
