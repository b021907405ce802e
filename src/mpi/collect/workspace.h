// What one operation needs while it runs, kept for the next one so that small operations allocate nothing.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/collect/memory.h"

namespace ranktree::mpi::collect {

struct Workspace {
  std::vector<std::int32_t> waits;     // by step: events it waits for; of a posted message: its parts under way
  std::vector<std::int32_t> messages;  // that may be posted, a heap with the first of the program on top
  std::vector<std::int32_t> local;     // that may be done, likewise
  // Under way, and the step of each.
  std::vector<MPI_Request> requests;
  std::vector<std::int32_t> owners;
  // What MPI_Testsome tells.
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;

  Memory scratch;
  std::size_t scratch_bytes = 0;
};

// Of one communicator: room for one workspace that nobody uses.
class Workspaces {
 public:
  Workspaces() = default;
  ~Workspaces() { delete spare_.load(std::memory_order_acquire); }
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;
  Workspaces(Workspaces&&) = delete;
  Workspaces& operator=(Workspaces&&) = delete;

  // Throws std::bad_alloc.
  std::unique_ptr<Workspace> take() {
    std::unique_ptr<Workspace> taken(spare_.exchange(nullptr, std::memory_order_acq_rel));
    return taken ? std::move(taken) : std::make_unique<Workspace>();
  }
  // Of two, one is kept.
  void give(std::unique_ptr<Workspace> workspace) noexcept {
    constexpr std::size_t kMostScratch = std::size_t{32} * 1024 * 1024;
    constexpr std::size_t kMostSteps = 65536;
    if (workspace->scratch_bytes > kMostScratch || workspace->waits.capacity() > kMostSteps) return;
    const std::unique_ptr<Workspace> before(spare_.exchange(workspace.release(), std::memory_order_acq_rel));
  }

 private:
  std::atomic<Workspace*> spare_ = nullptr;
};

}  // namespace ranktree::mpi::collect
