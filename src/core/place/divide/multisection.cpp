#include "core/place/divide/multisection.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/place/divide/annealing.h"
#include "core/place/divide/bisection.h"
#include "core/place/divide/regrouping.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {
namespace {

// About what one bisection of a graph takes.
std::int64_t steps_of(const Guide& graph) { return static_cast<std::int64_t>(graph.arcs.size() + graph.size.size()); }

constexpr Vertex kSmall = 64;    // ranks up to which one bisection is enough: exchanges mend the rest
constexpr Vertex kLarge = 4096;  // ranks beyond which a bisection takes so long that only the first few are made

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

// True where few ranks communicate with very many, as in power laws: all cuts are then about the same. The measure is
// the mean square of the degrees over the square of their mean, 1 where all are alike.
bool has_hubs(const Guide& graph) {
  constexpr double kUneven = 4;
  double squares = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    const auto degree = static_cast<double>(graph.arcs_of(vertex).size());
    squares += degree * degree;
  }
  const auto sum = static_cast<double>(graph.arcs.size());
  return squares * graph.vertices() > kUneven * sum * sum;
}

}  // namespace

std::vector<SlotTree::Slot> Multisection::place(const Piece& guide, std::uint64_t seed) {
  slot_of_.assign(guide.name.size(), -1);
  constexpr int kThorough = 3;  // repeats from which hubs are worth theirs, too
  hubs_ = context_.repeats < kThorough && has_hubs(guide.graph);
  place_below(0, 0, guide, seed, false);
  return std::move(slot_of_);
}

std::vector<Multisection::Child> Multisection::children_for(int level, SlotTree::Group group,
                                                            std::int64_t ranks) const {
  std::vector<Child> children;
  const SlotTree::Group first = tree_.first_child(level, group);
  children.reserve(at(tree_.child_count(level, group)));
  for (SlotTree::Group i = 0; i < tree_.child_count(level, group); ++i) {
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

// Each child takes as many as it has slots, in order.
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

// The best of several bisections; ties go to the first.
Sides Multisection::best_division(const Guide& graph, Window window, std::int64_t aim, std::uint64_t seed,
                                  std::atomic<bool>& unsettled) {
  constexpr double kAlike = 0.02;  // cuts that differ by no more are taken for the best there is
  const std::vector<double> total = totals_of(graph, workers_);
  std::vector<Trial> trials;
  const auto try_until = [&](int count) {
    const std::size_t first = trials.size();
    trials.resize(at(count));
    const int more = count - static_cast<int>(first);
    workers_.for_each(more, more * steps_of(graph), [&](int i) {
      const std::size_t index = first + at(i);
      const Bisections::Loan bisection = bisections_.lend(seed_of(seed, index));
      trials[index].cut = bisection->divide(graph, total, window, aim, trials[index].sides);
    });
  };
  const bool once = hubs_ || graph.vertices() <= kSmall;
  try_until(once ? 1 : context_.repeats);
  const int most = once || graph.vertices() > kLarge ? 1 : context_.most_repeats;
  while (std::cmp_less(trials.size(), most) && !alike(trials, kAlike)) {
    const auto half_more = static_cast<int>(trials.size() + (trials.size() + 1) / 2);
    try_until(std::min(half_more, most));
  }
  if (!alike(trials, kAlike)) unsettled.store(true, std::memory_order_relaxed);
  const auto best =
      std::min_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.cut < b.cut; });
  return std::move(best->sides);
}

