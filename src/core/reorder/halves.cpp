#include "core/reorder/halves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/scale.h"

namespace ranktree::core::reorder {
namespace {

constexpr int kPasses = 12;
constexpr int kSmallest = 80;           // vertices at which coarsening ends
constexpr int kGrowths = 6;             // halves grown on the smallest graph
constexpr std::size_t kPatience = 120;  // moves without a better state after which a pass ends

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::int64_t total_weight(const WeightedGraph& graph) {
  return std::accumulate(graph.weight.begin(), graph.weight.end(), std::int64_t{0});
}

int heaviest(const WeightedGraph& graph) {
  return graph.weight.empty() ? 1 : *std::max_element(graph.weight.begin(), graph.weight.end());
}

// One pass of moves. Heaps keep outdated entries, which are dropped when they come up.
class Pass {
 public:
  Pass(const WeightedGraph& graph, Sides& sides, std::int64_t excess, std::int64_t tolerance)
      : graph_(graph),
        sides_(sides),
        excess_(excess),
        tolerance_(tolerance),
        gain_(at(graph.size())),
        queued_(at(graph.size()), 0),
        moved_(at(graph.size()), 0) {
    room_ = std::max<std::int64_t>({tolerance, heaviest(graph), total_weight(graph) / 100});
    for (int vertex = 0; vertex < graph.size(); ++vertex) {
      const auto [inside, across] = degrees(vertex);
      gain_[at(vertex)] = across - inside;
      if (across > 0) push(vertex);
    }
  }

  // Whether the state has become better.
  bool run() {
    State best = state();
    const State before = best;
    std::size_t kept = 0;
    while (log_.size() < kept + kPatience) {
      const std::optional<int> vertex = choose();
      if (!vertex) break;
      move(*vertex);
      if (!(state() < best)) continue;
      best = state();
      kept = log_.size();
    }
    for (; log_.size() > kept; log_.pop_back()) undo(log_.back());
    return best < before;
  }

  [[nodiscard]] std::int64_t excess() const { return excess_; }

 private:
  using State = std::pair<std::int64_t, double>;  // how far outside the tolerance, change of the cut
  using Entry = std::tuple<double, std::uint32_t, int>;

  [[nodiscard]] State state() const { return {std::max<std::int64_t>(0, std::abs(excess_) - tolerance_), cut_change_}; }

  [[nodiscard]] std::pair<double, double> degrees(int vertex) const {
    double inside = 0;
    double across = 0;
    for (std::size_t i = graph_.begin[at(vertex)]; i < graph_.begin[at(vertex) + 1]; ++i) {
      (sides_[at(graph_.peers[i])] == sides_[at(vertex)] ? inside : across) += graph_.weights[i];
    }
    if (graph_.pull.empty()) return {inside, across};
    const double pull = sides_[at(vertex)] == 0 ? graph_.pull[at(vertex)] : -graph_.pull[at(vertex)];
    return {inside + std::max(0.0, -pull), across + std::max(0.0, pull)};
  }

  void push(int vertex) {
    queued_[at(vertex)] = 1;
    heaps_[sides_[at(vertex)]].emplace(gain_[at(vertex)], ~static_cast<std::uint32_t>(vertex), vertex);
  }

