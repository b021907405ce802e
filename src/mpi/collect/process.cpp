#include "mpi/collect/process.h"

#include <mpi.h>

#include <memory>
#include <mutex>

#include "mpi/agree.h"
#include "mpi/attribute_key.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/requests/own_request.h"
#include "mpi/collect/thread_state.h"
#include "mpi/guard.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using Kept = std::shared_ptr<Process>;

int forget(MPI_Comm comm, int keyval, void* value, void* extra) noexcept;

AttributeKey& key() {
  static AttributeKey only(MPI_COMM_NULL_COPY_FN, forget);
  return only;
}

int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  delete static_cast<Kept*>(value);
  key().release();
  return MPI_SUCCESS;
}

}  // namespace

Process::Process() = default;
Process::~Process() = default;

// A program of sessions has no MPI_COMM_SELF; there the process is the rank.
std::shared_ptr<Process> Process::here() {
  if (!world_exists()) {
    static const auto only = std::make_shared<Process>();
    return only;
  }
  static std::mutex making;  // never taken in forget()
  std::unique_lock lock(making, std::defer_lock);
  if (!kRanksShareProcess) lock.lock();
  const AttributeKey::Use use(key());
  if (const auto* known = static_cast<const Kept*>(use.find(MPI_COMM_SELF))) return *known;
  auto kept = std::make_unique<Kept>(std::make_shared<Process>());
  use.set(MPI_COMM_SELF, kept.get());
  return *kept.release();
}

void synchronise(MPI_Comm comm) {
  std::shared_ptr<Process> process;
  [[maybe_unused]] const Failure drives_nothing = attempt([&] { process = Process::here(); });
  InFlightList nothing;
  synchronise(comm, process ? process->in_flight : nothing);
}

#ifdef SMPI_H
ThreadState& thread_state() {
  ThreadState& state = Process::here()->state;
  state.generation = &state_generation;
  return state;
}
#endif

}  // namespace ranktree::mpi::collect
