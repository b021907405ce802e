#include "core/place/engine/multisection.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/annealing.h"
#include "core/place/engine/bisection.h"
#include "core/place/engine/exact_bisection.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/pair_refinement.h"
#include "core/place/engine/refinement.h"
#include "core/place/engine/regrouping.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// About what one bisection of a graph takes.
std::int64_t steps_of(const Guide& graph) { return static_cast<std::int64_t>(graph.arcs.size() + graph.size.size()); }

constexpr Vertex kSmall = 64;        // ranks up to which repeats bring little: what they cost is decided above
constexpr Vertex kManyRanks = 2048;  // from which it matters whether a pattern is even ...
constexpr Vertex kTooMany = 65536;   // ... and beyond which that would take too long
constexpr Vertex kLarge = 4096;      // ranks beyond which a trial takes so long that only the first few are made

struct Trial {
  double cut = 0;
  Sides sides;
};

// The two best cuts are so near each other that they are taken for the best there is.
bool alike(const std::vector<Trial>& trials, double share) {
  std::vector<double> cuts;
  cuts.reserve(trials.size());
  for (const Trial& trial : trials) cuts.push_back(trial.cut);
  std::sort(cuts.begin(), cuts.end());
  return cuts.size() < 2 || cuts[1] - cuts[0] <= share * cuts[0];
}

// The mean square of what is told of each vertex over the square of the mean: 1 where all are alike.
template <class Tell>
double unevenness(Vertex vertices, Tell tell) {
  double sum = 0;
  double squares = 0;
  for (Vertex vertex = 0; vertex < vertices; ++vertex) {
    const auto value = static_cast<double>(tell(vertex));
    sum += value;
    squares += value * value;
  }
  return sum > 0 ? squares / sum * (static_cast<double>(vertices) / sum) : 1;
}

double unevenness_of_degrees(const Guide& graph) {
  return unevenness(graph.vertices(), [&](Vertex vertex) { return graph.arcs_of(vertex).size(); });
}

// Where few ranks talk to very many, as in power laws, all cuts found are about the same.
bool has_hubs(const Guide& graph) {
  constexpr double kUneven = 4;
  return unevenness_of_degrees(graph) > kUneven;
}

// All ranks talk about as much in all: meshes, grids. Nowhere is there a gap that one bisection finds and another one
// does not; what is left to gain is in how borders run.
bool is_even(const std::vector<double>& totals) {
  constexpr double kEven = 1.03;
  return unevenness(static_cast<Vertex>(totals.size()), [&](Vertex vertex) { return totals[at(vertex)]; }) < kEven;
}

// Many arcs, and some ranks have far more than others.
bool has_core(const Guide& graph) {
  constexpr std::size_t kMany = 4;  // arcs a rank
  constexpr double kUneven = 1.5;
  return graph.arcs.size() > kMany * graph.size.size() && unevenness_of_degrees(graph) > kUneven;
}

}  // namespace

std::vector<SeatTree::Seat> Multisection::place(const Piece& guide, std::uint64_t seed) {
  seat_of_.assign(guide.name.size(), -1);
  hubs_ = has_hubs(guide.graph);
  const bool many = guide.graph.vertices() >= kManyRanks;
  even_ = many && guide.graph.vertices() <= kTooMany && is_even(totals_of(guide.graph, workers_));
  effort_.by_ties = effort_.by_ties && many && !even_;
  rough_ = many && !even_ && !hubs_ && effort_.root_regroupings > 0;
  if (rough_) rely_on_regrouping(guide.graph.vertices());
  peeled_ = is_peeled(guide.graph, seed);
  place_below(0, 0, guide, seed);
  return std::move(seat_of_);
}

