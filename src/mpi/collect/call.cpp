#include "mpi/collect/call.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/predict/choice.h"
#include "hw/place_here.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/communicator_state.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/preload_abi.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/select/account.h"
#include "mpi/collect/select/chooser.h"
#include "mpi/collect/select/reproducible.h"
#include "mpi/collect/shared/shared_variant.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"
#include "mpi/guard.h"
#include "mpi/own_world.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::Choice;
using core::predict::Variant;

bool is_right(const CallTable& table, const Operation& operation) {
  return arguments_are_right(operation, table.rank, table.size);
}

// The MPI has called the error handler; the reason that was kept before is of another call.
int call_native(const Operation& operation) noexcept {
  const int code = native(operation);
  if (code != MPI_SUCCESS && operation.comm != MPI_COMM_NULL) keep_reason(operation.comm, code);
  return code;
}

// What fails within is messages that the program knows nothing of: its own error handler is still to be called.
int carry_out(Context& context, const Operation& operation, const Choice& choice) noexcept {
  if (choice.variant == Variant::kNative) return call_native(operation);
  try {
    if (choice.variant == Variant::kShared) {
      finish_shared(context.shared_from_this(), operation, choice);
    } else {
      finish(context, operation, choice);
    }
    return MPI_SUCCESS;
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

// Its arguments are right.
int run(Context& context, const Operation& operation, const Kind& kind) noexcept {
  complete_earlier(context);
  try {
    // Calls of no bytes are native for ever, and call() does not come here with them where nothing is in flight.
    if (kind.size != 0 && is_reproducible(context, operation)) {
      const Operation ordered = in_rank_order(operation);
      return carry_out(context, ordered, *reproducible_choice(context, ordered));
    }
    Chooser& chooser = context.chooser();
    const Chooser::Decision decision = chooser.begin(operation, kind, true);
    const int code = carry_out(context, operation, *decision.choice);
    chooser.end(decision);
    return code;
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

// Collective over an intracommunicator of several ranks: null on all where it can have none.
CallTable* make_table(MPI_Comm comm, ThreadState& thread, Context::Depth depth = Context::Depth::kCores) {
  try {
    const std::shared_ptr<Context> context = Context::of(comm, depth);
    [[maybe_unused]] const Chooser& made = context->chooser();
  } catch (const AgreedError&) {  // NOLINT(bugprone-empty-catch): its calls are the MPI's
  }
  CommunicatorState& state = state_of(comm, thread);
  refresh_slot(comm, state, thread);
  return state.table();
}

// Whether it is an intracommunicator of two ranks or more: others are the MPI's. Throws MpiError.
bool among_several(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  int inter = 0;
  int size = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  return inter == 0 && size > 1;
}

// A call on a communicator whose table the thread does not know: makes it, where the arguments are right.
int first_call(const Operation& operation, ThreadState& thread) {
  const ThreadState::Slot* const slot = thread.known_slot(operation.comm);
  if (slot != nullptr && slot->native) return call_native(operation);
  if (CommunicatorState* const state = find_state(operation.comm)) {
    refresh_slot(operation.comm, *state, thread);
    if (state->table() != nullptr) return call(operation);
    if (!state->several || state->refused) return call_native(operation);
  } else if (!among_several(operation.comm)) {
    [[maybe_unused]] const Failure lost = attempt([&] { state_of(operation.comm, thread); });
    return call_native(operation);
  }
  int rank = 0;
  int size = 0;
  check(PMPI_Comm_rank(operation.comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(operation.comm, &size), "MPI_Comm_size");
  if (!arguments_are_right(operation, rank, size)) return call_native(operation);
  CallTable* const table = make_table(operation.comm, thread);
  if (table == nullptr) return call_native(operation);
  return run(*table->context, operation, kind_of(operation, table->rank, thread.types));
}

std::optional<Nonblocking> unless_native(Context& context, const Operation& operation, const Choice& choice) {
  if (choice.variant == Variant::kNative) return std::nullopt;
  return Nonblocking{context.shared_from_this(), operation, &choice};
}

using Service = CommunicatorState::Service;

CommunicatorState& state_for_program(MPI_Comm comm, std::uint32_t first_served, ThreadState& thread) {
  constexpr std::uint32_t kFirstAgreement = 128;  // calls
  CommunicatorState& state = state_of(comm, thread);
  if (state.service != Service::kNew) return state;
  const bool needs_budget = first_served == kWhenAffordable;
  state.waited = needs_budget ? kFirstAgreement : first_served;
  state.waiting.left = state.waited;
  state.waits_since = PMPI_Wtime();
  state.service = !state.several ? Service::kDecided : needs_budget ? Service::kWaitsForBudget : Service::kWaits;
  refresh_slot(comm, state, thread);
  return state;
}

// Seconds that the account lacks, of the rank that may spend least; at most 0 where it has them.
struct Missing {
  double set_up;     // for the communicator's
  double agreement;  // for one more
};

// Rank 0's counts. Reading it is charged.
bool knows_gain(const CommunicatorState& state) noexcept {
  bool known = false;
  if (state.rank != 0) return known;
  Process& process = *state.process;
  const double start = PMPI_Wtime();
  [[maybe_unused]] const Failure unknown = attempt([&] { known = process.learned.has_gain_on_node(state.size); });
  process.account.charge(Account::Cost::kSetUp, PMPI_Wtime() - start);
  return known;
}

// number_of() the host's name; 0 without memory for it.
double host_number() noexcept {
  double number = 0;
  [[maybe_unused]] const Failure unnamed = attempt([&] { number = number_of(hw::host_here()); });
  return number;
}

// Collective. `elapsed` becomes the greatest of all ranks. Where a gain is known on one host, the 1 ms of the account
// may cover the set-up as well, to which the memory of the node belongs then.
Missing missing_for_set_up(CommunicatorState& state, MPI_Comm comm, double& elapsed) {
  using SetUp = Account::SetUp;
  constexpr int kSteps = kRanksShareProcess ? 1 : 4;  // simulated ones all take as long
  const auto agree = [&](std::span<double> samples) { return state.agreements.agree(comm, *state.process, samples); };
  const double host = host_number();
  std::array<double, 4> samples{elapsed, knows_gain(state) ? 1.0 : 0.0, host, -host};
  Budget budget = agree(samples);
  elapsed = samples[0];
  const bool is_known = samples[1] != 0 && samples[2] == -samples[3];
  const auto missing = [&](double step, double agreements) {
    const double memory = is_known ? budget.estimate(SetUp::kMemory, step) : 0;
    const double seconds = budget.estimate(SetUp::kCommunicator, step) + memory + agreements * budget.agreement;
    // What an agreement took is charged at the next one.
    return Missing{budget.missing(seconds, is_known ? 0 : Account::kGrace), 2 * budget.agreement - budget.allowed};
  };
  if (const Missing least = missing(0, kSteps + 2); least.set_up > 0) return least;
  // Ranks came one after the other to this agreement. Now they are together, and see what a step takes.
  const double start = PMPI_Wtime();
  for (int left = kSteps; left > 0; --left) {
    budget = agree({});
    if (const Missing least = missing(0, left + 1); least.set_up > 0) return least;
  }
  double step = (PMPI_Wtime() - start) / kSteps;
  budget = agree({&step, 1});
  return missing(step, 1);
}

// Collective. Where not, the next agreement comes when the account may cover the set-up, by the time that calls have
// taken, but 1 to 4 times as many calls later as this one: the estimate may have been an interrupted step's. It never
// comes before the account covers the agreement.
bool can_afford(CommunicatorState& state, MPI_Comm comm) {
  constexpr double kMostCalls = 1U << 28U;
  double elapsed = PMPI_Wtime() - state.waits_since;
  const Missing missing = missing_for_set_up(state, comm, elapsed);
  state.unaffordable = missing.set_up > 0;
  if (!state.unaffordable) return true;
  const double calls_for_a_second = state.waited / elapsed / Account::kShare;
  const double next = std::max(std::clamp(missing.set_up * calls_for_a_second, 1.0 * state.waited, 4.0 * state.waited),
                               missing.agreement * calls_for_a_second);
  state.waited = static_cast<std::uint32_t>(std::min(next, kMostCalls));
  state.waiting.left = state.waited;
  state.waits_since = PMPI_Wtime();
  return false;
}

// Collective, at the call that the communicator has waited for: 128 calls that synchronise cover an agreement, which
// takes about as long as one of them.
CallTable* table_when_due(CommunicatorState& state, MPI_Comm comm, ThreadState& thread) {
  const Service service = std::exchange(state.service, Service::kDecided);
  refresh_slot(comm, state, thread);
  if (!is_within_own_world(comm)) return nullptr;
  if (service == Service::kWaitsForBudget && !can_afford(state, comm)) {
    state.service = service;
    refresh_slot(comm, state, thread);
    return nullptr;
  }
  const double start = PMPI_Wtime();
  const bool tunes = service == Service::kWaitsForBudget;
  // What is inside nodes takes no time to find for simulated ranks.
  const bool deep = !tunes || kRanksShareProcess;
  CallTable* const table = make_table(comm, thread, deep ? Context::Depth::kCores : Context::Depth::kNodes);
  state.process->account.charge(Account::SetUp::kCommunicator, PMPI_Wtime() - start);
  return table;
}

}  // namespace

void take_back_wrong(CallTable& table, const Operation& operation, const Kind& kind) noexcept {
  if (is_right(table, operation)) return;
  std::uint32_t& left = table.native[kind.index];
  if (left != CallTable::kForEver) ++left;
  --table.calls[static_cast<std::size_t>(kind.collective)];
}

// Native calls are not checked further: the MPI finds errors in them itself.
int call(const Operation& operation) noexcept {
  ThreadState& thread = thread_state();
  const Entered entered(thread);
  try {
    if (operation.comm == MPI_COMM_NULL) return call_native(operation);
    CallTable* const table = thread.known_table(operation.comm);
    if (table == nullptr) return first_call(operation, thread);
    const Kind kind = kind_of(operation, table->rank, thread.types);
    if (table->in_flight.load(std::memory_order_acquire) > 0 || !is_native(kind, *table)) {
      return serve(*table, operation, kind);
    }
    const int code = call_native(operation);
    if (code != MPI_SUCCESS) take_back_wrong(*table, operation, kind);
    return code;
  } catch (const MpiError& error) {
    return error.code();
  } catch (...) {
    return raise(operation.comm, current_failure());
  }
}

int serve(CallTable& table, const Operation& operation, const Kind& kind) noexcept {
  if (can_take_fast_path(table, operation, kind)) return call_on_fast_path(table, operation, kind);
  if (!is_right(table, operation)) return call_native(operation);
  return run(*table.context, operation, kind);
}

CallTable* table_for_program(const Operation& operation, std::uint32_t first_served, ThreadState& thread) noexcept {
  const ThreadState::Slot* const slot = thread.known_slot(operation.comm);
  if (slot != nullptr && slot->native) return nullptr;
  try {
    CommunicatorState& state = state_for_program(operation.comm, first_served, thread);
    if (state.service == Service::kDecided) return state.table();
    if (!arguments_are_right(operation, state.rank, state.size)) return nullptr;
    const bool weighs = state.service == Service::kWaitsForBudget;
    const std::uint32_t weight =
        weighs ? weight_of(operation.collective, known_bytes(operation, state.rank, thread.types)) : 1;
    state.waiting.left -= std::min(state.waiting.left, weight);
    return state.waiting.left > 0 ? nullptr : table_when_due(state, operation.comm, thread);
  } catch (...) {
    return nullptr;
  }
}

void take_back_waiting(Waiting& waiting, const Operation& operation, std::uint32_t weight) noexcept {
  if (!arguments_are_right(operation, waiting.rank, waiting.size)) waiting.left += weight;
}

CallTable* find_table(MPI_Comm comm, ThreadState& thread) noexcept {
  try {
    CommunicatorState* const state = find_state(comm);
    if (state == nullptr) return nullptr;
    refresh_slot(comm, *state, thread);
    return state->table();
  } catch (...) {
    return nullptr;
  }
}

// What cannot be had is not there on all ranks alike, and such calls are the MPI's.
void prepare_for_program(MPI_Comm comm, ThreadState& thread) noexcept {
  try {
    CommunicatorState& state = state_for_program(comm, 1, thread);
    if (state.service == Service::kDecided) return;
    state.service = Service::kDecided;
    if (!is_within_own_world(comm)) return;
    const double start = PMPI_Wtime();
    if (make_table(comm, thread) != nullptr) state.context->chooser().make_ready();
    state.process->account.charge(Account::SetUp::kCommunicator, PMPI_Wtime() - start);
  } catch (...) {  // NOLINT(bugprone-empty-catch): as above
  }
}

void prepare(MPI_Comm comm) {
  const Entered entered;
  if (comm == MPI_COMM_NULL) throw AgreedError(MPI_ERR_COMM, "comm: expected a communicator, found MPI_COMM_NULL");
  if (!among_several(comm)) return;
  try {
    Context::of(comm)->chooser().make_ready();
  } catch (const AgreedError&) {
    return;  // calls go to the MPI
  }
}

std::optional<Nonblocking> decide_nonblocking(Context& context, const Operation& operation, const Kind& kind) {
  if (!is_right(context.table(), operation)) return std::nullopt;
  if (is_reproducible(context, operation)) {
    const Operation ordered = in_rank_order(operation);
    return unless_native(context, ordered, *reproducible_choice(context, ordered));
  }
  if (!context.has_chooser()) return std::nullopt;
  return unless_native(context, operation, *context.chooser().begin(operation, kind, false).choice);
}

std::unique_ptr<Running> begin_nonblocking(const Nonblocking& call) {
  auto begun = std::make_unique<InFlight>(call.context);
  begun->enlist(start(call.context, call.operation, *call.choice));
  return begun;
}

// The MPI drives its own.
std::unique_ptr<Running> call_nonblocking(const Operation& operation) {
  ThreadState& thread = thread_state();
  const Entered entered(thread);
  if (const std::shared_ptr<Context> context = Context::find(operation.comm)) {
    const Kind kind = kind_of(operation, context->rank(), thread.types);
    if (const auto ours = decide_nonblocking(*context, operation, kind)) return begin_nonblocking(*ours);
  }
  return start_native(operation);
}

}  // namespace ranktree::mpi::collect
