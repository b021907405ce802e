#include "core/place/network/few_ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "core/place/engine/graph.h"
#include "core/place/network/distances.h"
#include "core/place/network/search.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

using engine::Arc;
using engine::Vertex;

constexpr int kMostNodes = 1024;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The ranks in the order in which they are placed, and what each pair of them exchanges. Ranks are named by their turn
// from here on.
struct Turns {
  std::vector<int> rank;
  std::vector<double> weights;
  std::size_t fixed = 0;  // the pinned come first

  [[nodiscard]] std::size_t count() const { return rank.size(); }
  [[nodiscard]] double weight(std::size_t a, std::size_t b) const { return weights[a * count() + b]; }
};

// What each pair of ranks exchanges.
std::vector<double> weights_between(const engine::Graph& graph) {
  const auto count = at(graph.vertices());
  std::vector<double> weights(count * count, 0);
  for (Vertex rank = 0; rank < graph.vertices(); ++rank) {
    for (const Arc& arc : graph.arcs_of(rank)) weights[at(rank) * count + at(arc.to)] += arc.weight;
  }
  return weights;
}

// After the pinned, whoever exchanges most with those before, then most of all.
Turns turns_of(const SearchInput& input) {
  const auto count = at(input.graph.vertices());
  const std::vector<double> weights = weights_between(input.graph);
  std::vector<double> joined(count, 0);
  std::vector<std::size_t> waiting(count);
  std::iota(waiting.begin(), waiting.end(), 0);
  const auto fixed = [&](std::size_t rank) { return !input.fixed.empty() && input.fixed[rank] != 0; };
  const auto urgency = [&](std::size_t rank) {
    const double* row = &weights[rank * count];
    return std::tuple(fixed(rank), joined[rank], std::accumulate(row, row + count, 0.0));
  };
  Turns turns;
  while (!waiting.empty()) {
    const auto next = std::max_element(waiting.begin(), waiting.end(),
                                       [&](std::size_t a, std::size_t b) { return urgency(a) < urgency(b); });
    const double* row = &weights[*next * count];
    for (const std::size_t rank : waiting) joined[rank] += row[rank];
    turns.fixed += fixed(*next) ? 1 : 0;
    turns.rank.push_back(static_cast<int>(*next));
    waiting.erase(next);
  }
  for (const int a : turns.rank) {
    for (const int b : turns.rank) turns.weights.push_back(weights[at(a) * count + at(b)]);
  }
  return turns;
}

// What those who are not placed yet will add at least: each, on its best node, what it exchanges with those placed, and
// half of what it exchanges with the others, the most with the seat that is nearest from there (the bound of Gilmore
// and Lawler for the quadratic assignment problem, without its assignment of ranks to different nodes).
class RestBound {
 public:
  RestBound(const Distances& distances, const Turns& turns)
      : distances_(distances), turns_(turns), nodes_(at(distances.nodes())) {
    const std::size_t cells = turns.count() * nodes_;
    with_placed_.assign((turns.count() + 1) * cells, 0);
    with_others_.assign((turns.count() + 1) * cells, 0);
    find_insides();
    const std::vector<double> nearest = nearest_seats();
    for (std::size_t depth = 0; depth <= turns.count(); ++depth) {
      for (std::size_t turn = depth; turn < turns.count(); ++turn) add_others(depth, turn, nearest);
    }
  }

  // What a rank adds on a node that holds nobody yet; at least, on one that does.
  [[nodiscard]] double with_placed(std::size_t depth, std::size_t turn, int node) const {
    return with_placed_[cell(depth, turn) + at(node)];
  }

  // The one whose turn is `depth` is on this node now.
  void place(std::size_t depth, int node) {
    for (std::size_t turn = depth + 1; turn < turns_.count(); ++turn) {
      const double weight = turns_.weight(depth, turn);
      const double* before = &with_placed_[cell(depth, turn)];
      double* after = &with_placed_[cell(depth + 1, turn)];
      for (std::size_t other = 0; other < nodes_; ++other) {
        after[other] = before[other] + (weight == 0 ? 0 : weight * apart(node, static_cast<int>(other)));
      }
    }
  }

  // What a rank exchanges with those who are not placed, its half of it, from a node: at least.
  [[nodiscard]] double with_others(std::size_t depth, std::size_t turn, int node) const {
    return with_others_[cell(depth, turn) + at(node)];
  }

