#include "core/place/network/surrogate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/network/distances.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

using Hosts = std::vector<int>;
using Parts = std::vector<Hosts>;
using topo::Interconnect;

// Nodes that are near each other, and how they divide; all groups, the root first, children behind their parent. Those
// of one node have no children.
struct Group {
  std::vector<int> nodes;
  int depth = 0;  // below the root
  std::vector<std::size_t> children;
};

Parts each_alone(const Hosts& hosts) {
  Parts parts;
  for (const int host : hosts) parts.push_back({host});
  return parts;
}

// Hosts that agree in a number, in the order of that number.
template <class Number>
Parts by_number(const Hosts& hosts, Number number) {
  std::map<int, Hosts> found;
  for (const int host : hosts) found[number(host)].push_back(host);
  Parts parts;
  for (auto& [key, part] : found) parts.push_back(std::move(part));
  return parts;
}

// Two halves, as even as the order allows; neighbours that `together` are not parted.
template <class Together>
Parts halves(const Hosts& hosts, Together together) {
  std::size_t cut = 0;
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    const auto off = [&](std::size_t where) {
      return where > hosts.size() / 2 ? where - hosts.size() / 2 : hosts.size() / 2 - where;
    };
    if (!together(hosts[i - 1], hosts[i]) && (cut == 0 || off(i) < off(cut))) cut = i;
  }
  const auto middle = hosts.begin() + static_cast<std::ptrdiff_t>(cut);
  return {{hosts.begin(), middle}, {middle, hosts.end()}};
}

Parts cut_torus(const Interconnect& network, const topo::Torus& torus, Hosts hosts) {
  const std::size_t dimensions = torus.sizes.size();
  std::size_t longest = dimensions;
  double length = 0;
  for (std::size_t side = 0; side < dimensions; ++side) {
    int low = torus.sizes[side];
    int high = 0;
    for (const int host : hosts) {
      low = std::min(low, network.coordinate(host, side));
      high = std::max(high, network.coordinate(host, side));
    }
    const double cost = (high - low) * std::max(torus.steps[side].hops, 1e-9);
    if (cost > length) {
      length = cost;
      longest = side;
    }
  }
  if (longest == dimensions) return each_alone(hosts);  // all at one router
  const auto where = [&](int host) { return network.coordinate(host, longest); };
  std::stable_sort(hosts.begin(), hosts.end(), [&](int a, int b) { return where(a) < where(b); });
  return halves(hosts, [&](int a, int b) { return where(a) == where(b); });
}

Parts cut_dragonfly(const Interconnect& network, const topo::Dragonfly& dragonfly, const Hosts& hosts) {
  const auto router = [&](int host) { return network.positions()[at(host)] / dragonfly.nodes_per_router; };
  Parts parts = by_number(hosts, [&](int host) { return router(host) / dragonfly.routers_per_group; });
  if (parts.size() == 1) parts = by_number(hosts, router);
  return parts.size() == 1 ? each_alone(hosts) : parts;
}

// The components of hosts that are nearer to each other than the farthest two hosts are.
Parts components(const Interconnect& network, const Hosts& hosts) {
  double farthest = 0;
  for (const int a : hosts) {
    for (const int b : hosts) farthest = std::max(farthest, network.distance(a, b));
  }
  Parts parts;
  Hosts left = hosts;
  while (!left.empty()) {
    Hosts part{left.front()};
    left.erase(left.begin());
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto far = [&](int host) { return network.distance(part[i], host) >= farthest; };
      const auto near = std::stable_partition(left.begin(), left.end(), far);
      part.insert(part.end(), near, left.end());
      left.erase(near, left.end());
    }
    std::sort(part.begin(), part.end());
    parts.push_back(std::move(part));
  }
  return parts;
}

Parts cut_table(const Interconnect& network, Hosts hosts, bool look_for_components) {
  if (look_for_components) {
    Parts parts = components(network, hosts);
    if (parts.size() > 1) return parts;
  }
  const auto farthest_from = [&](int host) {
    return *std::max_element(hosts.begin(), hosts.end(),
                             [&](int a, int b) { return network.distance(host, a) < network.distance(host, b); });
  };
  const int one = farthest_from(hosts.front());
  const int other = farthest_from(one);
  const auto nearer = [&](int host) { return network.distance(host, one) - network.distance(host, other); };
  std::stable_sort(hosts.begin(), hosts.end(), [&](int a, int b) { return nearer(a) < nearer(b); });
  return halves(hosts, [](int, int) { return false; });
}

class Grouping {
 public:
  explicit Grouping(const Interconnect& network) : network_(network) {
    Hosts all;
    for (int host = 0; host < network.hosts(); ++host) all.push_back(host);
    groups_.push_back({std::move(all), 0, {}});
    for (std::size_t i = 0; i < groups_.size(); ++i) cut(i);
  }

  [[nodiscard]] std::vector<Group> groups() && { return std::move(groups_); }

 private:
  void cut(std::size_t index) {
    if (groups_[index].nodes.size() <= 1) return;
    Parts parts = parts_of(groups_[index].nodes, groups_[index].depth);
    for (Hosts& part : parts) {
      groups_[index].children.push_back(groups_.size());
      groups_.push_back({std::move(part), groups_[index].depth + 1, {}});
    }
  }

