#include "core/topo/interconnect.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {
namespace {

constexpr std::int64_t kMaxNodes = 1'048'576;
constexpr std::size_t kMaxDimensions = 8;

[[noreturn]] void refuse_network(const std::string& text) { throw Error(Fault::kInput, "network: " + text); }

bool is_cost(double value) { return std::isfinite(value) && value >= 0; }

void require_cost(double value, const std::string& name) {
  if (is_cost(value)) return;
  refuse_network(name + ": expected a finite number, at least 0, found " + std::to_string(value));
}

void require_bandwidth(double value, const std::string& name) {
  if (std::isfinite(value) && value > 0) return;
  refuse_network(name + " (bandwidth): expected a finite number above 0, found " + std::to_string(value));
}

void require_step(const Step& step, const std::string& name) {
  require_cost(step.hops, name);
  if (step.latency) require_cost(*step.latency, name + " (latency)");
  if (step.bandwidth) require_bandwidth(*step.bandwidth, name);
}

std::int64_t product(std::int64_t before, std::int64_t size, const std::string& name) {
  if (size < 1) refuse_network(name + ": expected at least 1, found " + std::to_string(size));
  if (size > kMaxNodes / before) refuse_network("expected at most " + std::to_string(kMaxNodes) + " nodes, found more");
  return before * size;
}

std::int64_t count_nodes(const Torus& torus) {
  if (torus.sizes.empty() || torus.sizes.size() > kMaxDimensions) {
    refuse_network("expected 1 to " + std::to_string(kMaxDimensions) + " dimensions, found " +
                   std::to_string(torus.sizes.size()));
  }
  if (torus.wraps.size() != torus.sizes.size() || torus.steps.size() != torus.sizes.size()) {
    refuse_network("expected as many wraps and steps as dimensions, " + std::to_string(torus.sizes.size()) +
                   ", found " + std::to_string(torus.wraps.size()) + " and " + std::to_string(torus.steps.size()));
  }
  std::int64_t nodes = product(1, torus.nodes_per_router, "nodes of a router");
  for (const int size : torus.sizes) nodes = product(nodes, size, "dimension");
  for (const Step& step : torus.steps) require_step(step, "step");
  require_step(torus.link, "link");
  return nodes;
}

std::int64_t count_nodes(const Dragonfly& dragonfly) {
  std::int64_t nodes = product(1, dragonfly.groups, "groups");
  nodes = product(nodes, dragonfly.routers_per_group, "routers of a group");
  nodes = product(nodes, dragonfly.nodes_per_router, "nodes of a router");
  if (dragonfly.global_links < 0) refuse_network("global links: expected at least 0, found less");
  const auto links = std::int64_t{dragonfly.global_links} * dragonfly.routers_per_group;
  if (dragonfly.global_links > 0 && links < dragonfly.groups - 1) {
    refuse_network("global links: expected at least " + std::to_string(dragonfly.groups - 1) +
                   " in a group, one to each other group, found " + std::to_string(links));
  }
  require_step(dragonfly.local, "local");
  require_step(dragonfly.global, "global");
  require_step(dragonfly.link, "link");
  return nodes;
}

std::int64_t count_nodes(const DistanceTable& table) {
  const std::int64_t nodes = product(1, table.nodes, "nodes");
  if (table.bandwidth) require_bandwidth(*table.bandwidth, "node link");
  if (table.values.size() != static_cast<std::size_t>(nodes * nodes)) {
    refuse_network("expected " + std::to_string(nodes) + " x " + std::to_string(nodes) + " distances, found " +
                   std::to_string(table.values.size()));
  }
  for (std::int64_t i = 0; i < nodes * nodes; ++i) {
    const double value = table.values[static_cast<std::size_t>(i)];
    const bool own = i / nodes == i % nodes;
    if (is_cost(value) && (!own || value == 0)) continue;  // no text for millions of right ones
    const std::string place = "distances[" + std::to_string(i / nodes) + "][" + std::to_string(i % nodes) + "]";
    require_cost(value, place);
    refuse_network(place + ": expected 0, found " + std::to_string(value));
  }
  return nodes;
}

void make_symmetric(DistanceTable& table) {
  const auto nodes = static_cast<std::size_t>(table.nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t j = i + 1; j < nodes; ++j) {
      double& one = table.values[i * nodes + j];
      double& other = table.values[j * nodes + i];
      one = other = one == other ? one : one / 2 + other / 2;
    }
  }
}