std::vector<Multisection::Child> Multisection::children_for(int level, SeatTree::Group group,
                                                            std::int64_t ranks) const {
  std::vector<Child> children;
  const SeatTree::Group first = tree_.first_child(level, group);
  children.reserve(at(tree_.child_count(level, group)));
  for (SeatTree::Group i = 0; i < tree_.child_count(level, group); ++i) {
    children.push_back({first + i, tree_.capacity(level + 1, first + i)});
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.capacity > b.capacity; });
  for (std::size_t i = 0; i < children.size(); ++i) children[i].index = static_cast<Vertex>(i);
  if (spread_ == Spread::kLoose) return children;
  std::size_t needed = 0;
  for (std::int64_t held = 0; held < ranks; ++needed) held += children[needed].capacity;
  children.resize(needed);
  return children;
}

// Each child takes as many as it has seats, in order.
void Multisection::fill(std::span<const Child> children, std::span<const Vertex> name, std::vector<Vertex>& part_of) {
  std::size_t child = 0;
  std::int64_t held = 0;
  for (const Vertex vertex : name) {
    if (held == children[child].capacity) {
      ++child;
      held = 0;
    }
    part_of[at(vertex)] = children[child].index;
    ++held;
  }
}

// Where parts are small, swaps between them mend what one division does.
bool Multisection::is_once_enough(const Guide& graph, std::size_t children) const {
  constexpr std::size_t kSmallPart = 16;
  const bool small_parts = graph.size.size() <= kSmallPart * children;
  return hubs_ || graph.vertices() <= (small_parts ? std::max(kSmall, effort_.once) : kSmall);
}

// Of a power law, what is around the ranks that talk to most is best taken off at once: coarser graphs hide it. Where
// there is something else to be found, coarser graphs show it.
bool Multisection::is_peeled(const Guide& graph, std::uint64_t seed) {
  constexpr double kFarAbove = 3;
  if (!hubs_ || effort_.most_repeats > 1 || !has_core(graph)) return false;
  const std::int64_t half = graph.vertices() / 2;
  const Window window{half, half};
  double cut = 0;
  double first_cut = 0;
  first_peeling_ = {&graph, window, {}};
  workers_.for_each(2, 2 * steps_of(graph), [&](int i) {
    if (i == 0) {
      cut = bisections_.lend(seed)->peel(graph, totals_of(graph, workers_), window, first_peeling_.sides);
    } else {
      first_cut = bisections_.lend(seed)->first_cut(graph, window, half);
    }
  });
  return first_cut > kFarAbove * cut;
}

// The best of several bisections; ties go to the first.
Sides Multisection::best_division(const Guide& graph, Window window, std::int64_t aim, bool once, std::uint64_t seed) {
  constexpr int kSteps = 2000;
  Sides only;
  if (graph.vertices() <= kExactVertices && window.least == window.most) {
    bisect_exactly(graph, static_cast<int>(window.least), kSteps, only);
    return only;
  }
  if (peeled_ && has_core(graph)) {
    if (&graph == first_peeling_.graph && window == first_peeling_.window)
      return std::exchange(first_peeling_, {}).sides;
    bisections_.lend(seed)->peel(graph, totals_of(graph, workers_), window, only);
    return only;
  }
  const std::vector<double> total = totals_of(graph, workers_);
  std::vector<Trial> trials;
  const auto try_until = [&](int count) {
    const std::size_t first = trials.size();
    if (count <= static_cast<int>(first)) return;
    trials.resize(at(count));
    const int more = count - static_cast<int>(first);
    workers_.for_each(more, more * steps_of(graph), [&](int i) {
      const std::size_t index = first + at(i);
      const Bisections::Loan bisection = bisections_.lend(seed_of(seed, index));
      trials[index].cut = bisection->divide(graph, total, window, aim, trials[index].sides);
    });
  };
  if (once) {
    try_until(1);
  } else {
    const int some = even_ ? effort_.even_repeats : effort_.most_repeats;
    try_until(std::min(effort_.repeats, some));
    const int most = graph.vertices() > kLarge ? effort_.repeats : some;
    while (std::cmp_less(trials.size(), most) && !alike(trials, effort_.alike)) {
      const auto half_more = static_cast<int>(trials.size() + (trials.size() + 1) / 2);
      try_until(std::min(half_more, most));
    }
  }
  if (trials.size() > 1 && !alike(trials, effort_.alike)) unsettled_.store(true, std::memory_order_relaxed);
  const auto best =
      std::min_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.cut < b.cut; });
  return std::move(best->sides);
}

