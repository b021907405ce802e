#include "mpi/collect/select/proposals.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/schedule/makers.h"
#include "core/schedule/transform.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/execute/vector_exchange.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Candidate;
using core::predict::Choice;
using core::predict::Variant;

constexpr std::size_t kOrdered = 2;  // the kind of the user's operations that do not commute
constexpr std::size_t kMostOnNode = 3;
constexpr std::size_t kMostAcross = 4;  // between nodes
// More are found, since not every variant can carry out every operation.
constexpr int kFound = 24;

bool commutes(const Operation& operation) {
  return !reduces(operation.collective) || operation_kind(operation.op) != kOrdered;
}

// Of an alltoallv. Without the sizes there is no model of its time.
std::vector<Candidate> only_in_lanes() {
  Choice choice{.variant = Variant::kMessages};
  choice.composition = {.form = core::schedule::Form::kLanes, .algorithms = {core::schedule::Algorithm::kFlat}};
  return {{.choice = std::move(choice)}};
}

}  // namespace

std::optional<Choice> in_memory_of_node(const Operation& operation) {
  if (is_vector_exchange(operation)) return std::nullopt;
  return core::predict::in_memory_of_node(operation.collective, commutes(operation));
}

std::vector<Candidate> guess_for(Context& context, const Operation& operation, bool shared) {
  const std::optional<Choice> guess = shared ? in_memory_of_node(operation) : std::nullopt;
  if (!guess || !can_run(context, operation, *guess)) return {};
  return {{.choice = *guess}};
}

// Shared memory is proposed only where it has been made, levels never are.
std::vector<Candidate> candidates_for(Context& context, const core::predict::Parameters& parameters,
                                      const Operation& operation, const Kind& kind, bool shared) {
  if (is_vector_exchange(operation)) return only_in_lanes();
  const core::predict::Question question{.collective = operation.collective,
                                         .bytes = kind.bytes,
                                         .commutative = commutes(operation),
                                         .shared_memory = shared};
  std::vector<Candidate> candidates = core::predict::candidates(question, context.machine(), parameters, kFound);
  // The cheapest variant that can be carried out is the measure of which are too expensive.
  std::erase_if(candidates, [&](const Candidate& each) { return !can_run(context, operation, each.choice); });
  candidates = core::predict::worth_a_trial(candidates, context.node_count() > 1 ? kMostAcross : kMostOnNode);
  // Where ranks outnumber cores, which the model does not know, those that wait in shared memory win most.
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const Candidate& each) { return each.choice.variant == Variant::kShared; });
  return candidates;
}

}  // namespace ranktree::mpi::collect
