#include "core/simulate/platform.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/simulate/level_costs.h"
#include "core/simulate/network_links.h"
#include "core/topo/kind.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {
namespace {

using topo::Kind;
using topo::Leaf;
using topo::Object;

// In any order: hosts that are not equally deep below the root are numbered depth first.
void require_numbered_nodes(const topo::Tree& tree) {
  std::vector<int> numbers;
  for (Object object = 0; object < tree.object_count(); ++object) {
    if (tree.level(tree.level_of(object)).kind == Kind::kNode) numbers.push_back(tree.os_index(object));
  }
  std::sort(numbers.begin(), numbers.end());
  bool good = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) good = good && numbers[i] == static_cast<int>(i);
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) good = good && tree.node_of(leaf) >= 0;
  if (good) return;
  throw Error(Fault::kUnsupported, "machine: expected a network of nodes with the numbers 0, 1, ..., found another");
}

}  // namespace

Platform::Platform(const topo::Machine& machine, Kind unit) : Platform(topo::to_tree(machine).cut_at(unit), {}) {}

Platform::Platform(topo::Tree tree, std::vector<LevelCost> costs)
    : tree_(std::move(tree)), costs_(costs.empty() ? level_costs(tree_) : std::move(costs)) {
  if (tree_.level(0).kind < Kind::kNode) {
    require_numbered_nodes(tree_);
    if (tree_.interconnect() != nullptr) {
      interconnect_ = in_seconds(*tree_.interconnect());
      const auto inside =
          std::find_if(costs_.begin(), costs_.end(), [](const LevelCost& cost) { return cost.kind >= Kind::kNode; });
      const double usual = usual_link_bandwidth();
      // No more than inside the nodes: level_costs().
      const double otherwise = inside == costs_.end() ? usual : std::min(usual, inside->bandwidth);
      network_ = interconnect_links(tree_, *interconnect_, otherwise);
    } else {
      network_ = switch_links(tree_, costs_);
    }
    bandwidth_ = network_->bandwidths();
    node_of_.reserve(at(tree_.leaf_count()));
    for (Leaf leaf = 0; leaf < tree_.leaf_count(); ++leaf) node_of_.push_back(tree_.node_of(leaf));
  }
  add_inside();
}

int Platform::network_link_count() const { return network_ ? static_cast<int>(network_->bandwidths().size()) : 0; }

void Platform::add_inside() {
  std::vector<double> widest(costs_.size(), 0);  // by level of the object above
  for (std::size_t level = 0; level < costs_.size(); ++level) {
    if (costs_[level].kind < Kind::kNode) continue;
    widest[level] = std::max(costs_[level].bandwidth, level > 0 ? widest[level - 1] : 0);
  }
  port_.assign(at(tree_.object_count()), -1);
  for (Object object = 1; object < tree_.object_count(); ++object) {
    const Object above = tree_.parent(object);
    const int level = tree_.level_of(above);
    if (costs_[at(level)].kind < Kind::kNode || tree_.child_count(above) < 2) continue;
    port_[at(object)] = static_cast<LinkId>(bandwidth_.size());
    owner_.push_back(object);
    bandwidth_.insert(bandwidth_.end(), 2, widest[at(level)]);
  }
  add_narrow(widest);
  if (bandwidth_.size() > at(kMaxLinks)) {
    throw Error(Fault::kUnsupported, "machine: expected at most " + std::to_string(kMaxLinks) + " links, found " +
                                         std::to_string(bandwidth_.size()));
  }
}

// Leaves have links of their own to levels with less bandwidth than a level above them inside the node.
void Platform::add_narrow(const std::vector<double>& widest) {
  narrow_.assign(costs_.size(), -1);
  for (std::size_t level = 0; level < costs_.size(); ++level) {
    if (costs_[level].kind < Kind::kNode || costs_[level].bandwidth >= widest[level]) continue;
    narrow_[level] = static_cast<LinkId>(bandwidth_.size());
    for (Leaf leaf = 0; leaf < tree_.leaf_count(); ++leaf) owner_.push_back(tree_.leaf_object(leaf));
    bandwidth_.resize(bandwidth_.size() + 2 * at(tree_.leaf_count()), costs_[level].bandwidth);
  }
}

