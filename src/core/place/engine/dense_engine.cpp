#include "core/place/engine/dense_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/dense_scan.h"
#include "core/place/engine/dense_search.h"
#include "core/place/engine/dense_weights.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/start.h"
#include "core/place/engine/structural_order.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Rank;
using Seat = SeatTree::Seat;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

pattern::Affinity lists_of(const Graph& graph) {
  pattern::Affinity lists;
  lists.ranks = graph.vertices();
  lists.indptr = graph.offset;
  lists.indices.reserve(graph.arcs.size());
  lists.weights.reserve(graph.arcs.size());
  for (const Arc& arc : graph.arcs) {
    lists.indices.push_back(arc.to);
    lists.weights.push_back(arc.weight);
  }
  return lists;
}

// Vertex i becomes what order[i] was.
Graph renumbered(const Graph& graph, const std::vector<Rank>& order) {
  std::vector<Vertex> vertex_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) vertex_of[at(order[i])] = static_cast<Vertex>(i);
  Graph result;
  result.size.assign(order.size(), 1);
  result.arcs.reserve(graph.arcs.size());
  for (const Rank rank : order) {
    const auto begin = static_cast<std::ptrdiff_t>(result.arcs.size());
    for (const Arc& arc : graph.arcs_of(rank)) result.arcs.push_back({vertex_of[at(arc.to)], arc.weight});
    std::sort(result.arcs.begin() + begin, result.arcs.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
    result.offset.push_back(static_cast<std::int64_t>(result.arcs.size()));
  }
  return result;
}

// As sparse patterns are ordered, where numbers need not decide.
std::vector<Rank> order_of(const DenseScan& scan) {
  if (scan.named) {
    Workers workers(1);
    return structural_order(lists_of(scan.strongest), workers);
  }
  std::vector<Rank> order(scan.strongest.size.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool has_spare_seats(const DenseRequest& request, const std::vector<Seat>& seats) {
  return seats.size() < static_cast<std::size_t>(request.tree.seats());
}

template <class Number>
class DenseEngine {
 public:
  DenseEngine(const DenseRequest& request, const pattern::MatrixView<Number>& matrix, DenseScan found,
              std::vector<Seat>& best)
      : request_(request),
        scan_(std::move(found)),
        order_(order_of(scan_)),
        guide_(renumbered(scan_.strongest, order_)),
        weights_{matrix, scan_.symmetric, scan_.scale},
        search_{request.tree, request.effort.search, request.keep_going, request.fixed},
        best_(best) {}

  void run() {
    const bool spare = has_spare_seats(request_, best_);
    const std::vector<Seat> first = best_;
    const double first_cost = best_cost_ = cost(first);
    Random random(request_.seed);
    if (!spare && is_shapeless(guide_)) {
      search_anywhere(random);
      return;
    }
    for (int i = 0; i < divisions() && go_on(); ++i) {
      const bool careful = i < request_.effort.careful;
      try_division({careful, false}, random);
      if (spare && go_on()) try_division({careful, true}, random);
    }
    // From farther away the search is slow and ends worse.
    if (go_on() && first_cost < divided_cost_) consider(first, random.next());
  }

 private:
  [[nodiscard]] bool go_on() const { return !request_.keep_going || request_.keep_going(); }
  [[nodiscard]] double cost(const std::vector<Seat>& seats) const {
    return cost_of(request_.tree, weights_, scan_.total, seats);
  }
  [[nodiscard]] int divisions() const {
    constexpr std::size_t kFewRanks = 512;  // ranks; so many divisions fewer as there are more entries
    const auto most = static_cast<std::size_t>(request_.effort.divisions) * kFewRanks * kFewRanks;
    const auto affordable = static_cast<int>(most / (best_.size() * best_.size()));
    return std::clamp(affordable, 1, request_.effort.divisions);
  }

  // All divisions of such a pattern cost nearly the same: as well from anywhere, and subtrees are all alike.
  void search_anywhere(Random& random) {
    constexpr int kSweeps = 8;
    const std::vector<Rank> free = free_ranks();
    search_.limits.annealing.rounds = 0;
    search_.limits.pairs.sweeps = std::max(search_.limits.pairs.sweeps, kSweeps);
    const std::vector<Seat> first = best_;
    const double first_cost = best_cost_;
    std::vector<Seat> seats = scan_.named ? in_order(first, free) : first;
    for (int i = 0; i < divisions() && go_on(); ++i) {
      consider(seats, random.next());
      for (std::size_t j = free.size(); j > 1; --j) {
        std::swap(seats[at(free[j - 1])], seats[at(free[random.below(j)])]);
      }
    }
    if (scan_.named && go_on() && best_cost_ == first_cost) consider(first, random.next());
  }

  // Who may move, as the engine visits them.
  [[nodiscard]] std::vector<Rank> free_ranks() const {
    std::vector<Rank> free;
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(free),
                 [&](Rank rank) { return request_.fixed.empty() || request_.fixed[at(rank)] == 0; });
    return free;
  }

  // The same seats, taken by these ranks one after the other.
  static std::vector<Seat> in_order(std::vector<Seat> seats, std::span<const Rank> ranks) {
    std::vector<Seat> some;
    some.reserve(ranks.size());
    for (const Rank rank : ranks) some.push_back(seats[at(rank)]);
    std::sort(some.begin(), some.end());
    for (std::size_t i = 0; i < ranks.size(); ++i) seats[at(ranks[i])] = some[i];
    return seats;
  }

  void try_division(DenseRequest::Manner manner, Random& random) {
    const std::vector<Seat> found = request_.divide(guide_, manner, random.next());
    std::vector<Seat> seats(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) seats[at(order_[i])] = found[i];
    bring_home(request_.tree, request_.tree.pinned(), seats);
    divided_cost_ = std::min(divided_cost_, cost(seats));
    consider(std::move(seats), random.next());
  }

  void consider(std::vector<Seat> seats, std::uint64_t seed) {
    improve(search_, weights_, order_, seed, seats);
    const double found = cost(seats);
    if (found >= best_cost_) return;
    best_cost_ = found;
    best_ = std::move(seats);
  }

  const DenseRequest& request_;
  DenseScan scan_;
  std::vector<Rank> order_;  // of the ranks, which does not follow from their numbers
  Graph guide_;              // in that order
  DenseWeights<Number> weights_;
  DenseSearch search_;
  std::vector<Seat>& best_;
  double best_cost_ = 0;
  double divided_cost_ = std::numeric_limits<double>::infinity();  // of the best division as it was found
};

template <class Number>
void place(const DenseRequest& request, const pattern::MatrixView<Number>& matrix, std::vector<Seat>& seat_of) {
  DenseScan found = scan(matrix, static_cast<std::size_t>(request.effort.strongest));
  const bool spare = has_spare_seats(request, seat_of);
  if (found.strongest.arcs.empty() && !spare) return;  // all placements cost the same
  if (found.whole && !spare) {
    seat_of = request.place_lists(lists_of(found.strongest));
  } else {
    DenseEngine(request, matrix, std::move(found), seat_of).run();
  }
}

}  // namespace

void place_dense(const DenseRequest& request, const pattern::Matrix& matrix, std::vector<Seat>& seat_of) {
  std::visit([&](const auto& view) { place(request, view, seat_of); }, matrix);
}

}  // namespace ranktree::core::place::engine
