#include "mpi/collect/process.h"

#include <mpi.h>

#include <memory>
#include <mutex>

#include "mpi/agree.h"
#include "mpi/attribute_key.h"
#include "mpi/check.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/requests/own_request.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/thread_state.h"
#include "mpi/own_world.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using Kept = std::shared_ptr<Process>;

int forget(MPI_Comm comm, int keyval, void* value, void* extra) noexcept;

AttributeKey& key() {
  static AttributeKey only(MPI_COMM_NULL_COPY_FN, forget);
  return only;
}

// Communicators that the program does not free write no line of their own. Simulated ranks are gone by now.
void log_account(const Process& process) noexcept {
  if constexpr (kRanksShareProcess) return;
  [[maybe_unused]] const Failure lost = attempt([&] {
    int rank = 0;
    check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    const Log log(process.environment.log, rank);
    const std::string& wanted = process.environment.collectives;
    const bool tunes = wanted.empty() || wanted.find("auto") != std::string::npos;
    if (tunes && log.wanted()) log.line("in MPI_Finalize: " + process.account.text());
  });
}

// In MPI_Finalize.
int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) noexcept {
  const std::unique_ptr<Kept> kept(static_cast<Kept*>(value));
  log_account(**kept);
  (*kept)->learned.save();
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

void agree_driving(MPI_Comm comm, const LocalSteps& steps) {
  std::shared_ptr<Process> process;
  [[maybe_unused]] const Failure drives_nothing = attempt([&] { process = Process::here(); });
  InFlightList nothing;
  double merged = steps.word();
  share_greatest(comm, {&merged, 1}, process ? process->in_flight : nothing);
  steps.require(static_cast<int>(merged));
}

#ifdef SMPI_H
ThreadState& thread_state() {
  ThreadState& state = Process::here()->state;
  state.generation = &state_generation;
  return state;
}
#endif

}  // namespace ranktree::mpi::collect
