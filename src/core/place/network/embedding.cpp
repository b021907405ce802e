#include "core/place/network/embedding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/graph.h"
#include "core/place/network/distances.h"
#include "core/topo/interconnect.h"

namespace ranktree::core::place::network {
namespace {

using engine::Arc;
using engine::Graph;
using engine::Vertex;

constexpr int kNowhere = -1;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Where a connected part begins. In the middle of a grid all directions are told apart at once; of a grid as large as
// the network, only a corner fits nowhere but in a corner.
enum class Start : std::uint8_t { kMostPartners, kFewestPartners };

// An order in which each vertex has as many partners before it as can be; of those that have as many, the one that has
// had them longest. Vertices without partners come last.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): three short functions that share the queues
std::vector<int> connected_order(const Links& guest, Start start_at) {
  const int vertices = guest.vertices();
  std::size_t most = 0;
  for (int vertex = 0; vertex < vertices; ++vertex) most = std::max(most, guest.of(vertex).size());
  std::vector<std::vector<int>> queue(most + 1);  // by number of placed partners; outdated entries are left in
  std::vector<std::size_t> next(most + 1, 0);
  std::vector<int> count(at(vertices), 0);
  std::vector<std::uint8_t> placed(at(vertices), 0);
  std::vector<int> starts(at(vertices));
  std::iota(starts.begin(), starts.end(), 0);
  std::stable_sort(starts.begin(), starts.end(), [&](int a, int b) {
    const auto one = guest.of(a).size();
    const auto other = guest.of(b).size();
    return start_at == Start::kMostPartners || one == 0 || other == 0 ? one > other : one < other;
  });
  std::vector<int> order;
  const auto take = [&](int vertex) {
    placed[at(vertex)] = 1;
    order.push_back(vertex);
    for (const int partner : guest.of(vertex)) queue[at(++count[at(partner)])].push_back(partner);
  };
  const auto waiting = [&] {
    for (std::size_t level = most; level > 0; --level) {
      for (; next[level] < queue[level].size(); ++next[level]) {
        const int vertex = queue[level][next[level]];
        if (placed[at(vertex)] == 0 && at(count[at(vertex)]) == level) return vertex;
      }
    }
    return kNowhere;
  };
  for (const int start : starts) {
    if (placed[at(start)] != 0) continue;
    take(start);
    for (int vertex = waiting(); vertex != kNowhere; vertex = waiting()) take(vertex);
  }
  return order;
}

// Those of one vertex left out.
int connected_parts(const Links& guest) {
  std::vector<std::uint8_t> seen(at(guest.vertices()), 0);
  std::vector<int> waiting;
  int parts = 0;
  for (int start = 0; start < guest.vertices(); ++start) {
    if (guest.of(start).empty() || seen[at(start)] != 0) continue;
    ++parts;
    seen[at(start)] = 1;
    waiting.push_back(start);
    while (!waiting.empty()) {
      const int vertex = waiting.back();
      waiting.pop_back();
      for (const int partner : guest.of(vertex)) {
        if (std::exchange(seen[at(partner)], std::uint8_t{1}) == 0) waiting.push_back(partner);
      }
    }
  }
  return parts;
}

class Embedder {
 public:
  Embedder(const Links& guest, const Links& host, Start start, std::uint64_t seed)
      : guest_(guest),
        host_(host),
        order_(connected_order(guest, start)),
        place_of_(order_.size(), kNowhere),
        taken_(at(host.vertices()), 0),
        random_(seed) {}

  std::optional<std::vector<int>> run(std::int64_t steps, const std::function<bool()>& go_on) {
    constexpr int kBetweenQuestions = 1024;
    std::vector<std::vector<int>> choices(order_.size());
    std::size_t depth = 0;
    find_choices(0, choices[0]);
    while (depth < order_.size()) {
      --steps;
      if (steps < 0 || (steps % kBetweenQuestions == 0 && !go_on())) return std::nullopt;
      const int vertex = order_[depth];
      if (place_of_[at(vertex)] != kNowhere) leave(vertex);
      if (choices[depth].empty()) {
        if (depth-- == 0) return std::nullopt;
        continue;
      }
      place_of_[at(vertex)] = choices[depth].back();
      taken_[at(choices[depth].back())] = 1;
      choices[depth].pop_back();
      if (++depth < order_.size()) find_choices(depth, choices[depth]);
    }
    return place_of_;
  }

