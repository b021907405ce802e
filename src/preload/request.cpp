// Persistent and partitioned requests: described when they are made, counted at every start.
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/pattern/pattern.h"
#include "mpi/handle_slot.h"
#include "preload/communicator.h"
#include "preload/hooks.h"
#include "preload/process.h"
#include "preload/receipt.h"
#include "preload/thread.h"

namespace ranktree::preload {
namespace {

using core::pattern::Class;

struct KeptRequest {
  const char* call;
  Receipt receipt;
};

// All requests of the process: one may be started by another thread than made it.
struct RequestTable {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<const KeptRequest>> requests;
  std::atomic<std::uint64_t> size{0};  // lets MPI_Request_free pass without the lock while nothing is kept
};

RequestTable& table() noexcept {
  static auto* const requests = new RequestTable;  // NOLINT(bugprone-unhandled-exception-at-new): never destroyed:
                                                   // other threads may still be in MPI calls
  return *requests;
}

std::shared_ptr<const KeptRequest> find_request(MPI_Request request) {
  RequestTable& kept = table();
  const std::scoped_lock lock(kept.mutex);
  const auto found = kept.requests.find(mpi::handle_bits(request));
  return found == kept.requests.end() ? nullptr : found->second;
}

}  // namespace

void send_init(const Scene& scene, core::pattern::SendCall call, Buffer buffer, int dest, MPI_Comm comm) {
  Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr || dest < 0 || dest >= communicator->peers().size()) return;
  const std::uint64_t bytes = static_cast<std::uint64_t>(buffer.count) * type_bytes(scene.thread, buffer.type);
  log_members(scene.thread, *communicator);
  scene.receipt.add(communicator->peers()[dest], Class::kPointToPoint, bytes);
  scene.receipt.send = call;
  scene.receipt.communicator = communicator->identity;
}

void keep_request(const char* call, MPI_Request request, const Receipt& receipt) {
  auto made = std::make_shared<const KeptRequest>(KeptRequest{call, receipt});
  RequestTable& kept = table();
  const std::scoped_lock lock(kept.mutex);
  kept.requests[mpi::handle_bits(request)] = std::move(made);
  kept.size.store(kept.requests.size(), std::memory_order_relaxed);
}

void start_request(MPI_Request request) noexcept {
  shielded([&] {
    Thread* thread = entered();
    if (thread == nullptr) return;
    const std::shared_ptr<const KeptRequest> kept = find_request(request);
    if (kept) {
      count_receipt(*thread, kept->call, kept->receipt);
    } else {
      thread->part.count_unattributed("MPI_Start of an unknown request", 1);
    }
  });
}

void free_request(MPI_Request request) noexcept {
  RequestTable& kept = table();
  if (kept.size.load(std::memory_order_relaxed) == 0) return;
  shielded([&] {
    const std::scoped_lock lock(kept.mutex);
    kept.requests.erase(mpi::handle_bits(request));
    kept.size.store(kept.requests.size(), std::memory_order_relaxed);
  });
}

}  // namespace ranktree::preload