  [[nodiscard]] Parts parts_of(const Hosts& hosts, int depth) const {
    constexpr std::size_t kTable = 4096;  // more are cut in two as they come
    constexpr int kNested = 16;           // groups that nest more deeply are cut in two: what costs too much time
    if (const auto* torus = std::get_if<topo::Torus>(&network_.network())) {
      return cut_torus(network_, *torus, hosts);
    }
    if (const auto* dragonfly = std::get_if<topo::Dragonfly>(&network_.network())) {
      return cut_dragonfly(network_, *dragonfly, hosts);
    }
    return hosts.size() <= kTable ? cut_table(network_, hosts, depth < kNested)
                                  : halves(hosts, [](int, int) { return false; });
  }

  const Interconnect& network_;
  std::vector<Group> groups_;
};

// The mean distance, over a sample, of hosts whose common group is of each depth; falling from the root down.
std::vector<double> mean_distances(const Interconnect& network, const std::vector<Group>& groups, int depth) {
  constexpr int kPairs = 16;  // a group
  std::vector<double> sum(at(depth), 0);
  std::vector<double> count(at(depth), 0);
  Random random(1);
  for (const Group& group : groups) {
    if (group.children.empty()) continue;
    for (int i = 0; i < kPairs; ++i) {
      const std::size_t one = random.below(group.children.size());
      const std::size_t other = (one + 1 + random.below(group.children.size() - 1)) % group.children.size();
      const Hosts& left = groups[group.children[one]].nodes;
      const Hosts& right = groups[group.children[other]].nodes;
      sum[at(group.depth)] += network.distance(left[random.below(left.size())], right[random.below(right.size())]);
      ++count[at(group.depth)];
    }
  }
  for (std::size_t i = sum.size(); i-- > 0;) {
    sum[i] /= std::max(count[i], 1.0);
    if (i + 1 < sum.size()) sum[i] = std::max(sum[i], sum[i + 1]);
  }
  return sum;
}

class Builder {
 public:
  Builder(const Distances& distances, const std::vector<Group>& groups)
      : machine_(distances.tree()), groups_(groups), depth_(0), builder_({topo::Level{}}) {
    for (const Group& group : groups) depth_ = std::max(depth_, group.depth);
    std::vector<topo::Level> levels{{topo::Kind::kCluster, {}, {}}};
    for (int i = 1; i < depth_; ++i) levels.push_back({topo::Kind::kSwitch, {}, {}});
    for (int level = 1; level < machine_.level_count(); ++level) {
      levels.push_back({machine_.level(level).kind, {}, {}});
    }
    builder_ = topo::TreeBuilder(std::move(levels));
  }

  Surrogate build(const Interconnect& network) {
    const std::int32_t root = builder_.add(-1, 0);
    for (const std::size_t child : groups_.front().children) add(root, groups_[child]);
    std::vector<double> costs = mean_distances(network, groups_, depth_);
    for (double& cost : costs) cost += machine_.cost(1);
    for (int level = 1; level + 1 < machine_.level_count(); ++level) costs.push_back(machine_.cost(level));
    return {std::move(builder_).build().with_costs(costs), std::move(leaf_)};
  }

 private:
  void add(std::int32_t parent, const Group& group) {
    if (group.nodes.size() == 1) {
      add_node(parent, machine_.first_child(0) + group.nodes.front(), depth_);
      return;
    }
    const std::int32_t here = builder_.add(parent, group.depth);
    for (const std::size_t child : group.children) add(here, groups_[child]);
  }

  void add_node(std::int32_t parent, topo::Object object, int level) {
    const std::int32_t here = builder_.add(parent, level);
    if (machine_.child_count(object) == 0) {
      leaf_.push_back(machine_.first_leaf(object));
      if (!machine_.allowed(leaf_.back())) builder_.forbid(here);
    }
    for (int i = 0; i < machine_.child_count(object); ++i) {
      const topo::Object child = machine_.first_child(object) + i;
      add_node(here, child, depth_ - 1 + machine_.level_of(child));
    }
  }

  const topo::Tree& machine_;
  const std::vector<Group>& groups_;
  int depth_;
  topo::TreeBuilder builder_;
  std::vector<topo::Leaf> leaf_;
};

}  // namespace

Surrogate surrogate_of(const Distances& distances) {
  const std::vector<Group> groups = Grouping(distances.interconnect()).groups();
  return Builder(distances, groups).build(distances.interconnect());
}

Placement place_on(const Surrogate& surrogate, const pattern::Affinity& affinity, const EngineOptions& options,
                   const Placement& start) {
  std::vector<topo::Leaf> stands_for(surrogate.leaf.size());
  for (std::size_t i = 0; i < surrogate.leaf.size(); ++i)
    stands_for[at(surrogate.leaf[i])] = static_cast<topo::Leaf>(i);
  EngineOptions there = options;
  for (Pin& pin : there.constraints.pins) pin.leaf = stands_for[at(pin.leaf)];
  there.start = start;
  for (topo::Leaf& leaf : there.start->leaf_of) leaf = stands_for[at(leaf)];
  Placement placement = run_engine(surrogate.tree, affinity, there);
  for (topo::Leaf& leaf : placement.leaf_of) leaf = surrogate.leaf[at(leaf)];
  return placement;
}

}  // namespace ranktree::core::place::network
