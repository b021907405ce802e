#include "core/topo/tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"

namespace ranktree::core::topo {
namespace {

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

// Leaf `handle` of a cut tree owns all PUs below `object`; it is allowed when one of the leaves below is.
void Tree::give_leaf(TreeBuilder& builder, std::int32_t handle, Object object) const {
  std::vector<int> owned;
  bool usable = false;
  for (Leaf leaf = first_leaf(object); leaf < first_leaf(object) + leaves_below(object); ++leaf) {
    const auto numbers = pus(leaf);
    owned.insert(owned.end(), numbers.begin(), numbers.end());
    usable = usable || allowed(leaf);
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

}  // namespace ranktree::core::topo
