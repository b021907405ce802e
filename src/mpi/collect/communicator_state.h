// The state of a communicator, kept in one attribute: which of its calls are not native, and its context.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "mpi/collect/call_kind.h"
#include "mpi/collect/select/account.h"
#include "mpi/collect/thread_state.h"

namespace ranktree::mpi::collect {

class Context;
class Process;

// Made by the first call on a communicator that looks at it, locally; deleted with the communicator (an attribute that
// MPI_Comm_dup does not copy).
struct CommunicatorState {
  explicit CommunicatorState(MPI_Comm comm);
  ~CommunicatorState();
  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  CommunicatorState(CommunicatorState&&) = delete;
  CommunicatorState& operator=(CommunicatorState&&) = delete;

  // Null until its context can choose.
  [[nodiscard]] CallTable* table() const;
  void log_unaffordable() const noexcept;  // in the log

  int rank = 0;
  int size = 1;
  bool several = false;  // an intracommunicator of two ranks or more: calls on all others are native
  bool refused = false;  // it can have no context, on all ranks
  // Of an unmodified program's calls.
  enum class Service : std::uint8_t {
    kNew,             // none has been made
    kWaits,           // served from a call with a fixed number, `waiting.left` from now
    kWaitsForBudget,  // then ranks agree whether it is affordable (call.h)
    kDecided          // it is served, or never
  };
  Service service = Service::kNew;
  Waiting waiting;
  std::uint32_t waited = 0;   // calls between the last two agreements
  double waits_since = 0;     // PMPI_Wtime() of the last
  Agreements agreements;      // before there is a chooser
  bool unaffordable = false;  // the result of the last of them, if any
  std::shared_ptr<Context> context;
  std::shared_ptr<Process> process;
};

// The calling rank's. Both are local, and throw MpiError, std::bad_alloc.
CommunicatorState* find_state(MPI_Comm comm);  // null where none is kept yet
// Made where there is none; from now on it is in the thread's cache.
CommunicatorState& state_of(MPI_Comm comm, ThreadState& thread);

// Updates the thread's slot of the communicator, within a call on it.
void refresh_slot(MPI_Comm comm, CommunicatorState& state, ThreadState& thread);

}  // namespace ranktree::mpi::collect