// Bisects until one child is left for each part; result.part_of[name] becomes its index. `spent`: what holds the graph
// and its names, if they are not needed afterwards; their memory is used again.
void Multisection::divide(std::span<const Child> children, const Guide& graph, std::span<const Vertex> name,
                          std::uint64_t seed, Division& result, Piece* spent) {
  if (children.size() == 1 || name.empty() || !workers_.go_on(context_.repeats * steps_of(graph))) {
    fill(children, name, result.part_of);
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
  const Sides sides =
      best_division(graph, window, std::clamp(share, window.least, window.most), seed, result.unsettled);
  const std::vector<Vertex> side(sides.begin(), sides.end());
  auto pieces = pieces_of(graph, name, side, 2, workers_);
  const std::int64_t steps = steps_of(graph);
  if (spent != nullptr) *spent = {};
  workers_.for_each(2, steps, [&](int i) {
    Piece& piece = pieces[at(i)];
    divide(i == 0 ? children.first(half) : children.subspan(half), piece.graph, piece.name,
           seed_of(seed, 100 + static_cast<std::uint64_t>(i)), result, &piece);
  });
}

// Without regrouping.
void Multisection::divide_all(std::span<const Child> children, const Guide& graph, std::uint64_t seed,
                              Division& result) {
  std::vector<Vertex> self(graph.size.size());
  std::iota(self.begin(), self.end(), 0);
  result.part_of.assign(graph.size.size(), 0);
  divide(children, graph, self, seed, result);
}

void Multisection::divide_among(std::span<const Child> children, const Guide& graph, std::uint64_t seed,
                                Division& result) {
  divide_all(children, graph, seed, result);
  if (children.size() > 2) regroup_parts(children, graph, seed_of(seed, 103), result);
}

// Regroups where the parts are so many that four of them are a different problem.
void Multisection::regroup_parts(std::span<const Child> children, const Guide& graph, std::uint64_t seed,
                                 Division& result) {
  constexpr std::size_t kFewParts = 4;
  constexpr std::size_t kManyParts = 512;
  constexpr int kSettled = 3;  // so many times fewer rounds where bisections agree
  if (graph.vertices() < kSmall || children.size() <= kFewParts || children.size() > kManyParts) return;
  const bool settled = !result.unsettled.load(std::memory_order_relaxed);
  const int rounds = settled ? context_.regroupings / kSettled : context_.regroupings;
  if (rounds == 0) return;
  Context fewer = context_;
  fewer.repeats = fewer.most_repeats = 2;
  Multisection other(tree_, fewer, spread_, workers_);
  const DivideAmong divide = [&](std::span<const Vertex> parts, const Guide& some, std::uint64_t some_seed) {
    std::vector<Child> chosen;
    chosen.reserve(parts.size());
    for (const Vertex part : parts) chosen.push_back(children[at(part)]);
    Division again;
    other.divide_all(chosen, some, some_seed, again);
    return std::move(again.part_of);
  };
  regroup(graph, static_cast<Vertex>(children.size()), {rounds, seed}, workers_, divide, result.part_of);
}

// Most at the root, whose borders cost most.
AnnealingEffort Multisection::annealing_of(int level, std::uint64_t seed) const {
  constexpr int kBelow = 25;
  constexpr std::int64_t kArcsOfTrial = 10000;
  return {level == 0 ? context_.annealing : context_.annealing / kBelow, context_.annealing * kArcsOfTrial, seed};
}

void Multisection::place_below(int level, SlotTree::Group group, const Piece& piece, std::uint64_t seed,
                               bool unsettled) {
  const auto ranks = static_cast<std::int64_t>(piece.name.size());
  if (ranks == 0) return;
  if (level + 1 >= tree_.levels() || ranks == 1) {  // all slots below are equally far from each other
    SlotTree::Slot slot = tree_.first_slot(level, group);
    for (const Vertex vertex : piece.name) slot_of_[at(vertex)] = slot++;
    return;
  }
  const std::vector<Child> children = children_for(level, group, ranks);
  if (children.size() == 1) {
    place_below(level + 1, children.front().group, piece, seed, unsettled);
    return;
  }
  Division division;
  division.unsettled = unsettled;
  divide_among(children, piece.graph, seed, division);
  if (!hubs_ && piece.graph.vertices() > kSmall) {
    anneal_borders(piece.graph, static_cast<Vertex>(children.size()), annealing_of(level, seed_of(seed, 99)), workers_,
                   division.part_of);
  }
  const auto pieces =
      pieces_of(piece.graph, piece.name, division.part_of, static_cast<Vertex>(children.size()), workers_);
  workers_.for_each(static_cast<int>(children.size()), steps_of(piece.graph), [&](int i) {
    place_below(level + 1, children[at(i)].group, pieces[at(i)], seed_of(seed, 103 + static_cast<std::uint64_t>(i)),
                division.unsettled);
  });
}

}  // namespace ranktree::core::place::engine