// Bisects until one child is left for each part; part_of[name] becomes its index. `spent`: what holds the graph and its
// names, if nobody needs them afterwards; the memory serves what follows.
void Multisection::divide(std::span<const Child> children, const Guide& graph, std::span<const Vertex> name,
                          std::uint64_t seed, std::vector<Vertex>& part_of, Piece* spent) {
  if (children.size() == 1 || name.empty() || !workers_.go_on(effort_.repeats * steps_of(graph))) {
    fill(children, name, part_of);
    return;
  }
  std::int64_t total = 0;
  for (const Child& child : children) total += child.capacity;
  std::size_t half = 0;
  std::int64_t left = 0;
  while (half + 1 < children.size() && 2 * (left + children[half].capacity) <= total) left += children[half++].capacity;
  if (half == 0) left = children[half++].capacity;

  const auto ranks = static_cast<std::int64_t>(name.size());
  const Window window{std::max<std::int64_t>(0, ranks - (total - left)), std::min(ranks, left)};
  const auto share =
      static_cast<std::int64_t>(static_cast<double>(ranks) * static_cast<double>(left) / static_cast<double>(total));
  const Sides sides = best_division(graph, window, std::clamp(share, window.least, window.most),
                                    is_once_enough(graph, children.size()), seed);
  const std::vector<Vertex> side(sides.begin(), sides.end());
  auto pieces = pieces_of(graph, name, side, 2, workers_);
  const std::int64_t steps = steps_of(graph);
  if (spent != nullptr) *spent = {};
  workers_.for_each(2, steps, [&](int i) {
    Piece& piece = pieces[at(i)];
    divide(i == 0 ? children.first(half) : children.subspan(half), piece.graph, piece.name,
           seed_of(seed, 100 + static_cast<std::uint64_t>(i)), part_of, &piece);
  });
}

// The child of each vertex, by its index.
std::vector<Vertex> Multisection::divide_among(std::span<const Child> children, const Guide& graph,
                                               std::uint64_t seed) {
  std::vector<Vertex> self(graph.size.size());
  std::iota(self.begin(), self.end(), 0);
  std::vector<Vertex> part_of(graph.size.size(), 0);
  divide(children, graph, self, seed, part_of);
  if (children.size() == 2) return part_of;
  const int pair_rounds = even_ ? effort_.even_pair_rounds : effort_.pair_rounds;
  if (pair_rounds > 0) {
    std::vector<std::int64_t> capacities;
    capacities.reserve(children.size());
    for (const Child& child : children) capacities.push_back(child.capacity);
    refine_pairs(graph, capacities, pair_rounds, seed_of(seed, 102), bisections_, part_of);
  }
  regroup_parts(children, graph, seed_of(seed, 103), part_of);
  return part_of;
}

// It finds more in its time than further bisections of the whole and annealing do. Of very many ranks nobody counts
// tenths of a second.
void Multisection::rely_on_regrouping(Vertex ranks) {
  constexpr int kFew = 3;
  constexpr std::int64_t kArcs = 1000000;
  effort_.most_repeats = kFew;
  effort_.anneal_arcs = kArcs;
  if (ranks <= kTooMany) return;
  effort_.repeats = effort_.regrouping_repeats = effort_.root_regroupings = kFew;
}

