#include "core/place/engine/dense_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/dense_scan.h"
#include "core/place/engine/dense_search.h"
#include "core/place/engine/dense_weights.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Rank;
using Seat = SeatTree::Seat;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

template <class Number>
class DenseEngine {
 public:
  DenseEngine(const DenseRequest& request, const pattern::MatrixView<Number>& matrix, std::vector<Seat>& best)
      : request_(request),
        scan_(scan(matrix, static_cast<std::size_t>(request.effort.strongest))),
        weights_{matrix, scan_.symmetric, scan_.scale},
        search_{request.tree, request.effort.search, request.keep_going, request.fixed},
        best_(best) {}

  void run() {
    const bool spare = best_.size() < static_cast<std::size_t>(request_.tree.seats());
    if (scan_.strongest.arcs.empty() && !spare) return;  // all placements cost the same
    const std::vector<Seat> first = best_;
    const double first_cost = best_cost_ = cost(first);
    Random random(request_.seed);
    if (!spare && is_shapeless(scan_.strongest)) {
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
    search_.limits.annealing.rounds = 0;
    search_.limits.pairs.sweeps = std::max(search_.limits.pairs.sweeps, kSweeps);
    std::vector<Rank> free;
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (request_.fixed.empty() || request_.fixed[i] == 0) free.push_back(static_cast<Rank>(i));
    }
    std::vector<Seat> seats = best_;
    for (int i = 0; i < divisions() && go_on(); ++i) {
      consider(seats, random.next());
      for (std::size_t j = free.size(); j > 1; --j) {
        std::swap(seats[at(free[j - 1])], seats[at(free[random.below(j)])]);
      }
    }
  }

  void try_division(DenseRequest::Manner manner, Random& random) {
    auto seats = request_.divide(scan_.strongest, manner, random.next());
    divided_cost_ = std::min(divided_cost_, cost(seats));
    consider(std::move(seats), random.next());
  }

  void consider(std::vector<Seat> seats, std::uint64_t seed) {
    improve(search_, weights_, seed, seats);
    const double found = cost(seats);
    if (found >= best_cost_) return;
    best_cost_ = found;
    best_ = std::move(seats);
  }

  const DenseRequest& request_;
  DenseScan scan_;
  DenseWeights<Number> weights_;
  DenseSearch search_;
  std::vector<Seat>& best_;
  double best_cost_ = 0;
  double divided_cost_ = std::numeric_limits<double>::infinity();  // of the best division as it was found
};

}  // namespace

void place_dense(const DenseRequest& request, const pattern::Matrix& matrix, std::vector<Seat>& seat_of) {
  std::visit([&](const auto& view) { DenseEngine(request, view, seat_of).run(); }, matrix);
}

}  // namespace ranktree::core::place::engine