int links_of(const Dragonfly& dragonfly) {
  if (dragonfly.global_links > 0) return dragonfly.global_links;
  return std::max((dragonfly.groups - 2 + dragonfly.routers_per_group) / dragonfly.routers_per_group, 1);
}

double value_of(const Step& step, bool latency, const std::string& name) {
  if (!latency) return step.hops;
  if (step.latency) return *step.latency;
  throw Error(Fault::kUnsupported,
              "network: " + name + ": its latency is not known; give it in the machine file or use hops");
}

// Nodes that are routers themselves have no link.
double link_value(const Step& link, bool latency) {
  return latency && !link.latency && link.hops == 0 ? 0 : value_of(link, latency, "node link");
}

}  // namespace

int gateway_router(const Dragonfly& dragonfly, int group, int to) {
  return (to < group ? to : to - 1) / links_of(dragonfly);
}

std::int64_t node_count(const Interconnect::Network& network) {
  return std::visit([](const auto& each) { return count_nodes(each); }, network);
}

Interconnect::Interconnect(Network network, std::vector<int> position)
    : network_(std::move(network)), position_(std::move(position)) {
  const std::int64_t nodes = node_count(network_);
  host_at_.assign(at(nodes), -1);
  for (std::size_t host = 0; host < position_.size(); ++host) {
    const int place = position_[host];
    if (place < 0 || place >= nodes) {
      refuse_network("host " + std::to_string(host) + ": expected a position in 0.." + std::to_string(nodes - 1) +
                     ", found " + std::to_string(place));
    }
    if (std::exchange(host_at_[at(place)], static_cast<int>(host)) >= 0) {
      refuse_network("host " + std::to_string(host) + ": position " + std::to_string(place) + " is taken");
    }
  }
  if (auto* table = std::get_if<DistanceTable>(&network_)) make_symmetric(*table);
  if (const auto* torus = std::get_if<Torus>(&network_)) find_coordinates(*torus);
  count(false);
}

void Interconnect::find_coordinates(const Torus& torus) {
  coordinate_.resize(position_.size() * torus.sizes.size());
  for (std::size_t host = 0; host < position_.size(); ++host) {
    int rest = position_[host] / torus.nodes_per_router;
    for (std::size_t i = torus.sizes.size(); i-- > 0; rest /= torus.sizes[i]) {
      coordinate_[host * torus.sizes.size() + i] = rest % torus.sizes[i];
    }
  }
}

void Interconnect::count(bool latency) {
  step_.clear();
  if (const auto* torus = std::get_if<Torus>(&network_)) {
    for (const Step& step : torus->steps) step_.push_back(value_of(step, latency, "hop"));
    link_ = link_value(torus->link, latency);
  } else if (const auto* dragonfly = std::get_if<Dragonfly>(&network_)) {
    step_ = {value_of(dragonfly->local, latency, "local"), value_of(dragonfly->global, latency, "global")};
    link_ = link_value(dragonfly->link, latency);
  }
  find_nearest();
}

Interconnect Interconnect::with_metric(Metric metric) const {
  if (metric != Metric::kHops && metric != Metric::kLatency) {
    throw Error(Fault::kUnsupported, "network: expected hops or latency, found another cost: bandwidths are not known");
  }
  const auto* table = std::get_if<DistanceTable>(&network_);
  if (table != nullptr && table->seconds != (metric == Metric::kLatency)) {
    throw Error(Fault::kUnsupported, std::string("network: its distances are in ") +
                                         (table->seconds ? "seconds: use latency" : "hops: use hops"));
  }
  Interconnect copy = *this;
  copy.count(metric == Metric::kLatency);
  return copy;
}

double Interconnect::torus_distance(const Torus& torus, int a, int b) const {
  const std::size_t dimensions = torus.sizes.size();
  double sum = 2 * link_;
  for (std::size_t i = 0; i < dimensions; ++i) {
    int apart = std::abs(coordinate_[at(a) * dimensions + i] - coordinate_[at(b) * dimensions + i]);
    if (torus.wraps[i] != 0) apart = std::min(apart, torus.sizes[i] - apart);
    sum += apart * step_[i];
  }
  return sum;
}

