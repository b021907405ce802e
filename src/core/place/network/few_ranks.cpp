#include "core/place/network/few_ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "core/place/engine/graph.h"
#include "core/place/network/distances.h"
#include "core/place/network/search.h"
#include "core/topo/interconnect.h"

namespace ranktree::core::place::network {
namespace {

using engine::Arc;
using engine::Vertex;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class Enumeration {
 public:
  Enumeration(const SearchInput& input, std::vector<Seat>& best)
      : input_(input),
        distances_(input.distances),
        best_(best),
        best_cost_(cost_of(input, best)),
        now_(best),
        taken_(at(distances_.seats()), 0),
        placed_(best.size(), 0) {
    std::vector<double> total(best.size(), 0);
    for (Vertex rank = 0; rank < input.graph.vertices(); ++rank) {
      for (const Arc& arc : input.graph.arcs_of(rank)) total[at(rank)] += arc.weight;
      rest_ += total[at(rank)] / 2;
    }
    order_.resize(best.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return std::pair(is_fixed(a), total[at(a)]) > std::pair(is_fixed(b), total[at(b)]);
    });
  }

  void run() { place(0, 0, rest_); }

 private:
  [[nodiscard]] bool is_fixed(int rank) const { return !input_.fixed.empty() && input_.fixed[at(rank)] != 0; }

  // `rest`: what the pairs exchange that are not both placed.
  void place(std::size_t depth, double cost, double rest) {
    if (depth == order_.size()) {
      if (cost >= best_cost_) return;
      best_cost_ = cost;
      best_ = now_;
      return;
    }
    const int rank = order_[depth];
    double joined = 0;
    for (const Arc& arc : input_.graph.arcs_of(rank)) {
      if (placed_[at(arc.to)] != 0) joined += arc.weight;
    }
    placed_[at(rank)] = 1;
    for (const auto& [added, seat] : choices(depth, rank)) {
      // Rounding may not end the search at a placement that is dearer by nothing but that.
      if (cost + added + (rest - joined) * distances_.least() >= best_cost_ * (1 - 1e-12) || stopped()) break;
      now_[at(rank)] = seat;
      taken_[at(seat)] = 1;
      place(depth + 1, cost + added, rest - joined);
      taken_[at(seat)] = 0;
    }
    placed_[at(rank)] = 0;
  }

  bool stopped() {
    constexpr std::int64_t kSteps = 5'000'000;
    constexpr std::int64_t kBetweenQuestions = 8192;
    if (steps_ < kSteps && (steps_ % kBetweenQuestions != 0 || input_.go_on())) {
      ++steps_;
      return false;
    }
    steps_ = kSteps;
    return true;
  }

  // What each free seat adds, the cheapest first.
  std::vector<std::pair<double, Seat>> choices(std::size_t depth, int rank) {
    std::vector<std::pair<double, Seat>> found;
    if (is_fixed(rank)) return {{added(rank, best_[at(rank)]), best_[at(rank)]}};
    const int nodes = depth == 0 && all_nodes_alike() ? 1 : distances_.nodes();
    for (int node = 0; node < nodes; ++node) {
      std::vector<std::vector<int>> seen;
      const Seat end = distances_.first_seat(node) + distances_.capacity(node);
      for (Seat seat = distances_.first_seat(node); seat < end; ++seat) {
        if (taken_[at(seat)] != 0) continue;
        if (distances_.uniform(distances_.form(node))) {
          std::vector<int> view = view_of(depth, seat);
          if (std::find(seen.begin(), seen.end(), view) != seen.end()) continue;
          seen.push_back(std::move(view));
        }
        found.emplace_back(added(rank, seat), seat);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  [[nodiscard]] double added(int rank, Seat seat) const {
    double sum = 0;
    for (const Arc& arc : input_.graph.arcs_of(rank)) {
      if (placed_[at(arc.to)] != 0) sum += arc.weight * distances_.distance(seat, now_[at(arc.to)]);
    }
    return sum;
  }

  // On which level the ranks that the node holds meet it: seats of the same view can be exchanged where all branches
  // are alike. Pinned ranks that come later are placed first of all, so nothing else tells them apart.
  [[nodiscard]] std::vector<int> view_of(std::size_t depth, Seat seat) const {
    std::vector<int> view;
    for (std::size_t i = 0; i < depth; ++i) {
      const Seat other = now_[at(order_[i])];
      if (distances_.node(other) == distances_.node(seat)) view.push_back(distances_.level_inside(seat, other));
    }
    return view;
  }

  // Every node of a full torus that wraps sees the same.
  [[nodiscard]] bool all_nodes_alike() const {
    const topo::Interconnect& network = distances_.interconnect();
    const auto* torus = std::get_if<topo::Torus>(&network.network());
    if (torus == nullptr || network.hosts() != topo::node_count(network.network())) return false;
    for (std::size_t i = 0; i < torus->sizes.size(); ++i) {
      if (torus->wraps[i] == 0 && torus->sizes[i] > 2) return false;
    }
    for (int node = 1; node < distances_.nodes(); ++node) {
      if (distances_.form(node) != distances_.form(0)) return false;
    }
    return true;
  }

  const SearchInput& input_;
  const Distances& distances_;
  std::vector<Seat>& best_;
  double best_cost_;
  std::vector<Seat> now_;
  std::vector<std::uint8_t> taken_, placed_;
  std::vector<int> order_;
  double rest_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

void search_few(const SearchInput& input, std::vector<Seat>& seat_of) { Enumeration(input, seat_of).run(); }

}  // namespace ranktree::core::place::network
