#include "mpi/collect/call.h"

#include <mpi.h>

#include <memory>
#include <optional>

#include "core/predict/choice.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/select/chooser.h"
#include "mpi/collect/select/reproducible.h"
#include "mpi/collect/shared/shared_variant.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"
#include "mpi/guard.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::predict::Way;

bool is_right(const Context& context, const Operation& operation) {
  return arguments_are_right(operation, context.rank(), context.size());
}

// Null where the communicator's calls are the MPI's, on all ranks; and where one is to be made and arguments are wrong.
const std::shared_ptr<Context>* context_of(const Operation& operation, bool may_make, ThreadState& thread) {
  if (operation.comm == MPI_COMM_NULL) return nullptr;
  if (const auto* known = Context::find(operation.comm, thread)) return *known ? known : nullptr;
  if (!may_make || !among_several(operation.comm)) return nullptr;
  int rank = 0;
  int size = 0;
  check(PMPI_Comm_rank(operation.comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(operation.comm, &size), "MPI_Comm_size");
  if (!arguments_are_right(operation, rank, size)) return nullptr;
  try {
    return &Context::of(operation.comm);
  } catch (const AgreedError&) {
    return nullptr;
  }
}

std::optional<Nonblocking> unless_native(const std::shared_ptr<Context>& context, const Operation& operation,
                                         const Choice& choice) {
  if (choice.way == Way::kNative) return std::nullopt;
  return Nonblocking{context, operation, &choice};
}

// The MPI has called the error handler; the reason that was kept before is of another call.
int call_mpi(const Operation& operation) noexcept {
  const int code = native(operation);
  if (code != MPI_SUCCESS && operation.comm != MPI_COMM_NULL) keep_reason(operation.comm, code);
  return code;
}

// What fails within is messages that the program knows nothing of: its own error handler is still to be called.
int carry_out(const std::shared_ptr<Context>& context, const Operation& operation, const Choice& choice) noexcept {
  if (choice.way == Way::kNative) return call_mpi(operation);
  try {
    if (choice.way == Way::kShared) {
      finish_shared(context, operation, choice);
    } else {
      finish(*start(context, operation, choice));
    }
    return MPI_SUCCESS;
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

int run(const std::shared_ptr<Context>& context, const Operation& operation, const Kind& kind) noexcept {
  complete_earlier(*context);
  try {
    if (is_reproducible(*context) && reduces(operation)) {
      const Operation ordered = in_rank_order(operation);
      return carry_out(context, ordered, *reproducible_choice(*context, ordered));
    }
    Chooser& chooser = context->chooser();
    const Chooser::Decision decision = chooser.begin(operation, kind, true);
    const int code = carry_out(context, operation, *decision.choice);
    chooser.end(decision);
    return code;
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

}  // namespace

bool among_several(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  int inter = 0;
  int size = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  return inter == 0 && size > 1;
}

void take_back_wrong(const Context& context, const Operation& operation, const Kind& kind) noexcept {
  if (is_right(context, operation)) return;
  take_back(operation.collective, kind, *context.shortcuts());
}

// Those that are left to the MPI are not looked at further: what is wrong with them it finds out itself.
int call(const Operation& operation) noexcept {
  ThreadState& thread = thread_state;
  const Context* const known = Context::find_at_once(operation.comm, thread);
  if (known == nullptr) return call_served(nullptr, operation, {}, thread);
  const Kind kind = kind_of(operation, known->rank(), thread.types);
  if (!is_left_to_mpi(*known, operation, kind)) return call_served(known, operation, kind, thread);
  const Entered entered(thread);
  const int code = call_mpi(operation);
  if (code != MPI_SUCCESS) take_back_wrong(*known, operation, kind);
  return code;
}

int call_served(const Context* known, const Operation& operation, Kind kind, ThreadState& thread) noexcept {
  const Entered entered(thread);
  if (known != nullptr && can_take_fast_path(*known, operation, kind))
    return call_on_fast_path(*known, operation, kind);
  try {
    const std::shared_ptr<Context>* const context = context_of(operation, true, thread);
    if (context == nullptr || !is_right(**context, operation)) return call_mpi(operation);
    if (known == nullptr) kind = kind_of(operation, (*context)->rank(), thread.types);
    return run(*context, operation, kind);
  } catch (const MpiError& error) {
    return error.code();
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

void prepare(MPI_Comm comm) {
  const Entered entered;
  if (comm == MPI_COMM_NULL) throw AgreedError(MPI_ERR_COMM, "comm: expected a communicator, found MPI_COMM_NULL");
  if (!among_several(comm)) return;
  try {
    const std::shared_ptr<Context> context = Context::of(comm);
    context->chooser().make_ready();
    [[maybe_unused]] const bool reproducible = is_reproducible(*context);
  } catch (const AgreedError&) {
    return;  // calls go to the MPI
  }
}

std::optional<Nonblocking> decide_nonblocking(const Operation& operation) {
  const Entered entered;
  const std::shared_ptr<Context>* const context = context_of(operation, false, thread_state);
  if (context == nullptr || !is_right(**context, operation)) return std::nullopt;
  if (is_known_reproducible(**context) && reduces(operation)) {
    const Operation ordered = in_rank_order(operation);
    return unless_native(*context, ordered, *reproducible_choice(**context, ordered));
  }
  if (!(*context)->has_chooser()) return std::nullopt;
  const Kind kind = kind_of(operation, (*context)->rank(), thread_state.types);
  return unless_native(*context, operation, *(*context)->chooser().begin(operation, kind, false).choice);
}

std::unique_ptr<Running> begin_nonblocking(const Nonblocking& call) {
  const Entered entered;
  auto begun = std::make_unique<InFlight>(call.context);
  begun->enlist(start(call.context, call.operation, *call.choice));
  return begun;
}

// The MPI drives its own.
std::unique_ptr<Running> call_nonblocking(const Operation& operation) {
  const Entered entered;
  const std::optional<Nonblocking> ours = decide_nonblocking(operation);
  return ours ? begin_nonblocking(*ours) : start_native(operation);
}

}  // namespace ranktree::mpi::collect
