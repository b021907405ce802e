#include "core/topo/tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"

namespace ranktree::core::topo {
namespace {

[[noreturn]] void refuse_tree(const std::string& text) { throw Error(Fault::kInput, "machine tree: " + text); }

// Hop count (the default cost): the path between two leaves climbs to their common ancestor and descends, one edge for
// each branching level. Levels that never branch (one L3 per package) are shown in the tree but do not add hops.
std::vector<double> hop_costs(const Tree& tree) {
  std::vector<bool> branches(static_cast<std::size_t>(tree.level_count()), false);
  for (Object object = 0; object < tree.object_count(); ++object) {
    if (tree.child_count(object) > 1) branches[static_cast<std::size_t>(tree.level_of(object))] = true;
  }
  std::vector<double> costs(branches.size(), 0);
  for (std::size_t level = branches.size() - 1; level-- > 0;) {
    costs[level] = costs[level + 1] + (branches[level] ? 2 : 0);
  }
  return costs;
}

std::string level_text(const Tree& tree, int level) {
  return "level " + std::to_string(level) + " (" + std::string(kind_name(tree.level(level).kind)) + ")";
}

void check_arities(std::span<const Level> levels, std::span<const int> arities) {
  if (levels.size() != arities.size() + 1) {
    refuse_tree("expected one arity for each level above the leaves, " + std::to_string(levels.size() - 1) +
                ", found " + std::to_string(arities.size()));
  }
  for (std::size_t depth = 0; depth < arities.size(); ++depth) {
    if (arities[depth] >= 1) continue;
    refuse_tree("arity of level " + std::to_string(depth) + ": expected at least 1, found " +
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

std::span<const int> Tree::pus(Leaf leaf) const {
  const auto begin = at(pu_offset_[at(leaf)]);
  const auto end = at(pu_offset_[at(leaf) + 1]);
  return std::span<const int>(pu_numbers_).subspan(begin, end - begin);
}

Object Tree::node_of(Leaf leaf) const {
  for (Object object = leaf_object(leaf); object >= 0; object = parent(object)) {
    if (level(level_of(object)).kind == Kind::kNode) return object;
  }
  return -1;
}

int Tree::common_level(Leaf a, Leaf b) const {
  Object left = leaf_object(a);
  Object right = leaf_object(b);
  // Objects are numbered level by level in tree depth, so the larger number is never an ancestor of the smaller.
  while (left != right) {
    (left > right ? left : right) = parent(std::max(left, right));
  }
  return level_of(left);
}

double Tree::distance(Leaf a, Leaf b) const {
  const int common = common_level(a, b);
  if (common > 0 || interconnect_ == nullptr) return cost_[at(common)];
  return cost_[1] + interconnect_->distance(os_index(node_of(a)), os_index(node_of(b)));
}

void Tree::measure_network(Metric metric) {
  if (interconnect_ == nullptr) return;
  connect(std::make_shared<const Interconnect>(interconnect_->with_metric(metric)));
}

void Tree::connect(std::shared_ptr<const Interconnect> interconnect) {
  interconnect_ = std::move(interconnect);
  if (interconnect_ != nullptr) cost_[0] = cost_[1] + interconnect_->nearest();
}

Tree Tree::with_interconnect(std::shared_ptr<const Interconnect> interconnect) const {
  const auto refuse = [](const std::string& text) { throw Error(Fault::kMismatch, "network: " + text); };
  if (level_count() < 2 || level(1).kind != Kind::kNode) refuse("expected nodes below the root, found none");
  if (child_count(0) < 2 || child_count(0) != interconnect->hosts()) {
    refuse("expected " + std::to_string(std::max(interconnect->hosts(), 2)) + " nodes, found " +
           std::to_string(child_count(0)));
  }
  for (int i = 0; i < child_count(0); ++i) {
    if (os_index(first_child(0) + i) != i) refuse("expected nodes that are numbered in order");
  }
  Tree copy = *this;
  copy.connect(std::move(interconnect));
  return copy;
}

Tree Tree::with_metric(Metric metric) const {
  if (metric == Metric::kGiven) {
    throw Error(Fault::kInput, "metric: expected hops, latency or bandwidth; given costs are set with with_costs");
  }
  Tree copy = *this;
  copy.metric_ = metric;
  if (metric == Metric::kHops) {
    copy.cost_ = hop_costs(*this);
    copy.measure_network(metric);
    return copy;
  }
  const bool latency = metric == Metric::kLatency;
  for (int index = interconnect_ == nullptr ? 0 : 1; index + 1 < level_count(); ++index) {
    const auto& known = latency ? level(index).latency : level(index).bandwidth;
    if (!known) {
      throw Error(Fault::kUnsupported, level_text(*this, index) + ": its " + (latency ? "latency" : "bandwidth") +
                                           " is not known; give it in a machine file or use hops");
    }
    copy.cost_[at(index)] = latency ? *known : 1 / *known;
  }
  copy.measure_network(metric);
  return copy;
}

Tree Tree::with_costs(std::span<const double> costs) const {
  if (costs.size() + 1 != levels_.size()) {
    throw Error(Fault::kMismatch, "costs: expected one for each level above the leaves, " +
                                      std::to_string(levels_.size() - 1) + ", found " + std::to_string(costs.size()));
  }
  Tree copy = *this;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!std::isfinite(costs[i]) || costs[i] < 0) {
      throw Error(Fault::kInput, "cost of " + level_text(*this, static_cast<int>(i)) +
                                     ": expected a finite number, at least 0, found " + std::to_string(costs[i]));
    }
    copy.cost_[i] = costs[i];
  }
  copy.metric_ = Metric::kGiven;
  copy.interconnect_ = nullptr;
  return copy;
}

Tree Tree::with_allowed(std::span<const Leaf> leaves) const {
  Tree copy = *this;
  std::fill(copy.allowed_.begin(), copy.allowed_.end(), std::uint8_t{0});
  for (const Leaf leaf : leaves) {
    if (leaf < 0 || leaf >= leaf_count()) {
      throw Error(Fault::kInput,
                  "leaf: expected 0.." + std::to_string(leaf_count() - 1) + ", found " + std::to_string(leaf));
    }
    copy.allowed_[at(leaf)] = 1;
  }
  return copy;
}

// Leaf `handle` of a cut tree is allowed when one of the leaves below `object` is, and owns the PUs of those; all PUs
// where none is.
void Tree::give_leaf(TreeBuilder& builder, std::int32_t handle, Object object) const {
  std::vector<int> owned;
  const Leaf end = first_leaf(object) + leaves_below(object);
  bool usable = false;
  for (Leaf leaf = first_leaf(object); leaf < end; ++leaf) usable = usable || allowed(leaf);
  for (Leaf leaf = first_leaf(object); leaf < end; ++leaf) {
    if (usable && !allowed(leaf)) continue;
    const auto numbers = pus(leaf);
    owned.insert(owned.end(), numbers.begin(), numbers.end());
  }
  std::sort(owned.begin(), owned.end());
  builder.set_pus(handle, std::move(owned));
  if (!usable) builder.forbid(handle);
}

Tree Tree::cut_at(Kind kind) const {
  const auto found = std::find_if(levels_.begin(), levels_.end(), [&](const Level& each) { return each.kind == kind; });
  if (found == levels_.end() || found + 1 == levels_.end()) return *this;
  const int cut = static_cast<int>(found - levels_.begin());

  // An object above the cut stays. An object on it becomes a leaf on the cut level, as does a leaf with no ancestor on
  // it.
  TreeBuilder builder(std::vector<Level>(levels_.begin(), found + 1));
  std::vector<std::int32_t> handle(parent_.size(), -1);
  for (Object object = 0; object < object_count(); ++object) {
    const bool below = level_of(object) > cut;
    const bool leaf = child_count(object) == 0 || level_of(object) == cut;
    Object above = parent(object);
    while (below && above >= 0 && level_of(above) > cut) above = parent(above);
    if (below && (!leaf || level_of(above) == cut)) continue;
    handle[at(object)] =
        builder.add(above < 0 ? -1 : handle[at(above)], below ? cut : level_of(object), os_index(object), name(object));
    if (leaf) give_leaf(builder, handle[at(object)], object);
  }
  Tree tree = std::move(builder).build();
  if (metric_ != Metric::kHops) tree = tree.with_costs(std::span(cost_).first(at(cut)));
  if (cut > 0) tree.connect(interconnect_);
  return tree;
}

std::string level_name(const Tree& tree, int level) {
  const Kind kind = tree.level(level).kind;
  std::string name(kind_name(kind));
  if (kind != Kind::kSwitch) return name;
  int outside = 0;
  for (int other = 0; other < level; ++other) outside += tree.level(other).kind == Kind::kSwitch ? 1 : 0;
  return name + std::to_string(outside);
}

std::vector<std::string> level_names(const Tree& tree) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(tree.level_count()));
  for (int level = 0; level < tree.level_count(); ++level) names.push_back(level_name(tree, level));
  return names;
}

bool has_described_nodes(const Tree& tree) {
  for (int level = 0; level < tree.level_count(); ++level) {
    if (tree.level(level).kind == Kind::kNode) return tree.level(level).described;
  }
  return false;
}

TreeBuilder::TreeBuilder(std::vector<Level> levels) : levels_(std::move(levels)) {
  if (levels_.empty()) refuse_tree("expected at least one level, found none");
}

std::int32_t TreeBuilder::add(std::int32_t parent, int level, int os_index, std::string_view name) {
  const auto count = static_cast<std::int32_t>(drafts_.size());
  if (parent < -1 || parent >= count)
    refuse_tree("object " + std::to_string(count) + ": its parent does not exist yet");
  if ((parent == -1) != (count == 0)) refuse_tree("expected exactly one root, the first object");
  if (level < 0 || at(level) >= levels_.size()) {
    refuse_tree("object " + std::to_string(count) + ": expected a level in 0.." + std::to_string(levels_.size() - 1) +
                ", found " + std::to_string(level));
  }
  if (parent >= 0 && level <= drafts_[at(parent)].level) {
    refuse_tree("object " + std::to_string(count) + ": expected a level below its parent's");
  }
  drafts_.push_back({parent, level, os_index, std::string(name), {}, true});
  return count;
}

void TreeBuilder::set_pus(std::int32_t leaf, std::vector<int> pus) { drafts_.at(at(leaf)).pus = std::move(pus); }

void TreeBuilder::forbid(std::int32_t leaf) { drafts_.at(at(leaf)).allowed = false; }

// Two passes: objects are numbered breadth first, which keeps children together, then leaves from left to right.
// O(objects) beyond the sort of equal names.
Tree TreeBuilder::build() && {
  if (drafts_.empty()) refuse_tree("expected a root, found nothing");
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
        refuse_tree("an object of level " + std::to_string(tree.level_of_[object]) + " (" +
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