// Rounds: none where bisections agree, or where there are so many ranks that it takes too long.
int Multisection::regroupings_of(const Guide& graph) const {
  constexpr Vertex kMostRanks = 16384;
  if (hubs_ || graph.vertices() < kSmall) return 0;
  const bool root = graph.size.size() == seat_of_.size();
  if (rough_ && root) return unsettled_.load(std::memory_order_relaxed) ? effort_.root_regroupings : 0;
  return graph.vertices() <= kMostRanks ? effort_.regroupings : 0;
}

// Where parts are so many that a few of them are a new question.
void Multisection::regroup_parts(std::span<const Child> children, const Guide& graph, std::uint64_t seed,
                                 std::vector<Vertex>& part_of) {
  constexpr std::size_t kFewParts = 4;
  constexpr std::size_t kManyParts = 512;
  const int rounds = regroupings_of(graph);
  if (rounds == 0 || children.size() <= kFewParts || children.size() > kManyParts) return;
  Effort quick = effort_;
  quick.repeats = quick.most_repeats = effort_.regrouping_repeats;
  Multisection other(tree_, quick, spread_, workers_);
  const DivideAmong divide = [&](std::span<const Vertex> parts, const Guide& some, std::uint64_t some_seed) {
    std::vector<Child> chosen;
    chosen.reserve(parts.size());
    for (const Vertex part : parts) chosen.push_back(children[at(part)]);
    std::vector<Vertex> self(some.size.size());
    std::iota(self.begin(), self.end(), 0);
    std::vector<Vertex> result(some.size.size(), 0);
    other.divide(chosen, some, self, some_seed, result);
    return result;
  };
  regroup(graph, static_cast<Vertex>(children.size()), {rounds, seed}, workers_, divide, part_of);
}

// Of even patterns, time is by ranks: a quarter of the root's for all divisions below. Coarser graphs first make more
// trials worth their time.
AnnealingEffort Multisection::annealing_of(int level, std::int64_t ranks, std::uint64_t seed) const {
  constexpr std::int64_t kArcsOfRank = 1700;
  const int trials = level == 0 ? effort_.annealing : effort_.annealing_below;
  if (!even_) return {trials, effort_.anneal_arcs, seed};
  if (level == 0) {
    return {trials + trials / 4, std::max(effort_.anneal_arcs, kArcsOfRank * ranks), seed, effort_.anneal_coarser};
  }
  if (trials > 0) return {trials, effort_.anneal_arcs, seed};
  return {effort_.even_below, kArcsOfRank / 4 * ranks, seed};
}

void Multisection::place_below(int level, SeatTree::Group group, const Piece& piece, std::uint64_t seed) {
  const auto ranks = static_cast<std::int64_t>(piece.name.size());
  if (ranks == 0) return;
  if (level + 1 >= tree_.levels() || ranks == 1) {  // all seats below are equally far from each other
    SeatTree::Seat seat = tree_.first_seat(level, group);
    for (const Vertex vertex : piece.name) seat_of_[at(vertex)] = seat++;
    return;
  }
  const std::vector<Child> children = children_for(level, group, ranks);
  if (children.size() == 1) {
    place_below(level + 1, children.front().group, piece, seed);
    return;
  }
  std::vector<Vertex> part_of = divide_among(children, piece.graph, seed);
  if (!hubs_ && piece.graph.vertices() > kSmall) {
    const bool better = anneal(piece.graph, static_cast<Vertex>(children.size()),
                               annealing_of(level, ranks, seed_of(seed, 99)), workers_, part_of);
    if (level == 0) even_ = even_ && better;  // nor does it pay below
  }
  const auto pieces = pieces_of(piece.graph, piece.name, part_of, static_cast<Vertex>(children.size()), workers_);
  workers_.for_each(static_cast<int>(children.size()), steps_of(piece.graph), [&](int i) {
    place_below(level + 1, children[at(i)].group, pieces[at(i)], seed_of(seed, 103 + static_cast<std::uint64_t>(i)));
  });
}

}  // namespace ranktree::core::place::engine
