#include "preload/message.h"

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "core/pattern/pattern.h"
#include "io/trace_layout.h"
#include "preload/communicator.h"
#include "preload/process.h"
#include "preload/thread.h"

namespace ranktree::preload {
namespace {

using core::pattern::Class;

void count_message(Thread& thread, SendCall call, std::uint64_t bytes, int dest, MPI_Comm comm) {
  const std::uint32_t generation = communicator_generation.load(std::memory_order_relaxed);
  Communicator* communicator = find_communicator(thread, comm);
  if (communicator == nullptr || dest < 0 || dest >= communicator->peers().size())
    return;  // MPI_PROC_NULL, or an error
  const int world_rank = communicator->peers()[dest];
  if (world_rank < 0) {
    thread.part.count_unattributed("MPI_" + std::string(send_call_name(call)) + " outside MPI_COMM_WORLD", 1);
    return;
  }
  layout::PairCell* cell = thread.pair(layout::pair_key(world_rank, Class::kPointToPoint, false));
  layout::SendCell* sends = thread.sends(call, communicator->identity);
  if (cell == nullptr || sends == nullptr) return;
  log_members(thread, *communicator);
  cell->messages += 1;
  cell->bytes += bytes;
  add_size(*sends, bytes);
  thread.peers[peer_slot(comm, dest, call)] = {comm, dest, generation, call, cell, sends};
}

}  // namespace

void count_send_slow(SendCall call, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm) noexcept {
  if (dest == MPI_PROC_NULL) return;
  shielded([&] {
    Thread* thread = entered();
    if (thread == nullptr) return;
    const auto items = static_cast<std::uint64_t>(count < 0 ? 0 : count);
    count_message(*thread, call, items * type_bytes(*thread, type), dest, comm);
  });
}

}  // namespace ranktree::preload