double Interconnect::dragonfly_distance(const Dragonfly& dragonfly, int a, int b) const {
  const int router_a = position_[at(a)] / dragonfly.nodes_per_router;
  const int router_b = position_[at(b)] / dragonfly.nodes_per_router;
  const double ends = 2 * link_;
  if (router_a == router_b) return ends;
  const int group_a = router_a / dragonfly.routers_per_group;
  const int group_b = router_b / dragonfly.routers_per_group;
  if (group_a == group_b) return ends + step_[0];
  const bool before = router_a % dragonfly.routers_per_group != gateway_router(dragonfly, group_a, group_b);
  const bool after = router_b % dragonfly.routers_per_group != gateway_router(dragonfly, group_b, group_a);
  return ends + step_[1] + step_[0] * (static_cast<int>(before) + static_cast<int>(after));
}

double Interconnect::distance(int a, int b) const {
  if (a == b) return 0;
  if (const auto* torus = std::get_if<Torus>(&network_)) return torus_distance(*torus, a, b);
  if (const auto* dragonfly = std::get_if<Dragonfly>(&network_)) return dragonfly_distance(*dragonfly, a, b);
  const auto& table = std::get<DistanceTable>(network_);
  return table.values[at(position_[at(a)]) * at(table.nodes) + at(position_[at(b)])];
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): one case after the other
void Interconnect::find_nearest() {
  double least = std::numeric_limits<double>::infinity();
  if (const auto* torus = std::get_if<Torus>(&network_)) {
    for (std::size_t i = 0; i < step_.size(); ++i) {
      if (torus->sizes[i] > 1) least = std::min(least, step_[i]);
    }
    nearest_ = 2 * link_ + (torus->nodes_per_router > 1 || !std::isfinite(least) ? 0 : least);
  } else if (const auto* dragonfly = std::get_if<Dragonfly>(&network_)) {
    if (dragonfly->nodes_per_router > 1) least = 0;
    if (dragonfly->routers_per_group > 1) least = std::min(least, step_[0]);
    if (dragonfly->groups > 1) least = std::min(least, step_[1]);
    nearest_ = 2 * link_ + (std::isfinite(least) ? least : 0);
  } else {
    for (int a = 0; a < hosts(); ++a) {
      for (int b = a + 1; b < hosts(); ++b) least = std::min(least, distance(a, b));
    }
    nearest_ = std::isfinite(least) ? least : 0;
  }
}

void Interconnect::add_near_in_torus(const Torus& torus, int host, std::vector<int>& found) const {
  const int router = position_[at(host)] / torus.nodes_per_router;
  const auto add_router = [&](int next) {
    for (int i = 0; i < torus.nodes_per_router; ++i) found.push_back(host_at_[at(next * torus.nodes_per_router + i)]);
  };
  add_router(router);
  int stride = 1;
  for (std::size_t i = torus.sizes.size(); i-- > 0; stride *= torus.sizes[i]) {
    const int size = torus.sizes[i];
    const int here = router / stride % size;
    if (here > 0 || torus.wraps[i] != 0) add_router(router + ((here + size - 1) % size - here) * stride);
    if (here + 1 < size || torus.wraps[i] != 0) add_router(router + ((here + 1) % size - here) * stride);
  }
}

void Interconnect::add_near_in_dragonfly(const Dragonfly& dragonfly, int host, int most,
                                         std::vector<int>& found) const {
  const int group_nodes = dragonfly.nodes_per_router * dragonfly.routers_per_group;
  const int first = position_[at(host)] / group_nodes * group_nodes;
  // Prefers nodes at the same port of other routers, so that a few nodes are spread over the group.
  const int wanted = std::min(group_nodes, 4 * most);
  for (int i = 0; i < wanted; ++i) {
    const int offset =
        (position_[at(host)] - first + i * dragonfly.nodes_per_router + i / dragonfly.routers_per_group) % group_nodes;
    found.push_back(host_at_[at(first + offset)]);
  }
}

std::vector<int> Interconnect::near(int host, int most) const {
  std::vector<int> found;
  if (const auto* torus = std::get_if<Torus>(&network_)) {
    add_near_in_torus(*torus, host, found);
  } else if (const auto* dragonfly = std::get_if<Dragonfly>(&network_)) {
    add_near_in_dragonfly(*dragonfly, host, most, found);
  } else {
    found.resize(position_.size());
    std::iota(found.begin(), found.end(), 0);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase_if(found, [&](int other) { return other < 0 || other == host; });
  const auto nearer = [&](int a, int b) {
    const double one = distance(host, a);
    const double other = distance(host, b);
    return one != other ? one < other : a < b;
  };
  const auto kept = std::min(found.size(), at(most));
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(), nearer);
  found.resize(kept);
  return found;
}

}  // namespace ranktree::core::topo
