// What one operation needs while it runs, kept for the next one so that small operations allocate nothing.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/collect/memory.h"

namespace ranktree::mpi::collect {

struct Workspace {
  std::vector<std::int32_t> waits;     // by step: events it waits for; of a posted message: its parts in flight
  std::vector<std::int32_t> messages;  // that may be posted, a heap with the first of the program on top
  std::vector<std::int32_t> local;     // that may be done, likewise
  // Requests in flight, and the owner of each: of a schedule its step.
  std::vector<MPI_Request> requests;
  std::vector<std::int32_t> owners;
  // Output of MPI_Testsome.
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;

  Memory scratch;
  std::size_t scratch_bytes = 0;
  // At least so many bytes of it, without content. Throws std::bad_alloc.
  std::byte* scratch_of(std::size_t bytes) {
    if (scratch_bytes < bytes) {
      scratch.reset();
      scratch_bytes = 0;
      scratch = allocate(bytes);
      scratch_bytes = bytes;
    }
    return scratch.get();
  }
};

// The workspaces of one communicator that no operation uses: a few, and of limited memory.
class Workspaces {
 public:
  Workspaces() = default;
  ~Workspaces() {
    for (auto& slot : free_) delete slot.load(std::memory_order_acquire);
  }
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;
  Workspaces(Workspaces&&) = delete;
  Workspaces& operator=(Workspaces&&) = delete;

  // Throws std::bad_alloc.
  std::unique_ptr<Workspace> take() {
    for (auto& slot : free_) {
      std::unique_ptr<Workspace> taken(slot.exchange(nullptr, std::memory_order_acq_rel));
      if (!taken) continue;
      scratch_.fetch_sub(taken->scratch_bytes, std::memory_order_relaxed);
      return taken;
    }
    return std::make_unique<Workspace>();
  }
  void give(std::unique_ptr<Workspace> workspace) noexcept {
    constexpr std::size_t kMostScratch = std::size_t{32} * 1024 * 1024;  // of all
    constexpr std::size_t kMostSteps = 65536;
    if (workspace->waits.capacity() > kMostSteps) return;
    const std::size_t bytes = workspace->scratch_bytes;
    if (scratch_.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMostScratch) {
      scratch_.fetch_sub(bytes, std::memory_order_relaxed);
      return;
    }
    for (auto& slot : free_) {
      Workspace* none = nullptr;
      if (!slot.compare_exchange_strong(none, workspace.get(), std::memory_order_acq_rel)) continue;
      [[maybe_unused]] const Workspace* kept = workspace.release();
      return;
    }
    scratch_.fetch_sub(bytes, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<Workspace*>, 4> free_{};  // as many as there are segments of one operation in flight
  std::atomic<std::size_t> scratch_ = 0;           // bytes of the free ones
};

}  // namespace ranktree::mpi::collect
