#include "mpi/collect/directly.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/schedule/makers.h"
#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "mpi/collect/context.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/local_combine.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/size_class.h"
#include "mpi/collect/types.h"
#include "mpi/guard.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Collective;
using Side = Operation::Side;

// The side that says on every rank what it gives or gets.
const Side& common_side(const Operation& operation) {
  const bool gathers = operation.collective == Collective::kGather || operation.collective == Collective::kAllgather;
  return gathers ? operation.send : operation.receive;
}

// Where both sides count, they say the same in the same words.
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

bool finish_directly(const Context& context, const Operation& operation) {
  Repeat like;
  remember(context, operation, like);
  if (!like.known) return false;
  const std::int64_t bytes = common_side(operation).count * like.element;
  Direct(*context.known_node_team(), operation, like, bytes).make();
  return true;
}

bool can_go_directly(const Context& context, const Operation& operation, const Kind& kind) noexcept {
  const Shortcuts* const shortcuts = context.shortcuts();
  if (shortcuts == nullptr) return false;
  const Repeat& last = shortcuts->repeats[kind.index];
  if (last.left == 0 || !last.known || !is_like(operation, last) || context.under_way() > 0) return false;
  if (operation.root < 0 || operation.root >= context.size()) return false;
  if (reduces(operation.collective) && context.reproducible().value_or(true)) return false;
  return is_plain_call(operation, context.rank() == operation.root);
}

int call_directly(const Context& context, const Operation& operation, const Kind& kind) noexcept {
  Shortcuts& shortcuts = *context.shortcuts();
  Repeat& last = shortcuts.repeats[kind.index];
  count_down(last.left);
  ++shortcuts.calls[static_cast<std::size_t>(operation.collective)];
  ++shortcuts.ours[static_cast<std::size_t>(operation.collective)];
  try {
    Direct(*context.known_node_team(), operation, last, kind.bytes).make();
    return MPI_SUCCESS;
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

}  // namespace ranktree::mpi::collect