 private:
  void leave(int vertex) { taken_[at(std::exchange(place_of_[at(vertex)], kNowhere))] = 0; }

  // Free neighbours of where one placed partner is that are neighbours of all the others' places; the last is tried
  // first.
  void find_choices(std::size_t depth, std::vector<int>& choices) {
    choices.clear();
    const int vertex = order_[depth];
    int anchor = kNowhere;
    for (const int partner : guest_.of(vertex)) {
      if (place_of_[at(partner)] != kNowhere) anchor = place_of_[at(partner)];
    }
    if (anchor == kNowhere) {
      find_starts(vertex, choices);
      return;
    }
    for (const int place : host_.of(anchor)) {
      if (fits(vertex, place)) choices.push_back(place);
    }
    for (std::size_t i = choices.size(); i > 1; --i) std::swap(choices[i - 1], choices[random_.below(i)]);
  }

  // Anywhere, where there are few neighbours first. Ranks that talk to nobody come last of all and never have to leave
  // again.
  void find_starts(int vertex, std::vector<int>& choices) {
    if (guest_.of(vertex).empty()) {
      while (taken_[at(next_free_)] != 0) ++next_free_;
      choices.push_back(next_free_);
      return;
    }
    for (int place = host_.vertices(); place-- > 0;) {
      if (fits(vertex, place)) choices.push_back(place);
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [&](int a, int b) { return host_.of(a).size() > host_.of(b).size(); });
  }

  [[nodiscard]] bool fits(int vertex, int place) const {
    if (taken_[at(place)] != 0 || host_.of(place).size() < guest_.of(vertex).size()) return false;
    const auto near = host_.of(place);
    const auto partners = guest_.of(vertex);
    return std::all_of(partners.begin(), partners.end(), [&](int partner) {
      const int there = place_of_[at(partner)];
      return there == kNowhere || std::binary_search(near.begin(), near.end(), there);
    });
  }

  const Links& guest_;
  const Links& host_;
  std::vector<int> order_;
  std::vector<int> place_of_;
  std::vector<std::uint8_t> taken_;
  int next_free_ = 0;
  Random random_;
};

// The pairs that exchange at least so much.
Links heavy_links(const Graph& graph, double least) {
  Links links;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const Arc& arc : graph.arcs_of(vertex)) {
      if (arc.weight >= least) links.to.push_back(arc.to);
    }
    std::sort(links.to.begin() + links.offset.back(), links.to.end());
    links.offset.push_back(static_cast<std::int64_t>(links.to.size()));
  }
  return links;
}

// Routers of a torus, each a block of finer cells, one a rank.
class Lattice {
 public:
  // Cell by cell: where it is in the torus and, within the block of its router, which seat it is.
  Lattice(const topo::Torus& torus, std::vector<int> block) : torus_(torus), block_(std::move(block)) {
    for (std::size_t i = 0; i < block_.size(); ++i) {
      sides_.push_back(std::int64_t{torus.sizes[i]} * block_[i]);
      cells_ *= sides_.back();
    }
  }

  [[nodiscard]] std::int64_t cells() const { return cells_; }

  // Cells at routers without hosts have no links.
  template <class HasRouter>
  [[nodiscard]] Links links(HasRouter has_router) const {
    Links links;
    for (std::int64_t cell = 0; cell < cells_; ++cell) {
      const auto begin = static_cast<std::ptrdiff_t>(links.to.size());
      std::int64_t stride = 1;
      for (std::size_t i = sides_.size(); i-- > 0 && has_router(router(cell)); stride *= sides_[i]) {
        const std::int64_t side = sides_[i];
        const std::int64_t here = cell / stride % side;
        const bool wraps = torus_.wraps[i] != 0;
        const auto link = [&](std::int64_t there) {
          const std::int64_t other = cell + (there - here) * stride;
          if (other != cell && has_router(router(other))) links.to.push_back(static_cast<int>(other));
        };
        if (here > 0 || wraps) link((here + side - 1) % side);
        if (here + 1 < side || wraps) link((here + 1) % side);
      }
      std::sort(links.to.begin() + begin, links.to.end());
      links.to.erase(std::unique(links.to.begin() + begin, links.to.end()), links.to.end());
      links.offset.push_back(static_cast<std::int64_t>(links.to.size()));
    }
    return links;
  }

