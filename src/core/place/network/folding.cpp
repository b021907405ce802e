#include "core/place/network/folding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/place/graph/graph.h"
#include "core/place/network/distances.h"
#include "core/place/order/lattice.h"
#include "core/topo/interconnect.h"

namespace ranktree::core::place::network {
namespace {

using engine::Arc;
using engine::Graph;
using engine::Lattice;
using engine::Vertex;

std::vector<int> prime_factors(int number) {
  std::vector<int> factors;
  for (int prime = 2; prime <= number / prime; ++prime) {
    for (; number % prime == 0; number /= prime) factors.push_back(prime);
  }
  if (number > 1) factors.push_back(number);
  return factors;
}

// A torus in which every router has as many slots: these are its last dimension.
struct Host {
  std::vector<int> sizes;
  std::vector<Slot> slot_at;  // row by row
};

// No sizes: the network is another.
Host host_of(const Distances& distances) {
  const topo::Interconnect& network = distances.interconnect();
  const auto* torus = std::get_if<topo::Torus>(&network.network());
  if (torus == nullptr || topo::node_count(network.network()) != network.hosts()) return {};
  const Slot capacity = distances.capacity(0);
  Host host{torus->sizes, {}};
  host.sizes.push_back(torus->nodes_per_router * capacity);
  for (int position = 0; position < network.hosts(); ++position) {
    const int node = network.host_at(position);
    if (distances.capacity(node) != capacity) return {};
    for (Slot i = 0; i < capacity; ++i) host.slot_at.push_back(distances.first_slot(node) + i);
  }
  return host;
}

class Folding {
 public:
  Folding(const Distances& distances, const Graph& graph, const Lattice& lattice, Host host, std::uint64_t seed)
      : distances_(distances),
        graph_(graph),
        lattice_(lattice),
        host_(std::move(host)),
        random_(seed),
        slots_(lattice.vertex_at.size()) {
    for (std::size_t place = 0; place < slots_.size(); ++place) {
      const auto where = lattice.coordinates(static_cast<std::int64_t>(place));
      where_.insert(where_.end(), where.begin(), where.end());
    }
  }

  // Other digits each time; false where they do not match.
  bool begin() {
    radix_.clear();
    dimension_.clear();
    guest_.assign(lattice_.sizes.size(), {});
    for (std::size_t j = 0; j < guest_.size(); ++j) {
      for (const int prime : shuffled(prime_factors(lattice_.sizes[j]))) {
        guest_[j].push_back(radix_.size());
        radix_.push_back(prime);
        dimension_.push_back(j);
      }
    }
    std::vector<std::size_t> free(radix_.size());
    for (std::size_t i = 0; i < free.size(); ++i) free[i] = i;
    free = shuffled(std::move(free));
    hosts_.assign(host_.sizes.size(), {});
    for (std::size_t j = 0; j < hosts_.size(); ++j) {
      for (const int prime : shuffled(prime_factors(host_.sizes[j]))) {
        const auto digit = std::find_if(free.begin(), free.end(), [&](std::size_t i) { return radix_[i] == prime; });
        if (digit == free.end()) return false;
        hosts_[j].push_back(*digit);
        free.erase(digit);
      }
    }
    if (!free.empty()) return false;
    cost_ = count();
    return true;
  }

  // Tries to exchange two digits of the grid or of the network; false where these two may not be.
  bool step() {
    const bool in_guest = random_.below(2) == 0;
    auto& side = in_guest ? guest_ : hosts_;
    const std::size_t one = random_.below(radix_.size());
    const std::size_t other = random_.below(radix_.size());
    auto [left_dimension, left] = find(side, one);
    auto [right_dimension, right] = find(side, other);
    if (one == other || (left_dimension != right_dimension && radix_[one] != radix_[other])) return false;
    std::swap(*left, *right);
    if (in_guest) std::swap(dimension_[one], dimension_[other]);
    const double cost = count();
    if (cost <= cost_) {
      cost_ = cost;
    } else {
      std::swap(*left, *right);
      if (in_guest) std::swap(dimension_[one], dimension_[other]);
    }
    return true;
  }

