#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/simulate/network_links.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {
namespace {

std::vector<std::string> node_names(const topo::Tree& tree) {
  std::vector<std::string> names;
  for (const topo::Object node : nodes_by_number(tree)) names.emplace_back(tree.name(node));
  return names;
}

// The links between nodes and routers, which come first: node h's up is 2 h, its down 2 h + 1. None where the nodes are
// the routers.
class PortLinks : public NetworkLinks {
 public:
  PortLinks(std::vector<std::string> names, std::optional<double> bandwidth)
      : names_(std::move(names)), ports_(bandwidth.has_value()) {
    if (ports_) add_links(2 * static_cast<std::int64_t>(names_.size()), *bandwidth);
  }

  void append_route(int from, int to, std::vector<LinkId>& links) const override {
    if (ports_) links.push_back(2 * from);
    append_between(from, to, links);
    if (ports_) links.push_back(2 * to + 1);
  }

  [[nodiscard]] std::string name(LinkId link) const override {
    if (ports_ && at(link) < 2 * names_.size())
      return "node " + names_[at(link / 2)] + (link % 2 == 0 ? " up" : " down");
    return name_between(link);
  }

 protected:
  virtual void append_between(int /*from*/, int /*to*/, std::vector<LinkId>& /*links*/) const {}
  [[nodiscard]] virtual std::string name_between(LinkId link) const { return std::to_string(link); }

 private:
  std::vector<std::string> names_;
  bool ports_;
};

// A node has a link to its router where the router has several nodes, or where the machine gives this link a bandwidth.
std::optional<double> port_bandwidth(const topo::Step& link, int nodes_per_router, double otherwise) {
  if (link.bandwidth || nodes_per_router == 1) return link.bandwidth;
  return otherwise;
}

class TorusLinks final : public PortLinks {
 public:
  TorusLinks(std::vector<std::string> names, const topo::Interconnect& interconnect, const topo::Torus& torus,
             double otherwise)
      : PortLinks(std::move(names), port_bandwidth(torus.link, torus.nodes_per_router, otherwise)),
        interconnect_(interconnect),
        torus_(torus) {
    std::int64_t routers = 1;
    for (const int size : torus.sizes) routers *= size;
    for (std::size_t i = 0; i < torus.sizes.size(); ++i) {
      first_.push_back(add_links(2 * routers, torus.steps[i].bandwidth.value_or(otherwise)));
    }
    first_.push_back(static_cast<LinkId>(bandwidths().size()));
  }

 protected:
  void append_between(int from, int to, std::vector<LinkId>& links) const override {
    std::int64_t router = interconnect_.positions()[at(from)] / torus_.nodes_per_router;
    std::int64_t stride = 1;
    for (const int size : torus_.sizes) stride *= size;
    for (std::size_t i = 0; i < torus_.sizes.size(); ++i) {
      const int size = torus_.sizes[i];
      stride /= size;
      const int end = interconnect_.coordinate(to, i);
      int here = interconnect_.coordinate(from, i);
      const int step = direction(i, end - here);
      while (here != end) {
        links.push_back(static_cast<LinkId>(first_[i] + 2 * router + (step > 0 ? 0 : 1)));
        const int next = (here + step + size) % size;
        router += (next - here) * stride;
        here = next;
      }
    }
  }

  [[nodiscard]] std::string name_between(LinkId link) const override {
    std::size_t i = 0;
    while (link >= first_[i + 1]) ++i;
    const LinkId index = link - first_[i];
    return "router " + std::to_string(index / 2) + (index % 2 == 0 ? " +" : " -") + std::to_string(i);
  }

 private:
  [[nodiscard]] int direction(std::size_t dimension, int apart) const {
    if (torus_.wraps[dimension] == 0) return apart > 0 ? 1 : -1;
    const int size = torus_.sizes[dimension];
    const int up = (apart + size) % size;
    return 2 * up <= size ? 1 : -1;
  }

  const topo::Interconnect& interconnect_;
  const topo::Torus& torus_;
  std::vector<LinkId> first_;  // by dimension; the last entry is the number of links
};

class DragonflyLinks final : public PortLinks {
 public:
  DragonflyLinks(std::vector<std::string> names, const topo::Interconnect& interconnect,
                 const topo::Dragonfly& dragonfly, double otherwise)
      : PortLinks(std::move(names), dragonfly.link.bandwidth.value_or(otherwise)),
        interconnect_(interconnect),
        dragonfly_(dragonfly) {
    const std::int64_t routers = dragonfly.routers_per_group;
    const std::int64_t groups = dragonfly.groups;
    local_ = add_links(groups * routers * routers, dragonfly.local.bandwidth.value_or(otherwise));
    global_ = add_links(groups * groups, dragonfly.global.bandwidth.value_or(otherwise));
  }

 protected:
  void append_between(int from, int to, std::vector<LinkId>& links) const override {
    const int routers = dragonfly_.routers_per_group;
    const int router_a = interconnect_.positions()[at(from)] / dragonfly_.nodes_per_router;
    const int router_b = interconnect_.positions()[at(to)] / dragonfly_.nodes_per_router;
    const int group_a = router_a / routers;
    const int group_b = router_b / routers;
    if (group_a == group_b) return append_local(group_a, router_a % routers, router_b % routers, links);
    append_local(group_a, router_a % routers, gateway_router(dragonfly_, group_a, group_b), links);
    links.push_back(global_ + group_a * dragonfly_.groups + group_b);
    append_local(group_b, gateway_router(dragonfly_, group_b, group_a), router_b % routers, links);
  }

  [[nodiscard]] std::string name_between(LinkId link) const override {
    if (link >= global_) {
      const LinkId pair = link - global_;
      return "group " + std::to_string(pair / dragonfly_.groups) + " to group " +
             std::to_string(pair % dragonfly_.groups);
    }
    const int routers = dragonfly_.routers_per_group;
    const LinkId pair = link - local_;
    const int first = pair / routers / routers * routers;  // of the group
    return "router " + std::to_string(first + pair / routers % routers) + " to router " +
           std::to_string(first + pair % routers);
  }

 private:
  void append_local(int group, int from, int to, std::vector<LinkId>& links) const {
    const int routers = dragonfly_.routers_per_group;
    if (from != to) links.push_back(local_ + (group * routers + from) * routers + to);
  }

  const topo::Interconnect& interconnect_;
  const topo::Dragonfly& dragonfly_;
  LinkId local_ = 0;
  LinkId global_ = 0;
};

}  // namespace

std::unique_ptr<NetworkLinks> interconnect_links(const topo::Tree& tree, const topo::Interconnect& interconnect,
                                                 double otherwise) {
  std::vector<std::string> names = node_names(tree);
  if (const auto* torus = std::get_if<topo::Torus>(&interconnect.network())) {
    return std::make_unique<TorusLinks>(std::move(names), interconnect, *torus, otherwise);
  }
  if (const auto* dragonfly = std::get_if<topo::Dragonfly>(&interconnect.network())) {
    return std::make_unique<DragonflyLinks>(std::move(names), interconnect, *dragonfly, otherwise);
  }
  const auto& table = std::get<topo::DistanceTable>(interconnect.network());
  return std::make_unique<PortLinks>(std::move(names), table.bandwidth.value_or(otherwise));
}

}  // namespace ranktree::core::simulate