  [[nodiscard]] int router(std::int64_t cell) const { return split(cell).first; }
  [[nodiscard]] std::pair<int, int> split(std::int64_t cell) const {
    std::int64_t router = 0;
    std::int64_t inside = 0;
    std::int64_t router_stride = 1;
    std::int64_t inside_stride = 1;
    for (std::size_t i = sides_.size(); i-- > 0; cell /= sides_[i]) {
      const std::int64_t here = cell % sides_[i];
      router += here / block_[i] * router_stride;
      inside += here % block_[i] * inside_stride;
      router_stride *= torus_.sizes[i];
      inside_stride *= block_[i];
    }
    return {static_cast<int>(router), static_cast<int>(inside)};
  }

 private:
  const topo::Torus& torus_;
  std::vector<int> block_;
  std::vector<std::int64_t> sides_;
  std::int64_t cells_ = 1;
};

// All ways to write a number as a product of so many, those whose largest factor is small first.
std::vector<std::vector<int>> products(int number, std::size_t factors) {
  std::vector<std::vector<int>> found;
  std::vector<int> now;
  const std::function<void(int)> extend = [&](int rest) {
    if (now.size() + 1 == factors) {
      now.push_back(rest);
      found.push_back(now);
      now.pop_back();
      return;
    }
    for (int factor = 1; factor <= rest; ++factor) {
      if (rest % factor != 0) continue;
      now.push_back(factor);
      extend(rest / factor);
      now.pop_back();
    }
  };
  extend(number);
  const auto largest = [](const std::vector<int>& each) { return *std::max_element(each.begin(), each.end()); };
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return largest(a) < largest(b); });
  return found;
}