  // Vertices away from the cut are asked for only when the balance needs them.
  std::optional<int> top(std::uint8_t side) {
    auto& heap = heaps_[side];
    for (int turn = 0; turn < 2; ++turn) {
      for (; !heap.empty(); heap.pop()) {
        const auto [gain, tie, vertex] = heap.top();
        if (moved_[at(vertex)] == 0 && sides_[at(vertex)] == side && gain == gain_[at(vertex)]) return vertex;
      }
      if (filled_[side]) break;
      filled_[side] = true;
      for (int vertex = 0; vertex < graph_.size(); ++vertex) {
        if (sides_[at(vertex)] == side && moved_[at(vertex)] == 0 && queued_[at(vertex)] == 0) push(vertex);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t excess_after(int vertex) const {
    const int weight = graph_.weight[at(vertex)];
    return sides_[at(vertex)] == 0 ? excess_ - weight : excess_ + weight;
  }

  [[nodiscard]] bool fits(int vertex) const {
    return std::abs(excess_after(vertex)) <= room_ || std::abs(excess_after(vertex)) < std::abs(excess_);
  }

  std::optional<int> choose() {
    std::optional<int> left = top(0);
    std::optional<int> right = top(1);
    if (left && !fits(*left)) left.reset();
    if (right && !fits(*right)) right.reset();
    if (!left || !right) return left ? left : right;
    const double left_gain = gain_[at(*left)];
    const double right_gain = gain_[at(*right)];
    if (left_gain != right_gain) return left_gain > right_gain ? left : right;
    return std::abs(excess_after(*left)) <= std::abs(excess_after(*right)) ? left : right;
  }

  void move(int vertex) {
    moved_[at(vertex)] = 1;
    log_.push_back(vertex);
    flip(vertex, true);
  }

  void undo(int vertex) { flip(vertex, false); }

  void flip(int vertex, bool update) {
    excess_ = excess_after(vertex);
    cut_change_ -= gain_[at(vertex)];
    sides_[at(vertex)] ^= 1U;
    gain_[at(vertex)] = -gain_[at(vertex)];
    for (std::size_t i = graph_.begin[at(vertex)]; update && i < graph_.begin[at(vertex) + 1]; ++i) {
      const int peer = graph_.peers[i];
      gain_[at(peer)] += (sides_[at(peer)] == sides_[at(vertex)] ? -2 : 2) * graph_.weights[i];
      if (moved_[at(peer)] == 0) push(peer);
    }
  }

  const WeightedGraph& graph_;
  Sides& sides_;
  std::int64_t excess_, tolerance_, room_ = 0;
  std::vector<double> gain_;
  std::vector<std::uint8_t> queued_, moved_;
  std::priority_queue<Entry> heaps_[2];
  bool filled_[2] = {false, false};
  std::vector<int> log_;
  double cut_change_ = 0;
};

// What each vertex would save by going to the left first.
std::vector<double> gains_of_leaving_the_right(const WeightedGraph& graph) {
  std::vector<double> gain(at(graph.size()), 0);
  for (int vertex = 0; vertex < graph.size(); ++vertex) {
    for (std::size_t i = graph.begin[at(vertex)]; i < graph.begin[at(vertex) + 1]; ++i) {
      gain[at(vertex)] -= graph.weights[i];
    }
    if (!graph.pull.empty()) gain[at(vertex)] -= graph.pull[at(vertex)];
  }
  return gain;
}

// Everything on the right but what grows around `start`, always by the vertex that costs least.
Sides grow(const WeightedGraph& graph, std::int64_t target, int start, Random& random) {
  Sides sides(at(graph.size()), 1);
  std::vector<double> gain = gains_of_leaving_the_right(graph);
  std::priority_queue<std::tuple<double, std::uint64_t, int>> heap;
  const auto key = [&](int vertex) { heap.emplace(gain[at(vertex)], random.next(), vertex); };
  std::int64_t left = 0;
  for (int next = start; left < target;) {
    if (heap.empty()) {
      while (sides[at(next)] == 0) next = (next + 1) % graph.size();
      key(next);
    }
    const auto [value, tie, vertex] = heap.top();
    heap.pop();
    if (sides[at(vertex)] == 0 || value != gain[at(vertex)]) continue;
    if (left > 0 && 2 * (target - left) < graph.weight[at(vertex)]) break;
    sides[at(vertex)] = 0;
    left += graph.weight[at(vertex)];
    for (std::size_t i = graph.begin[at(vertex)]; i < graph.begin[at(vertex) + 1]; ++i) {
      const int peer = graph.peers[i];
      if (sides[at(peer)] == 0) continue;
      gain[at(peer)] += 2 * graph.weights[i];
      key(peer);
    }
  }
  return sides;
}

struct Coarser {
  WeightedGraph graph;
  std::vector<int> coarse_of;  // by vertex of the finer graph
};

// Vertices in random order, each with the free neighbour most strongly tied to it in relation to their weights.
std::vector<int> pair_up(const WeightedGraph& graph, std::int64_t limit, Random& random) {
  std::vector<int> order(at(graph.size()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<int> mate(order.size(), -1);
  for (const int vertex : order) {
    if (mate[at(vertex)] >= 0) continue;
    int best = vertex;
    double best_rating = -1;
    for (std::size_t i = graph.begin[at(vertex)]; i < graph.begin[at(vertex) + 1]; ++i) {
      const int peer = graph.peers[i];
      if (mate[at(peer)] >= 0 || graph.weight[at(peer)] + graph.weight[at(vertex)] > limit) continue;
      const double rating = graph.weights[i] / graph.weight[at(peer)];
      if (rating <= best_rating) continue;
      best = peer;
      best_rating = rating;
    }
    mate[at(vertex)] = best;
    mate[at(best)] = vertex;
  }
  return mate;
}

// Builds the coarser graph one vertex after the other.
class Contraction {
 public:
  Contraction(const WeightedGraph& graph, const std::vector<int>& mate) : graph_(graph), result_{{}, mate} {
    int count = 0;
    for (int vertex = 0; vertex < graph.size(); ++vertex) {
      const int other = mate[at(vertex)];
      if (other >= vertex) members_.emplace_back(vertex, other);
      result_.coarse_of[at(vertex)] = other >= vertex ? count++ : result_.coarse_of[at(other)];
    }
    position_.assign(members_.size(), std::numeric_limits<std::size_t>::max());
  }

  Coarser run() {
    WeightedGraph& coarse = result_.graph;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto [first, second] = members_[i];
      start_ = coarse.peers.size();
      coarse.weight.push_back(0);
      if (!graph_.pull.empty()) coarse.pull.push_back(0);
      add(first, static_cast<int>(i));
      if (second != first) add(second, static_cast<int>(i));
      coarse.begin.push_back(coarse.peers.size());
    }
    return std::move(result_);
  }

 private:
  void add(int vertex, int into) {
    WeightedGraph& coarse = result_.graph;
    coarse.weight.back() += graph_.weight[at(vertex)];
    if (!graph_.pull.empty()) coarse.pull.back() += graph_.pull[at(vertex)];
    for (std::size_t edge = graph_.begin[at(vertex)]; edge < graph_.begin[at(vertex) + 1]; ++edge) {
      const int peer = result_.coarse_of[at(graph_.peers[edge])];
      if (peer == into) continue;
      std::size_t& slot = position_[at(peer)];
      if (slot >= coarse.peers.size() || slot < start_) {
        slot = coarse.peers.size();
        coarse.peers.push_back(peer);
        coarse.weights.push_back(0);
      }
      coarse.weights[slot] += graph_.weights[edge];
    }
  }

  const WeightedGraph& graph_;
  Coarser result_;
  std::vector<std::pair<int, int>> members_;
  std::vector<std::size_t> position_;  // of a coarse vertex among the peers of the one being built
  std::size_t start_ = 0;              // where its peers begin
};

std::int64_t excess_of(const WeightedGraph& graph, const Sides& sides, std::int64_t target) {
  std::int64_t left = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) left += sides[i] == 0 ? graph.weight[i] : 0;
  return left - target;
}

// Smaller is better: how far from the target, then the cut.
using Quality = std::pair<std::int64_t, double>;
Quality quality(const WeightedGraph& graph, const Sides& sides, std::int64_t target, std::int64_t tolerance) {
  return {std::max<std::int64_t>(0, std::abs(excess_of(graph, sides, target)) - tolerance), cut_between(graph, sides)};
}

Sides best_grown(const WeightedGraph& graph, std::int64_t target, Random& random) {
  const std::int64_t tolerance = heaviest(graph) / 2;
  Sides best;
  Quality best_quality;
  for (int i = 0; i < kGrowths; ++i) {
    Sides sides = grow(graph, target, static_cast<int>(random.below(at(graph.size()))), random);
    refine(graph, sides, excess_of(graph, sides, target), tolerance);
    const Quality found = quality(graph, sides, target, tolerance);
    if (!best.empty() && !(found < best_quality)) continue;
    best = std::move(sides);
    best_quality = found;
  }
  return best;
}

Sides one_try(const WeightedGraph& graph, std::int64_t target, Random& random) {
  const std::int64_t limit = std::max<std::int64_t>(heaviest(graph), total_weight(graph) / (kSmallest / 3));
  std::vector<Coarser> levels;
  const WeightedGraph* last = &graph;
  while (last->size() > kSmallest) {
    Coarser next = Contraction(*last, pair_up(*last, limit, random)).run();
    if (next.graph.size() * 20 > last->size() * 19) break;
    levels.push_back(std::move(next));
    last = &levels.back().graph;
  }
  Sides sides = best_grown(*last, target, random);
  for (std::size_t i = levels.size(); i-- > 0;) {
    const WeightedGraph& finer = i == 0 ? graph : levels[i - 1].graph;
    Sides projected(at(finer.size()));
    for (std::size_t vertex = 0; vertex < projected.size(); ++vertex) {
      projected[vertex] = sides[at(levels[i].coarse_of[vertex])];
    }
    sides = std::move(projected);
    refine(finer, sides, excess_of(finer, sides, target), i == 0 ? 0 : heaviest(finer) / 2);
  }
  return sides;
}

bool sums_are_finite(const WeightedGraph& graph) {
  double sum = 0;
  for (const double weight : graph.weights) sum += weight;
  for (const double pull : graph.pull) sum += std::abs(pull);
  return std::isfinite(2 * sum);  // gains change by twice a weight
}

WeightedGraph scaled(WeightedGraph graph) {
  double largest = 0;
  for (const double weight : graph.weights) largest = std::max(largest, weight);
  for (const double pull : graph.pull) largest = std::max(largest, std::abs(pull));
  const double scale = scale_for_sums(largest);
  for (double& weight : graph.weights) weight *= scale;
  for (double& pull : graph.pull) pull *= scale;
  return graph;
}

}  // namespace

std::int64_t refine(const WeightedGraph& graph, Sides& sides, std::int64_t excess, std::int64_t tolerance) {
  for (int i = 0; i < kPasses; ++i) {
    Pass pass(graph, sides, excess, tolerance);
    const bool better = pass.run();
    excess = pass.excess();
    if (!better) break;
  }
  return excess;
}

double cut_between(const WeightedGraph& graph, const Sides& sides) {
  double cut = 0;
  for (int vertex = 0; vertex < graph.size(); ++vertex) {
    for (std::size_t i = graph.begin[at(vertex)]; i < graph.begin[at(vertex) + 1]; ++i) {
      if (sides[at(vertex)] < sides[at(graph.peers[i])]) cut += graph.weights[i];
    }
    if (!graph.pull.empty() && sides[at(vertex)] == 0) cut += graph.pull[at(vertex)];
  }
  return cut;
}

Sides find_halves(const WeightedGraph& graph, std::int64_t target, int tries, std::uint64_t seed) {
  if (graph.size() == 0) return {};
  if (!sums_are_finite(graph)) return find_halves(scaled(graph), target, tries, seed);
  Random random(seed);
  Sides best;
  Quality best_quality;
  for (int i = 0; i < std::max(1, tries); ++i) {
    Sides sides = one_try(graph, target, random);
    const Quality found = quality(graph, sides, target, heaviest(graph) / 2);
    if (!best.empty() && !(found < best_quality)) continue;
    best = std::move(sides);
    best_quality = found;
  }
  return best;
}

}  // namespace ranktree::core::reorder
