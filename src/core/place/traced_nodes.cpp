#include "core/place/traced_nodes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/topo/occupancy.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {

using topo::Leaf;
using topo::Object;
using topo::Tree;

namespace {

// A host or a node, with its ranks or its slots.
struct Counted {
  std::string name;
  std::size_t count = 0;
};
using Names = std::vector<Counted>;
using NodeOf = std::map<std::string, std::string, std::less<>>;

// The names in order of their first appearance.
class Counter {
 public:
  void add(std::string_view name) {
    if (last_ < names_.size() && names_[last_].name == name) {  // neighbouring leaves are of one node
      ++names_[last_].count;
      return;
    }
    const auto [entry, is_new] = index_.try_emplace(std::string(name), names_.size());
    if (is_new) names_.push_back({entry->first});
    last_ = entry->second;
    ++names_[last_].count;
  }
  [[nodiscard]] const Names& names() const { return names_; }

 private:
  std::map<std::string, std::size_t, std::less<>> index_;
  Names names_;
  std::size_t last_ = 0;
};

Names nodes_of(const Tree& tree, const Constraints& constraints) {
  Counter counter;
  for (const Leaf leaf : slots_of(tree, constraints)) {
    const Object node = tree.node_of(leaf);
    if (node >= 0) counter.add(tree.name(node));
  }
  return counter.names();
}

std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

// Nodes by their names without the domain.
using NodesNamed = std::multimap<std::string_view, std::string_view>;

// The node that a host is; nothing where the machine lacks it, or where several nodes may be meant.
std::optional<std::string_view> node_named(const std::string& host, const NodesNamed& nodes) {
  std::optional<std::string_view> found;
  bool several = false;
  const auto [first, last] = nodes.equal_range(short_name(host));
  for (auto each = first; each != last; ++each) {
    if (each->second == host) return each->second;
    if (!topo::same_host(each->second, host)) continue;
    several = found.has_value();
    found = each->second;
  }
  return several ? std::nullopt : found;
}

// The nodes of all hosts by their names; nothing where a host has none.
std::optional<NodeOf> by_name(const Names& hosts, const Names& nodes) {
  NodesNamed named;
  for (const Counted& node : nodes) named.emplace(short_name(node.name), node.name);
  NodeOf found;
  for (const Counted& host : hosts) {
    const auto node = node_named(host.name, named);
    if (!node) return std::nullopt;
    found.emplace(host.name, *node);
  }
  return found;
}

// The hosts are the nodes in order; nothing where one has fewer slots than its host had ranks.
std::optional<NodeOf> in_order(const Names& hosts, const Names& nodes) {
  if (hosts.size() > nodes.size()) return std::nullopt;
  NodeOf found;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].count > nodes[i].count) return std::nullopt;
    found.emplace(hosts[i].name, nodes[i].name);
  }
  return found;
}

// The first names, and how many more there are.
std::string shown(const Names& names, std::size_t count) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(count, kMost); ++i) text += (i == 0 ? "" : ", ") + names[i].name;
  return count > kMost ? text + " and " + std::to_string(count - kMost) + " more" : text;
}

std::vector<std::string> by_rank(const std::vector<std::string>& hosts, const NodeOf& node_of) {
  std::vector<std::string> nodes;
  nodes.reserve(hosts.size());
  for (const std::string& host : hosts) nodes.push_back(node_of.find(host)->second);
  return nodes;
}

}  // namespace

TracedNodes traced_nodes(const Tree& tree, const std::vector<std::string>& hosts, const PlanOptions& options) {
  const bool unknown = std::any_of(hosts.begin(), hosts.end(), [](const std::string& host) { return host.empty(); });
  if (hosts.empty() || unknown) return {};
  Counter counter;
  for (const std::string& host : hosts) counter.add(host);
  const Names& traced = counter.names();
  const Names nodes = nodes_of(tree, constraints_of(tree, static_cast<pattern::Rank>(hosts.size()), options));
  if (const auto named = by_name(traced, nodes)) return {by_rank(hosts, *named), {}};
  // A machine without nodes is one host, whose first slots are the current rank order.
  if (nodes.empty() && traced.size() == 1) return {};
  const std::string absent =
      "the hosts of the trace (" + shown(traced, traced.size()) + ") are not hosts of the machine";
  const auto ordered = in_order(traced, nodes);
  if (!ordered) {
    return {{}, absent + ", and their ranks do not fit on its nodes: the plan is compared with the current rank order"};
  }
  return {by_rank(hosts, *ordered),
          absent + ": the traced placement is that on its nodes in order (" + shown(nodes, traced.size()) + ")"};
}

}  // namespace ranktree::core::place
