#include "core/place/engine/pipeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/pattern.h"
#include "core/place/divide/multisection.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {
namespace {

using Slot = SlotTree::Slot;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::vector<SlotTree::Pinned> pinned_vertices(const Problem& problem) {
  std::map<pattern::Rank, Slot> slot_of;
  for (const SlotTree::Pinned& pinned : problem.tree.pinned()) slot_of[pinned.rank] = pinned.slot;
  std::vector<SlotTree::Pinned> result;
  for (std::size_t i = 0; i < problem.order.size() && !slot_of.empty(); ++i) {
    const auto found = slot_of.find(problem.order[i]);
    if (found != slot_of.end()) result.push_back({static_cast<Vertex>(i), found->second});
  }
  return result;
}

}  // namespace

Pipeline::Pipeline(const Problem& problem, Workers& workers, const std::vector<Slot>& start)
    : problem_(problem), workers_(workers), pinned_(pinned_vertices(problem)) {
  start_.reserve(problem.order.size());
  for (const pattern::Rank rank : problem.order) start_.push_back(start[at(rank)]);
  start_cost_ = problem.objective.cost(start_);
  best_ = {start_, start_cost_};
}

std::vector<Slot> Pipeline::best_of_ranks() const {
  std::vector<Slot> slots(best_.slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[at(problem_.order[i])] = best_.slots[i];
  return slots;
}

void Pipeline::try_from(std::vector<Slot> slots) {
  if (!workers_.check_now()) return;
  Solution solution{std::move(slots)};
  honour_pins(problem_.tree, pinned_, solution.slots);
  refine(seed_of(problem_.seed, 0), solution);
  keep(std::move(solution));
}

int Pipeline::runs() const {
  constexpr std::size_t kSmall = 1400;  // arcs with which all runs are affordable
  const auto affordable = static_cast<int>(kSmall * at(problem_.context.runs) / (problem_.work + 1));
  return std::clamp(affordable, 1, problem_.context.runs);
}

void Pipeline::try_divisions(const Piece& guide) {
  const int spreads = problem_.order.size() < at(problem_.tree.slots()) ? 2 : 1;
  std::vector<Solution> solutions(at(spreads) * at(runs()));
  const auto steps = static_cast<std::int64_t>(solutions.size() * problem_.work) * 10 * problem_.context.repeats;
  workers_.for_each(static_cast<int>(solutions.size()), steps, [&](int i) {
    if (!workers_.check_now()) return;
    const auto spread = i % spreads == 0 ? Spread::kPacked : Spread::kLoose;
    const std::uint64_t seed = seed_of(problem_.seed, 1 + static_cast<std::uint64_t>(i));
    Solution& solution = solutions[at(i)];
    solution.slots = Multisection(problem_.tree, problem_.context, spread, workers_).place(guide, seed_of(seed, 0));
    honour_pins(problem_.tree, pinned_, solution.slots);
    refine(seed_of(seed, 1), solution);
  });
  for (Solution& solution : solutions) keep(std::move(solution));
}

void Pipeline::try_start() {
  const bool searched = std::cmp_less_equal(problem_.work, problem_.context.search_arcs);
  if (searched && start_cost_ < problem_.near * best_.cost) try_from(start_);
}

void Pipeline::refine(std::uint64_t seed, Solution& solution) const {
  if (std::cmp_less_equal(problem_.work, problem_.context.search_arcs)) {
    problem_.objective.improve(seed, solution.slots);
  }
  solution.cost = problem_.objective.cost(solution.slots);
}

void Pipeline::keep(std::vector<Slot> slots) {
  const double cost = problem_.objective.cost(slots);
  keep(Solution{std::move(slots), cost});
}

void Pipeline::keep(Solution solution) {
  if (solution.cost < best_.cost) best_ = std::move(solution);
}

}  // namespace ranktree::core::place::engine