std::string Platform::link_name(LinkId link) const {
  if (link < network_link_count()) return network_->name(link);
  const LinkId index = link - network_link_count();
  const Object object = owner_[at(index / 2)];
  const Object node = tree_.node_of(tree_.first_leaf(object));
  std::string name(topo::kind_name(tree_.level(tree_.level_of(object)).kind));
  name += " " + std::to_string(tree_.os_index(object));
  if (node >= 0 && !tree_.name(node).empty()) name += " of " + std::string(tree_.name(node));
  name += index % 2 == 0 ? " up" : " down";
  for (std::size_t level = 0; level < narrow_.size(); ++level) {
    if (narrow_[level] < 0 || link < narrow_[level] || link >= narrow_[level] + 2 * tree_.leaf_count()) continue;
    name.append(" to the level ").append(topo::kind_name(costs_[level].kind));
  }
  return name;
}

std::vector<LinkId> Platform::links_of(Leaf leaf) const {
  std::vector<LinkId> links;
  for (Object object = tree_.leaf_object(leaf); object > 0; object = tree_.parent(object)) {
    const LinkId port = port_[at(object)];
    if (port >= 0) links.insert(links.end(), {port, port + 1});
  }
  for (const LinkId narrow : narrow_) {
    if (narrow >= 0) links.insert(links.end(), {narrow + 2 * leaf, narrow + 2 * leaf + 1});
  }
  return links;
}

// As Tree::common_level() of a leaf of each, from where they can differ.
int Platform::common_level_of_nodes(Object a, Object b) const {
  while (a != b) (a > b ? a : b) = tree_.parent(std::max(a, b));
  return tree_.level_of(a);
}

// Up from one leaf, then, found in the other order, down to the other one.
void Platform::append_inside(Leaf from, Leaf to, int common_level, std::vector<LinkId>& links) const {
  const LinkId narrow = narrow_[at(common_level)];
  if (narrow >= 0) links.push_back(narrow + 2 * from);
  for (Object up = tree_.leaf_object(from); tree_.level_of(up) > common_level; up = tree_.parent(up)) {
    if (port_[at(up)] >= 0) links.push_back(port_[at(up)]);
  }
  const auto middle = static_cast<std::ptrdiff_t>(links.size());
  for (Object down = tree_.leaf_object(to); tree_.level_of(down) > common_level; down = tree_.parent(down)) {
    if (port_[at(down)] >= 0) links.push_back(port_[at(down)] + 1);
  }
  if (narrow >= 0) links.insert(links.begin() + middle, narrow + 2 * to + 1);  // last, as the rest is turned
  std::reverse(links.begin() + middle, links.end());
}

Route Platform::route(Leaf from, Leaf to) const {
  Route route;
  find_route(from, to, route);
  return route;
}

void Platform::find_route(Leaf from, Leaf to, Route& route) const {
  route.links.clear();
  if (from == to) {
    const LinkId own = port_[at(tree_.leaf_object(from))];
    if (own >= 0) route.links.push_back(own);
    route.latency = costs_.empty() ? 0 : costs_.back().latency;
    route.distance = 0;
    return;
  }
  if (node_of_.empty() || node_of_[at(from)] == node_of_[at(to)]) {
    const int level = tree_.common_level(from, to);
    append_inside(from, to, level, route.links);
    route.latency = costs_[at(level)].latency;
    route.distance = tree_.cost(level);
    return;
  }
  const int level = common_level_of_nodes(node_of_[at(from)], node_of_[at(to)]);
  const int a = tree_.os_index(node_of_[at(from)]);
  const int b = tree_.os_index(node_of_[at(to)]);
  network_->append_route(a, b, route.links);
  route.latency = costs_[at(level)].latency;
  route.distance = tree_.cost(level);
  if (!interconnect_) return;
  route.latency = interconnect_->distance(a, b);  // and where leaves are more than nodes, what is inside
  if (at(level) + 1 < costs_.size()) route.latency += costs_[at(level) + 1].latency;
  route.distance = tree_.distance(from, to);
}

// A tree's links are numbered in pairs, up and down. A leaf's own link is the same in both directions.
void Platform::turn_back(Leaf from, Leaf to, Route& route) const {
  if (from == to) return;
  if (interconnect_) return find_route(to, from, route);
  std::reverse(route.links.begin(), route.links.end());
  for (LinkId& link : route.links) link += link % 2 == 0 ? 1 : -1;
}

}  // namespace ranktree::core::simulate
