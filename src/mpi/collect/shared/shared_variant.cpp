#include "mpi/collect/shared/shared_variant.h"

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/predict/choice.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/shared/shared_call.h"
#include "mpi/collect/variant.h"
#include "mpi/guard.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Collective;
using Side = Operation::Side;

// The side that is significant on every rank.
const Side& common_side(const Operation& operation) {
  const bool gathers = operation.collective == Collective::kGather || operation.collective == Collective::kAllgather;
  return gathers ? operation.send : operation.receive;
}

// Where both sides are significant, they have the same count and type.
bool sides_agree(const Operation& operation) {
  return operation.send.type == operation.receive.type && operation.send.count == operation.receive.count &&
         operation.send.buffer != MPI_IN_PLACE && operation.receive.buffer != MPI_IN_PLACE;
}

bool is_plain_call(const Operation& operation, bool at_root) {
  switch (operation.collective) {
    case Collective::kBarrier:
      return true;
    case Collective::kReduce:
      return operation.send.buffer != MPI_IN_PLACE && !(at_root && operation.receive.buffer == MPI_IN_PLACE);
    case Collective::kBroadcast:
    case Collective::kAllreduce:
      return operation.receive.buffer != MPI_IN_PLACE;
    case Collective::kAllgather:
      return sides_agree(operation);
    case Collective::kGather:
      return at_root ? sides_agree(operation) : operation.send.buffer != MPI_IN_PLACE;
    case Collective::kScatter:
      return at_root ? sides_agree(operation) : operation.receive.buffer != MPI_IN_PLACE;
    default:
      return false;
  }
}

bool is_like(const Operation& operation, const Repeat& last) {
  return common_side(operation).type == last.type && operation.op == last.op && !operation.vector;
}

// Of one call that is_plain_call().
class Direct {
 public:
  Direct(NodeTeam& node, const Operation& operation, const Repeat& last, std::int64_t bytes)
      : node_(node),
        operation_(operation),
        bytes_(static_cast<std::size_t>(bytes)),
        element_(last.element),
        combine_{operation.receive.type, operation.op, 0, {}} {}

  void make() {
    switch (operation_.collective) {
      case Collective::kBarrier:
        return finish(core::shared::Barrier(team()));
      case Collective::kBroadcast:
        return finish(core::shared::Broadcast(team(), operation_.root, {output(), bytes_}));
      case Collective::kGather:
        return finish(core::shared::Gather(team(), operation_.root, {input(), bytes_}, output()));
      case Collective::kScatter:
        return finish(core::shared::Scatter(team(), operation_.root, input(), {output(), bytes_}));
      case Collective::kAllgather:
        return finish(core::shared::Allgather(team(), {input(), bytes_}, {output(), bytes_, {}}));
      case Collective::kReduce:
        return finish(core::shared::Reduce(team(), operation_.root, operand(), combine_.with(element_)));
      default:
        return finish(core::shared::Allreduce(team(), operand(), combine_.with(element_)));
    }
  }

 private:
  [[nodiscard]] core::shared::Team& team() const { return node_.team(); }
  [[nodiscard]] std::byte* input() const { return static_cast<std::byte*>(operation_.send.buffer); }
  [[nodiscard]] std::byte* output() const { return static_cast<std::byte*>(operation_.receive.buffer); }
  [[nodiscard]] core::shared::Operand operand() const {
    return {operation_.send.buffer == MPI_IN_PLACE ? output() : input(), output(),
            static_cast<std::size_t>(operation_.receive.count)};
  }
  void finish(core::shared::Call&& call) {
    node_.finish(call);
    combine_.errors.check();
    check_sizes(call.truncated());
  }

  NodeTeam& node_;
  const Operation& operation_;
  std::size_t bytes_;
  std::size_t element_;
  LocalCombine combine_;
};

}  // namespace

void remember(const Context& context, const Operation& operation, Repeat& last) {
  last.known = false;
  if (context.node_count() > 1 || operation.vector || operation.in_rank_order) return;
  if (!is_plain_call(operation, context.rank() == operation.root)) return;
  if (reduces(operation.collective) && !is_predefined(operation.op)) return;
  const Side& side = common_side(operation);
  if (operation.collective != Collective::kBarrier) {
    const TypeLayout layout = layout_of(side.type);
    if (!layout.plain || !layout.named || layout.size > UINT16_MAX) return;
    last.element = static_cast<std::uint16_t>(layout.size);
  }
  last.type = side.type;
  last.op = operation.op;
  last.known = true;
}

bool finish_on_fast_path(const Context& context, const Operation& operation) {
  Repeat like;
  remember(context, operation, like);
  if (!like.known) return false;
  const std::int64_t bytes = common_side(operation).count * like.element;
  Direct(*context.known_node_team(), operation, like, bytes).make();
  return true;
}

bool can_take_fast_path(const CallTable& table, const Operation& operation, const Kind& kind) noexcept {
  const std::size_t at = table.tuned[kind.index];
  if (at == 0) return false;
  const Repeat& last = table.repeats[at - 1];
  if (last.left == 0 || !last.known || !is_like(operation, last)) return false;
  if (table.in_flight.load(std::memory_order_acquire) > 0) return false;
  if (operation.root < 0 || operation.root >= table.size) return false;
  return is_plain_call(operation, table.rank == operation.root);
}

int call_on_fast_path(CallTable& table, const Operation& operation, const Kind& kind) noexcept {
  Repeat& last = table.repeats[table.tuned[kind.index] - 1U];
  count_down(last.left);
  ++table.calls[static_cast<std::size_t>(kind.collective)];
  ++table.ours[static_cast<std::size_t>(kind.collective)];
  try {
    Direct(*table.context->known_node_team(), operation, last, kind.bytes).make();
    return MPI_SUCCESS;
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

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
  const Algorithm named =
      choice.composition.algorithms.empty() ? Algorithm::kBinomial : choice.composition.algorithms.front();
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
  if (is_vector_exchange(operation)) return operation.send.buffer != MPI_IN_PLACE;
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
  if (!finish_on_fast_path(*context, operation)) SharedCall(context, operation, choice).finish();
}

}  // namespace ranktree::mpi::collect
