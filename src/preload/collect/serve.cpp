#include "preload/collect/serve.h"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "mpi/collect/environment.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/preload_abi.h"
#include "mpi/collect/thread_state.h"
#include "mpi/simulated.h"
#include "preload/calls_library.h"
#include "preload/collect/nonblocking.h"
#include "preload/settings.h"

namespace ranktree::preload {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<const PreloadFunctions*> serving{nullptr};
constinit thread_local ThreadState* state_here = nullptr;

namespace {

// By rules: a communicator that calls less often than this never costs anything: a context is some hundred microseconds
// and two communicators, of which an MPI has some thousands. The first where reductions must have the same bits every
// time. What is tuned waits until it is affordable.
constexpr std::uint32_t kFirstServedCall = 5;
constinit std::atomic<std::uint32_t> first_served_call{kFirstServedCall};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

std::string version_text(const PreloadFunctions& functions) {
  return "version " + std::to_string(functions.version) + " of " + std::to_string(functions.size) + " bytes, layout " +
         std::to_string(functions.layout);
}

// Why `functions` cannot be had; empty where they can.
std::string load(PreloadFunctions& functions) {
  const CallsLibrary library("ranktree_collect_handshake");
  if (!library.missing().empty()) return library.missing();
  decltype(&ranktree_collect_handshake) handshake = nullptr;
  const std::string expected = version_text(functions);
  if (!library.find("ranktree_collect_handshake", handshake)) {
    return RANKTREE_CALLS_LIBRARY " is another version's: it has no ranktree_collect_handshake";
  }
  if (handshake(&functions)) return {};
  return RANKTREE_CALLS_LIBRARY " is another version's: expected " + expected + ", found " + version_text(functions);
}

const PreloadFunctions* load_or_warn() noexcept {
  static PreloadFunctions loaded;
  try {
    const std::string missing = load(loaded);
    if (missing.empty()) return &loaded;
    print_verbose(kWhat, (missing + "; collectives stay native").c_str());
  } catch (...) {
    print_verbose(kWhat, "out of memory; collectives stay native");
  }
  return nullptr;
}

// On all ranks or on none. Simulated ranks share one process, which can or cannot. `agreement`: seconds that it took to
// agree on it.
bool all_can(double& agreement) noexcept {
  int able = functions() != nullptr ? 1 : 0;
  if (mpi::kRanksShareProcess) return able != 0;
  const double start = PMPI_Wtime();
  const int code = PMPI_Allreduce(MPI_IN_PLACE, &able, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  agreement = PMPI_Wtime() - start;
  return code == MPI_SUCCESS && able != 0;
}

}  // namespace

const mpi::collect::Environment& environment() noexcept {
  static const mpi::collect::Environment read = mpi::collect::Environment::read();
  return read;
}

const PreloadFunctions* functions() noexcept {
  static const PreloadFunctions* const found = load_or_warn();
  return found;
}

void decide(int provided) noexcept {
  const bool wants = environment().wants_service();
  const bool same_bits = wants && environment().reproducible;
  const bool tunes = environment().collectives == "auto";
  std::array<int, 4> wanted{wants ? 1 : 0, same_bits ? 1 : 0, wants && wants_nonblocking() ? 1 : 0, tunes ? 1 : 0};
  const bool knows = mpi::kRanksShareProcess;  // what rank 0 has in its environment
  if (!knows && PMPI_Bcast(wanted.data(), 4, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return;
  double agreement = 0;
  if (wanted[0] == 0 || !all_can(agreement)) return;
  const std::uint32_t usual = wanted[3] != 0 ? mpi::collect::kWhenAffordable : kFirstServedCall;
  first_served_call.store(wanted[1] != 0 ? 1 : usual, std::memory_order_relaxed);
  if (wanted[3] != 0) functions()->start_account(agreement);
  if (wanted[2] != 0) begin_nonblocking(provided);
  serving.store(functions(), std::memory_order_relaxed);
}

CallTable* find_table(const PreloadFunctions& functions, const Operation& operation, ThreadState& thread) noexcept {
  CallTable* const table = functions.table(&operation, first_served_call.load(std::memory_order_relaxed), &thread);
  static std::atomic<bool> printed{false};
  if (table != nullptr && table->rank == 0 && *table->message != '\0' && !printed.exchange(true)) {
    print_verbose(kWhat, table->message);
  }
  return table;
}

}  // namespace ranktree::preload