  // What all add whose turn comes after this one.
  [[nodiscard]] double after(std::size_t depth, const std::vector<Seat>& free) const {
    double sum = 0;
    for (std::size_t turn = depth + 1; turn < turns_.count(); ++turn) {
      const double* placed = &with_placed_[cell(depth, turn)];
      const double* others = &with_others_[cell(depth, turn)];
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t node = 0; node < nodes_; ++node) {
        if (free[node] > 0) least = std::min(least, placed[node] + others[node]);
      }
      sum += least;
    }
    return sum;
  }

 private:
  [[nodiscard]] std::size_t cell(std::size_t depth, std::size_t turn) const {
    return (depth * turns_.count() + turn) * nodes_;
  }
  [[nodiscard]] double apart(int a, int b) const { return a == b ? inside_[at(a)] : distances_.between(a, b); }

  // The least that two seats of a node cost: some that stand side by side do.
  void find_insides() {
    for (int node = 0; node < distances_.nodes(); ++node) {
      double least = std::numeric_limits<double>::infinity();
      const Seat end = distances_.first_seat(node) + distances_.capacity(node);
      for (Seat seat = distances_.first_seat(node) + 1; seat < end; ++seat) {
        least = std::min(least, distances_.distance(seat - 1, seat));
      }
      inside_.push_back(least == std::numeric_limits<double>::infinity() ? 0 : least);
    }
  }

  // By node: how far the nearest other seats are at least, as many as there are other ranks.
  [[nodiscard]] std::vector<double> nearest_seats() const {
    const std::size_t others = turns_.count() - 1;
    std::vector<double> result;
    for (int node = 0; node < distances_.nodes(); ++node) {
      std::vector<std::pair<double, Seat>> seats;
      for (int other = 0; other < distances_.nodes(); ++other) {
        const Seat count = distances_.capacity(other) - (other == node ? 1 : 0);
        if (count > 0) seats.emplace_back(apart(node, other), count);
      }
      const std::size_t sorted = std::min(others, seats.size());
      std::partial_sort(seats.begin(), seats.begin() + static_cast<std::ptrdiff_t>(sorted), seats.end());
      std::size_t found = 0;
      for (const auto& [distance, count] : seats) {
        for (Seat i = 0; i < count && found < others; ++i, ++found) result.push_back(distance);
      }
      result.resize((at(node) + 1) * others, 0);
    }
    return result;
  }

  void add_others(std::size_t depth, std::size_t turn, const std::vector<double>& nearest) {
    std::vector<double> weights;
    for (std::size_t other = depth; other < turns_.count(); ++other) {
      if (other != turn) weights.push_back(turns_.weight(turn, other));
    }
    std::sort(weights.begin(), weights.end(), std::greater<>());
    for (std::size_t node = 0; node < nodes_; ++node) {
      double sum = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * nearest[node * (turns_.count() - 1) + i];
      with_others_[cell(depth, turn) + node] = sum / 2;
    }
  }

  const Distances& distances_;
  const Turns& turns_;
  std::size_t nodes_;
  std::vector<double> inside_;
  // By turns taken, turn, node.
  std::vector<double> with_placed_, with_others_;
};

class Enumeration {
 public:
  Enumeration(const SearchInput& input, std::vector<Seat>& best)
      : input_(input),
        distances_(input.distances),
        turns_(turns_of(input)),
        rest_(distances_, turns_),
        best_(best),
        best_cost_(cost_of(input, best)),
        now_(best.size(), 0),
        taken_(at(distances_.seats()), 0) {
    for (int node = 0; node < distances_.nodes(); ++node) free_.push_back(distances_.capacity(node));
  }

  // From a first rank on each node and the others wherever they add least; then all there is but what cannot be
  // cheaper.
  void run() {
    for (const Choice& first : choices(0, kAny)) {
      if (stopped_) return;
      try_greedily(first.seat);
    }
    place(0, 0);
  }

 private:
  static constexpr double kAny = std::numeric_limits<double>::infinity();

  // A seat for the rank whose turn it is, what it adds there, and what with its half of what is to come at least.
  struct Choice {
    double least;
    double added;
    Seat seat;

    [[nodiscard]] bool operator<(const Choice& other) const {
      return std::tie(least, seat) < std::tie(other.least, other.seat);
    }
  };

  void try_greedily(Seat first) {
    take(0, first);
    std::size_t placed = 1;
    for (; placed < turns_.count(); ++placed) {
      const std::vector<Choice> found = choices(placed, kAny);
      if (found.empty()) break;  // what any seat adds is more than a double holds
      take(placed, found.front().seat);
    }
    for (std::size_t turn = 0; turn < placed; ++turn) release(now_[turn]);
    if (placed < turns_.count()) return;
    std::vector<Seat> seats = by_rank();
    swap_ranks(input_, seats);
    const double cost = cost_of(input_, seats);
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    best_ = std::move(seats);
  }

  void take(std::size_t depth, Seat seat) {
    count_work(turns_.count() * at(distances_.nodes()));
    now_[depth] = seat;
    taken_[at(seat)] = 1;
    --free_[at(distances_.node(seat))];
    rest_.place(depth, distances_.node(seat));
  }

  void release(Seat seat) {
    ++free_[at(distances_.node(seat))];
    taken_[at(seat)] = 0;
  }

  [[nodiscard]] std::vector<Seat> by_rank() const {
    std::vector<Seat> seats(now_.size());
    for (std::size_t turn = 0; turn < now_.size(); ++turn) seats[at(turns_.rank[turn])] = now_[turn];
    return seats;
  }

