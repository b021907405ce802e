#include "core/place/exact/branch_and_bound.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace ranktree::core::place::exact {
namespace {

constexpr double kRounding = 1 - 1e-12;  // may not end the search at a placement that only rounding makes cheaper

Ranks one(int rank) { return Ranks{1} << at(rank); }

class Search {
 public:
  Search(const Assignment& given, double bound, const std::function<bool()>& go_on)
      : given_(given), go_on_(go_on), best_cost_(bound), held_(given.pinned), node_of_(at(given.ranks), -1) {
    choose_order();
    find_nearest_slots();
    with_placed_.assign(at(given.ranks) + 1, std::vector<double>(at(given.ranks) * at(given.nodes), 0));
  }

  std::optional<std::vector<int>> run() {
    double cost = 0;
    std::size_t depth = 0;
    for (; depth < order_.size() && is_pinned(order_[depth]); ++depth) {
      const int rank = order_[depth];
      const auto home = std::find_if(held_.begin(), held_.end(), [&](Ranks held) { return (held & one(rank)) != 0; });
      const int node = static_cast<int>(home - held_.begin());
      cost += outside(depth, rank, node);
      put(depth, rank, node);
    }
    for (std::size_t node = 0; node < held_.size(); ++node) {
      if (held_[node] != 0) cost += (*given_.inside[node])[held_[node]];
    }
    place(depth, cost);
    return std::move(best_);
  }

 private:
  struct Choice {
    double least;  // with what the rank and those to come exchange at least, its half
    double added;
    int node;
    bool operator<(const Choice& other) const { return std::tie(least, node) < std::tie(other.least, other.node); }
  };

  [[nodiscard]] double weight(int a, int b) const { return given_.weights[at(a) * at(given_.ranks) + at(b)]; }
  [[nodiscard]] bool is_pinned(int rank) const {
    return std::any_of(given_.pinned.begin(), given_.pinned.end(), [&](Ranks held) { return (held & one(rank)) != 0; });
  }
  [[nodiscard]] double distance(int a, int b) const { return a == b ? given_.nearest[at(a)] : given_.between(a, b); }
  [[nodiscard]] std::size_t cell(int rank, int node) const { return at(rank) * at(given_.nodes) + at(node); }

  // After the pinned ranks, each time the one that exchanges most with those before; ties: the one that exchanges most.
  void choose_order() {
    std::vector<double> joined(at(given_.ranks), 0);
    std::vector<int> waiting(at(given_.ranks));
    std::iota(waiting.begin(), waiting.end(), 0);
    const auto urgency = [&](int rank) {
      const auto row = given_.weights.begin() + static_cast<std::ptrdiff_t>(rank) * given_.ranks;
      return std::tuple(is_pinned(rank), joined[at(rank)], std::accumulate(row, row + given_.ranks, 0.0));
    };
    while (!waiting.empty()) {
      const auto next =
          std::max_element(waiting.begin(), waiting.end(), [&](int a, int b) { return urgency(a) < urgency(b); });
      order_.push_back(*next);
      waiting.erase(next);
      for (const int rank : waiting) joined[at(rank)] += weight(order_.back(), rank);
    }
  }

  // By node: how far the nearest other slots are at least, as many as there are other ranks.
  void find_nearest_slots() {
    const std::size_t others = at(given_.ranks) - 1;
    for (int node = 0; node < given_.nodes; ++node) {
      std::vector<std::pair<double, int>> slots;
      for (int other = 0; other < given_.nodes; ++other) {
        const int count = given_.capacity[at(other)] - (other == node ? 1 : 0);
        if (count > 0) slots.emplace_back(distance(node, other), count);
      }
      const std::size_t sorted = std::min(others, slots.size());
      std::partial_sort(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(sorted), slots.end());
      std::vector<double> distances;
      for (const auto& [distance, count] : slots) {
        distances.resize(std::min(distances.size() + at(count), others), distance);
      }
      distances.resize(others, 0);
      nearest_slots_.push_back(std::move(distances));
    }
  }

  // A lower bound by node: half of the cost between a rank and the others that are assigned from `depth` on.
  [[nodiscard]] std::vector<double> with_others(std::size_t depth, int rank) const {
    std::vector<double> weights;
    for (std::size_t i = depth; i < order_.size(); ++i) {
      if (order_[i] != rank) weights.push_back(weight(rank, order_[i]));
    }
    std::sort(weights.begin(), weights.end(), std::greater<>());
    std::vector<double> result;
    result.reserve(nearest_slots_.size());
    for (const auto& nearest : nearest_slots_) {
      result.push_back(std::inner_product(weights.begin(), weights.end(), nearest.begin(), 0.0) / 2);
    }
    return result;
  }

