#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/simulate/level_costs.h"
#include "core/simulate/network_links.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {
namespace {

using topo::Kind;
using topo::Object;

class SwitchLinks final : public NetworkLinks {
 public:
  SwitchLinks(const topo::Tree& tree, const std::vector<LevelCost>& costs)
      : tree_(tree), port_(at(tree.object_count()), -1), upwards_(at(tree.object_count()), 0) {
    double widest = 0;
    for (const LevelCost& cost : costs) {
      if (cost.kind < Kind::kNode) widest = std::max(widest, cost.bandwidth);
    }
    nodes_ = nodes_by_number(tree);
    for (const Object node : nodes_) add_port(node, widest);
    for (Object object = tree.object_count() - 1; object > 0; --object) {
      if (kind_of(object) == Kind::kSwitch) add_switch(object);
    }
    narrow_.assign(costs.size(), -1);
    for (std::size_t level = 0; level < costs.size(); ++level) {
      if (costs[level].kind >= Kind::kNode || costs[level].bandwidth >= widest) continue;
      narrow_[level] = add_links(2 * static_cast<std::int64_t>(nodes_.size()), costs[level].bandwidth);
    }
  }

  void append_route(int from, int to, std::vector<LinkId>& links) const override {
    Object above = nodes_[at(from)];  // in the end the lowest object above both
    for (Object other = nodes_[at(to)]; above != other;) {
      if (tree_.level_of(above) < tree_.level_of(other)) {
        other = tree_.parent(other);
        continue;
      }
      if (port_[at(above)] >= 0) links.push_back(port_[at(above)]);
      above = tree_.parent(above);
    }
    const LinkId narrow = narrow_[at(tree_.level_of(above))];
    if (narrow >= 0) links.insert(links.end(), {narrow + 2 * from, narrow + 2 * to + 1});
    const auto middle = static_cast<std::ptrdiff_t>(links.size());
    for (Object down = nodes_[at(to)]; down != above; down = tree_.parent(down)) {
      if (port_[at(down)] >= 0) links.push_back(port_[at(down)] + 1);
    }
    std::reverse(links.begin() + middle, links.end());
  }

  [[nodiscard]] std::string name(LinkId link) const override {
    const std::string direction = link % 2 == 0 ? " up" : " down";
    for (std::size_t level = 0; level < narrow_.size(); ++level) {
      const std::int64_t index = link - narrow_[level];
      if (narrow_[level] < 0 || index < 0 || at(index) >= 2 * nodes_.size()) continue;
      const std::string kind(topo::kind_name(tree_.level(static_cast<int>(level)).kind));
      std::string text = "node ";
      text.append(tree_.name(nodes_[at(index / 2)])).append(direction).append(" to the level ").append(kind);
      return text;
    }
    const Object object = owner_[at(link / 2)];
    const std::string kind = kind_of(object) == Kind::kNode ? "node " : "switch ";
    const std::string name(tree_.name(object));
    return kind + (name.empty() ? std::to_string(tree_.os_index(object)) : name) + direction;
  }

 private:
  [[nodiscard]] Kind kind_of(Object object) const { return tree_.level(tree_.level_of(object)).kind; }

  void add_port(Object object, double bandwidth) {
    upwards_[at(object)] = bandwidth;
    port_[at(object)] = add_links(2, bandwidth);
    owner_.push_back(object);
  }

  // What is below has its links already.
  void add_switch(Object object) {
    double below = 0;
    for (int child = 0; child < tree_.child_count(object); ++child) {
      below += upwards_[at(tree_.first_child(object) + child)];
    }
    const topo::Uplinks& up = tree_.level(tree_.level_of(object)).uplinks;
    const double bandwidth = up.bandwidth.value_or(below / up.oversubscription);
    upwards_[at(object)] = bandwidth;
    if (bandwidth < below) add_port(object, bandwidth);
  }

  const topo::Tree& tree_;
  std::vector<Object> nodes_;    // by number
  std::vector<Object> owner_;    // of each pair of links
  std::vector<LinkId> port_;     // of each node and switch: its link up; the one down follows; -1: none
  std::vector<double> upwards_;  // of each node and switch: bandwidth of what leads up from it
  std::vector<LinkId> narrow_;   // by level: the first link of those whose bandwidth is less than a node's, else -1
};

}  // namespace

LinkId NetworkLinks::add_links(std::int64_t count, double bandwidth) {
  const auto first = static_cast<std::int64_t>(bandwidth_.size());
  if (first + count > kMaxLinks) {
    throw Error(Fault::kUnsupported, "network: expected at most " + std::to_string(kMaxLinks) + " links, found more");
  }
  bandwidth_.resize(at(first + count), bandwidth);
  return static_cast<LinkId>(first);
}

std::vector<Object> nodes_by_number(const topo::Tree& tree) {
  std::vector<Object> nodes;
  for (Object object = 0; object < tree.object_count(); ++object) {
    if (tree.level(tree.level_of(object)).kind != Kind::kNode) continue;
    nodes.resize(std::max(nodes.size(), at(tree.os_index(object)) + 1));
    nodes[at(tree.os_index(object))] = object;
  }
  return nodes;
}

std::unique_ptr<NetworkLinks> switch_links(const topo::Tree& tree, const std::vector<LevelCost>& costs) {
  return std::make_unique<SwitchLinks>(tree, costs);
}

}  // namespace ranktree::core::simulate