  void place(std::size_t depth, double cost) {
    if (depth == turns_.count()) {
      if (cost >= best_cost_) return;
      best_cost_ = cost;
      best_ = by_rank();
      return;
    }
    // Rounding may not end the search at a placement that is dearer by nothing but that.
    constexpr double kRounding = 1 - 1e-12;
    const double least = cost + rest_.after(depth, free_);
    for (const Choice& choice : choices(depth, best_cost_ * kRounding - least)) {
      if (stopped_ || least + choice.least >= best_cost_ * kRounding) return;
      take(depth, choice.seat);
      place(depth + 1, cost + choice.added);
      release(choice.seat);
    }
  }

  void count_work(std::size_t work) {
    constexpr std::size_t kMostWork = 50'000'000;
    constexpr std::size_t kBetweenQuestions = 200'000;
    work_ += work;
    since_question_ += work;
    if (since_question_ < kBetweenQuestions) return;
    since_question_ = 0;
    stopped_ = stopped_ || work_ >= kMostWork || !input_.go_on();
  }

  // The free seats where the rank adds less than `room`, the cheapest first; of seats that look the same, one.
  std::vector<Choice> choices(std::size_t depth, double room) {
    std::vector<Choice> found;
    if (depth < turns_.fixed) {
      const Seat seat = best_[at(turns_.rank[depth])];
      add_choice(depth, seat, added(depth, seat), room, found);
      return found;
    }
    const int nodes = depth == 0 && all_nodes_alike() ? 1 : distances_.nodes();
    for (int node = 0; node < nodes; ++node) {
      const double least = rest_.with_placed(depth, depth, node) + rest_.with_others(depth, depth, node);
      if (free_[at(node)] == 0 || least >= room) continue;
      const bool alike = distances_.uniform(distances_.form(node));
      if (alike && free_[at(node)] == distances_.capacity(node)) {
        add_choice(depth, distances_.first_seat(node), rest_.with_placed(depth, depth, node), room, found);
      } else {
        add_seats(depth, node, alike, room, found);
      }
    }
    std::sort(found.begin(), found.end());
    constexpr std::size_t kChoice = 16;  // what one costs, measured in cells of the bound
    count_work(at(nodes) + kChoice * found.size());
    return found;
  }

  void add_choice(std::size_t depth, Seat seat, double added, double room, std::vector<Choice>& found) const {
    const double least = added + rest_.with_others(depth, depth, distances_.node(seat));
    if (least < room) found.push_back({least, added, seat});
  }

  void add_seats(std::size_t depth, int node, bool alike, double room, std::vector<Choice>& found) {
    std::vector<std::vector<int>> seen;
    const Seat end = distances_.first_seat(node) + distances_.capacity(node);
    topo::Leaf last = -1;
    constexpr std::size_t kPair = 4;  // what a distance costs, measured as in choices()
    count_work(at(distances_.capacity(node)) * turns_.count() * kPair);
    for (Seat seat = distances_.first_seat(node); seat < end; ++seat) {
      if (taken_[at(seat)] != 0 || distances_.leaf(seat) == last) continue;
      last = distances_.leaf(seat);
      if (alike) {
        std::vector<int> view = view_of(depth, seat);
        if (std::find(seen.begin(), seen.end(), view) != seen.end()) continue;
        seen.push_back(std::move(view));
      }
      add_choice(depth, seat, added(depth, seat), room, found);
    }
  }

  [[nodiscard]] double added(std::size_t depth, Seat seat) const {
    double sum = 0;
    for (std::size_t turn = 0; turn < depth; ++turn) {
      const double weight = turns_.weight(depth, turn);
      if (weight != 0) sum += weight * distances_.distance(seat, now_[turn]);
    }
    return sum;
  }

  // On which level the ranks that the node holds meet it: seats of the same view can be exchanged where all branches
  // are alike. Pinned ranks are placed first of all, so nothing else tells them apart.
  [[nodiscard]] std::vector<int> view_of(std::size_t depth, Seat seat) const {
    std::vector<int> view;
    for (std::size_t turn = 0; turn < depth; ++turn) {
      if (distances_.node(now_[turn]) == distances_.node(seat)) {
        view.push_back(distances_.level_inside(seat, now_[turn]));
      }
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
  Turns turns_;
  RestBound rest_;
  std::vector<Seat>& best_;
  double best_cost_;
  std::vector<Seat> now_;  // by turn
  std::vector<std::uint8_t> taken_;
  std::vector<Seat> free_;  // seats of each node
  std::size_t work_ = 0, since_question_ = 0;
  bool stopped_ = false;
};

}  // namespace

void search_few(const SearchInput& input, std::vector<Seat>& seat_of) {
  if (input.distances.nodes() <= kMostNodes) Enumeration(input, seat_of).run();
}

}  // namespace ranktree::core::place::network