  // By depth and rank; made when it is needed first.
  const std::vector<double>& known_with_others(std::size_t depth, int rank) {
    with_others_.resize((order_.size() + 1) * order_.size());
    auto& known = with_others_[depth * order_.size() + at(rank)];
    if (known.empty()) known = with_others(depth, rank);
    return known;
  }

  // What a rank exchanges with those on other nodes.
  [[nodiscard]] double outside(std::size_t depth, int rank, int node) const {
    double sum = 0;
    for (std::size_t i = 0; i < depth; ++i) {
      const int other = node_of_[at(order_[i])];
      const double shared = weight(rank, order_[i]);
      if (other != node && shared != 0) sum += shared * given_.between(node, other);
    }
    return sum;
  }

  void put(std::size_t depth, int rank, int node) {
    node_of_[at(rank)] = node;
    held_[at(node)] |= one(rank);
    for (std::size_t i = depth + 1; i < order_.size(); ++i) {
      const double shared = weight(rank, order_[i]);
      for (int other = 0; other < given_.nodes; ++other) {
        const std::size_t index = cell(order_[i], other);
        with_placed_[depth + 1][index] =
            with_placed_[depth][index] + (shared == 0 ? 0 : shared * distance(node, other));
      }
    }
    count_work(order_.size() * at(given_.nodes));
  }

  [[nodiscard]] bool has_free_slot(int node, int rank) const {
    const auto& inside = *given_.inside[at(node)];
    return inside[held_[at(node)] | one(rank)] < kImpossible;
  }

  // A lower bound of the cost that the later ranks add.
  double rest(std::size_t depth) {
    double sum = 0;
    for (std::size_t i = depth + 1; i < order_.size(); ++i) {
      const std::vector<double>& others = known_with_others(depth, order_[i]);
      const double* placed = &with_placed_[depth][cell(order_[i], 0)];
      double least = kImpossible;
      for (std::size_t node = 0; node < others.size(); ++node) least = std::min(least, placed[node] + others[node]);
      sum += least;
    }
    return sum;
  }

  std::vector<Choice> choices(std::size_t depth, double limit) {
    const int rank = order_[depth];
    const std::vector<double>& others = known_with_others(depth, rank);
    std::vector<Choice> found;
    const int nodes = depth == 0 && given_.alike ? 1 : given_.nodes;
    for (int node = 0; node < nodes; ++node) {
      if (with_placed_[depth][cell(rank, node)] + others[at(node)] >= limit || !has_free_slot(node, rank)) continue;
      const auto& inside = *given_.inside[at(node)];
      const Ranks held = held_[at(node)];
      const double before = held == 0 ? 0 : inside[held];
      const double added = outside(depth, rank, node) + inside[held | one(rank)] - before;
      if (added + others[at(node)] < limit) found.push_back({added + others[at(node)], added, node});
    }
    std::sort(found.begin(), found.end());
    constexpr std::size_t kChoice = 16;  // what one costs, in cells of the bound
    count_work(at(nodes) + kChoice * found.size());
    return found;
  }

  void place(std::size_t depth, double cost) {
    if (depth == order_.size()) {
      if (cost >= best_cost_) return;
      best_cost_ = cost;
      best_ = node_of_;
      return;
    }
    const double least = cost + rest(depth);
    for (const Choice& choice : choices(depth, best_cost_ * kRounding - least)) {
      if (stopped_ || least + choice.least >= best_cost_ * kRounding) return;
      put(depth, order_[depth], choice.node);
      place(depth + 1, cost + choice.added);
      held_[at(choice.node)] &= ~one(order_[depth]);
    }
  }

  void count_work(std::size_t work) {
    constexpr std::size_t kMostWork = 50'000'000;
    constexpr std::size_t kStepsPerCheck = 200'000;
    work_ += work;
    since_question_ += work;
    if (since_question_ < kStepsPerCheck) return;
    since_question_ = 0;
    stopped_ = stopped_ || work_ >= kMostWork || !go_on_();
  }

  const Assignment& given_;
  const std::function<bool()>& go_on_;
  double best_cost_;
  std::optional<std::vector<int>> best_;
  std::vector<int> order_;  // of the ranks
  std::vector<Ranks> held_;
  std::vector<int> node_of_;
  std::vector<std::vector<double>> nearest_slots_;
  std::vector<std::vector<double>> with_placed_;  // by depth: what a rank exchanges with those placed, by node
  std::vector<std::vector<double>> with_others_;
  std::size_t work_ = 0;
  std::size_t since_question_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::optional<std::vector<int>> assign(const Assignment& assignment, double bound, const std::function<bool()>& go_on) {
  return Search(assignment, bound, go_on).run();
}

}  // namespace ranktree::core::place::exact