class Neighbourly {
 public:
  Neighbourly(const Distances& distances, const Graph& graph, std::uint64_t seed, const std::function<bool()>& go_on)
      : distances_(distances),
        graph_(graph),
        seed_(seed),
        go_on_(go_on),
        steps_(64 * std::int64_t{graph.vertices()} + 50'000) {}

  std::vector<std::vector<Seat>> run() {
    double heaviest = 0;
    for (const Arc& arc : graph_.arcs) heaviest = std::max(heaviest, arc.weight);
    if (heaviest == 0) return {};
    guests_.push_back(heavy_links(graph_, 0));
    Links heavy = heavy_links(graph_, heaviest / 2);
    if (heavy.to.size() < guests_[0].to.size()) guests_.push_back(std::move(heavy));
    if (const auto* torus = std::get_if<topo::Torus>(&distances_.interconnect().network())) {
      try_torus(*torus);
    } else if (std::holds_alternative<topo::DistanceTable>(distances_.interconnect().network())) {
      try_nodes();
    }
    return std::move(found_);
  }

 private:
  void try_torus(const topo::Torus& torus) {
    constexpr std::size_t kMostBlocks = 64;
    std::int64_t routers = 1;
    for (const int size : torus.sizes) routers *= size;
    std::vector<std::vector<Seat>> seats(at(routers));  // of each router
    const topo::Interconnect& network = distances_.interconnect();
    for (int host = 0; host < network.hosts(); ++host) {
      auto& there = seats[at(network.positions()[at(host)] / torus.nodes_per_router)];
      for (Seat i = 0; i < distances_.capacity(host); ++i) there.push_back(distances_.first_seat(host) + i);
    }
    std::size_t most = 0;
    for (const auto& each : seats) most = std::max(most, each.size());
    for (const auto& each : seats) {
      if (!each.empty() && each.size() != most) return;
    }
    auto blocks = products(static_cast<int>(most), torus.sizes.size());
    blocks.resize(std::min(blocks.size(), kMostBlocks));
    for (const auto& block : blocks) {
      const Lattice lattice(torus, block);
      const Links host = lattice.links([&](int router) { return !seats[at(router)].empty(); });
      try_host(host, [&](int cell) {
        const auto [router, inside] = lattice.split(cell);
        return seats[at(router)].empty() ? kNowhere : seats[at(router)][at(inside)];
      });
    }
  }

  // One rank a node, neighbours on nodes that are as near as any are.
  void try_nodes() {
    constexpr int kMost = 4096;
    if (distances_.nodes() > kMost || graph_.vertices() > distances_.nodes()) return;
    Links host;
    const topo::Interconnect& network = distances_.interconnect();
    const double least = network.nearest() * (1 + 1e-9);
    for (int a = 0; a < network.hosts(); ++a) {
      for (int b = 0; b < network.hosts(); ++b) {
        const bool usable = distances_.capacity(a) > 0 && distances_.capacity(b) > 0;
        if (a != b && usable && network.distance(a, b) <= least) host.to.push_back(b);
      }
      host.offset.push_back(static_cast<std::int64_t>(host.to.size()));
    }
    try_host(host, [&](int node) { return distances_.capacity(node) > 0 ? distances_.first_seat(node) : kNowhere; });
  }

  template <class SeatAt>
  void try_host(const Links& host, SeatAt seat_at) {
    constexpr int kTries = 4;
    for (const Links& guest : guests_) {
      if (guest.vertices() > host.vertices() || !degrees_fit(guest, host)) continue;
      for (int i = 0; i < kTries && steps_ > 0 && go_on_(); ++i) {
        const std::int64_t steps = 6 * std::int64_t{guest.vertices()} + 4000;
        steps_ -= steps;
        const auto place_of = embed(guest, host, steps, seed_of(seed_, at(i)), go_on_);
        if (!place_of) continue;
        found_.push_back(seats_at(*place_of, seat_at));
        break;
      }
    }
  }

  // Ranks that talk to nobody may have come where no host is: any seat does for them.
  template <class SeatAt>
  [[nodiscard]] std::vector<Seat> seats_at(const std::vector<int>& place_of, SeatAt seat_at) const {
    std::vector<Seat> seats;
    std::vector<std::uint8_t> taken(at(distances_.seats()), 0);
    for (const int place : place_of) {
      seats.push_back(seat_at(place));
      if (seats.back() != kNowhere) taken[at(seats.back())] = 1;
    }
    Seat next = 0;
    for (Seat& seat : seats) {
      if (seat != kNowhere) continue;
      while (taken[at(next)] != 0) ++next;
      seat = next++;
    }
    return seats;
  }

  // As many vertices of so many neighbours as are needed.
  static bool degrees_fit(const Links& guest, const Links& host) {
    const auto degrees = [](const Links& links) {
      std::vector<std::size_t> result;
      result.reserve(at(links.vertices()));
      for (int vertex = 0; vertex < links.vertices(); ++vertex) result.push_back(links.of(vertex).size());
      std::sort(result.begin(), result.end(), std::greater<>());
      return result;
    };
    const auto needed = degrees(guest);
    const auto given = degrees(host);
    return std::equal(needed.begin(), needed.end(), given.begin(), [](std::size_t a, std::size_t b) { return a <= b; });
  }

  const Distances& distances_;
  const Graph& graph_;
  std::uint64_t seed_;
  const std::function<bool()>& go_on_;
  std::int64_t steps_;  // left for all tries
  std::vector<Links> guests_;
  std::vector<std::vector<Seat>> found_;
};

}  // namespace

std::optional<std::vector<int>> embed(const Links& guest, const Links& host, std::int64_t steps, std::uint64_t seed,
                                      const std::function<bool()>& go_on) {
  if (guest.vertices() > host.vertices()) return std::nullopt;
  if (guest.vertices() == 0) return std::vector<int>{};
  constexpr int kParts = 64;  // each is looked for everywhere
  if (connected_parts(guest) > kParts) return std::nullopt;
  const auto half = [&](Start start) { return Embedder(guest, host, start, seed).run(steps / 2, go_on); };
  auto found = half(Start::kMostPartners);
  return found ? found : half(Start::kFewestPartners);
}

std::vector<std::vector<Seat>> neighbourly_placements(const Distances& distances, const Graph& graph,
                                                      std::uint64_t seed, const std::function<bool()>& go_on) {
  return Neighbourly(distances, graph, seed, go_on).run();
}

}  // namespace ranktree::core::place::network
