// Way::kShared: what it can carry out, and operations that are under way.
#include <cstddef>
#include <memory>
#include <utility>

#include "core/predict/choice.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/directly.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/run.h"
#include "mpi/collect/running.h"
#include "mpi/collect/shared_call.h"
#include "mpi/collect/types.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::schedule::Algorithm;
using core::schedule::Collective;

// An element fits into a cell; in a reduce-scatter, one for each rank.
bool elements_fit(const Context& context, const NodeTeam& team, const Operation& operation) {
  const TypeLayout layout = layout_of(operation.receive.type);
  if (layout.extent <= 0 || layout.true_extent > layout.extent) return false;
  const bool scatters = operation.collective == Collective::kReduceScatter;
  const std::size_t parts = scatters ? static_cast<std::size_t>(context.size()) : 1;
  return static_cast<std::size_t>(layout.extent) <= team.least_cell() / parts;
}

bool keeps_order(const NodeTeam& team, const Operation& operation, const Choice& choice) {
  if (!operation.in_rank_order && is_commutative(operation.op)) return true;
  const Algorithm named = choice.plan.algorithms.empty() ? Algorithm::kBinomial : choice.plan.algorithms.front();
  return team.in_rank_order() &&
         core::schedule::keeps_rank_order(operation.collective, core::schedule::fitting(operation.collective, named));
}

bool can_combine(const Context& context, const NodeTeam& team, const Operation& operation, const Choice& choice) {
  return can_reduce(operation.op, operation.receive.type) && elements_fit(context, team, operation) &&
         (context.node_count() == 1 || keeps_order(team, operation, choice));
}

class SharedRunning final : public Running {
 public:
  SharedRunning(std::shared_ptr<Context> context, const Operation& operation, const Choice& choice)
      : call_(std::move(context), operation, choice) {
    call_.progress();
  }
  bool progress() override {
    if (call_.progress()) return true;
    call_.poke();
    return false;
  }

 private:
  SharedCall call_;
};

}  // namespace

bool is_usual(Context& context, const Operation& operation) {
  if (!reduces(operation)) return true;
  if (!can_reduce(operation.op, operation.receive.type)) return false;
  if (operation.vector && !is_commutative(operation.op)) return false;
  const TypeLayout layout = layout_of(operation.receive.type);
  if (layout.extent <= 0 || layout.true_extent > layout.extent) return false;
  const NodeTeam* const team = context.has_node_team() ? context.node_team() : nullptr;
  return team == nullptr || elements_fit(context, *team, operation);
}

bool can_share(Context& context, const Operation& operation, const Choice& choice) {
  const Collective collective = operation.collective;
  if (collective == Collective::kAlltoall) return false;
  const bool one_node = context.node_count() == 1;
  const bool sizes_are_known = collective == Collective::kAllgather || collective == Collective::kReduceScatter;
  if (operation.vector && !(one_node && sizes_are_known)) return false;
  const NodeTeam* const team = context.node_team();
  return team != nullptr && (!reduces(operation) || can_combine(context, *team, operation, choice));
}

std::unique_ptr<Running> start_shared(const std::shared_ptr<Context>& context, const Operation& operation,
                                      const Choice& choice) {
  return std::make_unique<SharedRunning>(context, operation, choice);
}

void finish_shared(const std::shared_ptr<Context>& context, const Operation& operation, const Choice& choice) {
  if (!finish_directly(*context, operation)) SharedCall(context, operation, choice).finish();
}

}  // namespace ranktree::mpi::collect