  [[nodiscard]] double cost() const { return cost_; }
  [[nodiscard]] std::size_t digits() const { return radix_.size(); }
  [[nodiscard]] std::int64_t steps_of_count() const {
    return static_cast<std::int64_t>(graph_.arcs.size() / 2 + slots_.size() * radix_.size() / 4);
  }
  std::vector<Slot> slots() {
    count();
    return slots_;
  }

 private:
  using Digits = std::vector<std::vector<std::size_t>>;  // by dimension, the lowest first

  template <class Item>
  std::vector<Item> shuffled(std::vector<Item> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_.below(i)]);
    return items;
  }

  static std::pair<std::size_t, std::vector<std::size_t>::iterator> find(Digits& side, std::size_t digit) {
    for (std::size_t j = 0;; ++j) {
      const auto found = std::find(side[j].begin(), side[j].end(), digit);
      if (found != side[j].end()) return {j, found};
    }
  }

  // The digits of all coordinates of the grid: by digit, then by coordinate.
  void write_digits() {
    values_.resize(radix_.size());
    for (std::size_t j = 0; j < guest_.size(); ++j) {
      for (const std::size_t digit : guest_[j]) values_[digit].resize(at(lattice_.sizes[j]));
      for (int x = 0; x < lattice_.sizes[j]; ++x) {
        int rest = x;
        for (const std::size_t digit : guest_[j]) {
          const int value = rest % radix_[digit];
          rest /= radix_[digit];
          values_[digit][at(x)] = rest % 2 != 0 ? radix_[digit] - 1 - value : value;
        }
      }
    }
  }

  // Where each place of the grid is in the network.
  void read_digits() {
    const std::size_t dimensions = guest_.size();
    for (std::size_t place = 0; place < lattice_.vertex_at.size(); ++place) {
      const int* where = &where_[place * dimensions];
      std::size_t cell = 0;
      for (std::size_t j = 0; j < hosts_.size(); ++j) {
        int coordinate = 0;
        for (std::size_t i = hosts_[j].size(); i-- > 0;) {
          const std::size_t digit = hosts_[j][i];
          const int value = values_[digit][at(where[dimension_[digit]])];
          const int radix = radix_[digit];
          coordinate = coordinate * radix + (coordinate % 2 != 0 ? radix - 1 - value : value);
        }
        cell = cell * at(host_.sizes[j]) + at(coordinate);
      }
      slots_[at(lattice_.vertex_at[place])] = host_.slot_at[cell];
    }
  }

  double count() {
    write_digits();
    read_digits();
    double cost = 0;
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex) {
      for (const Arc& arc : graph_.arcs_of(vertex)) {
        if (arc.to > vertex) cost += arc.weight * distances_.distance(slots_[at(vertex)], slots_[at(arc.to)]);
      }
    }
    return cost;
  }

  const Distances& distances_;
  const Graph& graph_;
  const Lattice& lattice_;
  Host host_;
  Random random_;
  std::vector<int> where_;              // coordinates in the grid, place by place
  std::vector<int> radix_;              // by digit
  std::vector<std::size_t> dimension_;  // of the grid that it belongs to
  Digits guest_, hosts_;
  std::vector<std::vector<int>> values_;
  std::vector<Slot> slots_;  // by vertex
  double cost_ = 0;
};

}  // namespace

std::vector<std::vector<Slot>> folded_placements(const Distances& distances, const Graph& graph, const Lattice& lattice,
                                                 std::int64_t steps, std::uint64_t seed,
                                                 const std::function<bool()>& go_on) {
  if (distances.slots() != graph.vertices()) return {};
  Host host = host_of(distances);
  if (host.sizes.empty()) return {};
  Folding folding(distances, graph, lattice, std::move(host), seed);
  std::vector<std::vector<Slot>> found;
  double best = std::numeric_limits<double>::infinity();
  while (steps > 0 && go_on()) {
    if (!folding.begin()) return {};
    const std::size_t patience = 3 * folding.digits() * folding.digits();
    for (std::size_t idle = 0; idle < patience && steps > 0; ++idle) {
      const double before = folding.cost();
      if (folding.step()) steps -= folding.steps_of_count();
      if (folding.cost() < before) idle = 0;
    }
    steps -= folding.steps_of_count();
    if (folding.cost() >= best) continue;
    best = folding.cost();
    found.insert(found.begin(), folding.slots());
    found.resize(std::min<std::size_t>(found.size(), 2));
  }
  return found;
}

}  // namespace ranktree::core::place::network
