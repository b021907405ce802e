#include "mpi/collect/communicator_state.h"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "mpi/agree.h"
#include "mpi/attribute_key.h"
#include "mpi/check.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/process.h"
#include "mpi/collect/select/account.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/thread_state.h"
#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<std::uint64_t> state_generation{1};
#ifndef SMPI_H
constinit thread_local ThreadState own_thread_state{
    .depth = 0, .generation = &state_generation, .slots = {}, .types = {}};
#endif
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

int forget(MPI_Comm comm, int keyval, void* value, void* extra) noexcept;

AttributeKey& key() {
  static AttributeKey only(MPI_COMM_NULL_COPY_FN, forget);
  return only;
}

int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  state_generation.fetch_add(1, std::memory_order_relaxed);
  delete static_cast<CommunicatorState*>(value);
  key().release();
  return MPI_SUCCESS;
}

}  // namespace

CommunicatorState::CommunicatorState(MPI_Comm comm) : process(Process::here()) {
  int inter = 0;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  several = inter == 0 && size > 1;
  waiting = {.rank = rank, .size = size};
}

// The operations in flight keep their context; the communicator is gone.
CommunicatorState::~CommunicatorState() {
  if (unaffordable) log_unaffordable();
  if (context) context->detach();
}

void CommunicatorState::log_unaffordable() const noexcept {
  [[maybe_unused]] const Failure lost = attempt([&] {
    Log(process->environment.log, rank)
        .line(std::to_string(size) + " ranks: all calls by the MPI: its set-up was never affordable; " +
              process->account.text());
  });
}

CallTable* CommunicatorState::table() const { return context && context->has_chooser() ? &context->table() : nullptr; }

CommunicatorState* find_state(MPI_Comm comm) {
  const AttributeKey::Use use(key());
  return static_cast<CommunicatorState*>(use.find(comm));
}

CommunicatorState& state_of(MPI_Comm comm, ThreadState& thread) {
  const AttributeKey::Use use(key());
  auto* state = static_cast<CommunicatorState*>(use.find(comm));
  if (state == nullptr) {
    auto made = std::make_unique<CommunicatorState>(comm);
    use.set(comm, made.get());
    state = made.release();
  }
  refresh_slot(comm, *state, thread);
  return *state;
}

void refresh_slot(MPI_Comm comm, CommunicatorState& state, ThreadState& thread) {
  const bool counts = state.service == CommunicatorState::Service::kWaitsForBudget;
  thread.slots[slot_of<ThreadState::kSlots>(comm)] = {.comm = comm,
                                                      .generation = state_generation.load(std::memory_order_relaxed),
                                                      .table = state.table(),
                                                      .native = !state.several || state.refused,
                                                      .waiting = counts ? &state.waiting : nullptr};
}

}  // namespace ranktree::mpi::collect
