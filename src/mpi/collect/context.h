// What ranktree keeps with a communicator to run collectives on it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/execute/workspace.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/thread_state.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

class NodeTeam;            // the shared memory of the ranks of one node, node_team.h
class Chooser;             // which way each call goes, chooser.h
struct Shortcuts;          // calls that are the MPI's own, size_class.h
class LevelCommunicators;  // of kLevels, execute/levels.h
class Programs;            // schedules made ready to run, programs.h

// Made at the first collective call on an intracommunicator, freed with it (an attribute that MPI_Comm_dup does not
// copy) and with the last operation that is in flight. All members that do not depend on the calling rank are the same
// on all ranks.
class Context {
 public:
  // Of `comm`. Collective the first time, when ranks meet (in_flight.h): one communicator made, one split by nodes, one
  // allgather of where ranks are. At most kMost a process at a time: some MPIs have about two thousand communicators in
  // all, which are the program's. Throws MpiError (nothing more was agreed on) and AgreedError, where a context cannot
  // be had: all ranks then throw, now and from now on; MPI's error handler has not been called.
  static const std::shared_ptr<Context>& of(MPI_Comm comm);

  // What is known of `comm`, local: null before the first call of of(), which is found to hold null where it failed.
  // Both are there until the communicator is freed. Throws MpiError.
  static const std::shared_ptr<Context>* find(MPI_Comm comm, ThreadState& thread = thread_state) {
    ThreadState::Slot& slot = thread.slot_for(comm);
    if (slot.has(comm)) [[likely]]
      return slot.kept;
    return find_attribute(comm, slot);
  }

  // The same, if the thread has asked for it lately; else null.
  static const Context* find_at_once(MPI_Comm comm, ThreadState& thread) {
    const ThreadState::Slot& slot = thread.slot_for(comm);
    return slot.has(comm) ? slot.context : nullptr;
  }

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  Context(Context&&) = delete;
  Context& operator=(Context&&) = delete;

  // A communicator of the same ranks for our messages only, whose errors come back as codes.
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // machine() for 0, else so many runs of consecutive ranks, made at the first use.
  [[nodiscard]] const core::schedule::Hierarchy& hierarchy(core::schedule::Rank groups);
  // Switches (where known), nodes, and what is inside nodes, outermost first; flat where ranks differ in nothing.
  [[nodiscard]] const core::schedule::Hierarchy& machine() const { return machine_; }
  // The names of machine()'s given levels, "Switch0", "Machine", "Package", ...: what a level is across. One less than
  // machine().given_levels(), for on the last level there are ranks.
  [[nodiscard]] const std::vector<std::string>& level_names() const { return level_names_; }
  // Nodes only: level 0 across nodes, level 1 inside; flat on one node and where every rank is alone.
  [[nodiscard]] const core::schedule::Hierarchy& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::int32_t>& node_of() const { return node_of_; }  // by rank; 0 .. node_count()-1
  [[nodiscard]] int node_count() const { return node_count_; }
  [[nodiscard]] MPI_Comm node_comm() const { return node_comm_.get(); }  // ranks of this node, in rank order

  // Shared memory of this node; null on all ranks where some node could have none. Made at the first use, collectively.
  [[nodiscard]] NodeTeam* node_team();
  [[nodiscard]] bool has_node_team() const { return node_team_asked_; }         // node_team() would not be collective
  [[nodiscard]] NodeTeam* known_node_team() const { return node_team_.get(); }  // null before then
  // Made at the first use, collectively.
  [[nodiscard]] Chooser& chooser();
  [[nodiscard]] bool has_chooser() const { return chooser_ != nullptr; }
  // The chooser's; null before there is one.
  [[nodiscard]] Shortcuts* shortcuts() const { return shortcuts_; }

  [[nodiscard]] Programs& programs() { return *programs_; }
  [[nodiscard]] Workspaces& workspaces() { return workspaces_; }
  [[nodiscard]] LevelCommunicators& levels() { return *levels_; }

  // Until this ends: messages of an operation that failed may still be written there.
  void keep(Memory memory) noexcept;

  // Nonblocking operations on the communicator (in_flight.h).
  [[nodiscard]] int in_flight() const { return in_flight_.load(std::memory_order_acquire); }
  void begin_one() { in_flight_.fetch_add(1, std::memory_order_relaxed); }
  void end_one() { in_flight_.fetch_sub(1, std::memory_order_release); }

  // For one operation: different from those of all operations that may still be in flight. Called once an operation, in
  // the same order on all ranks.
  int next_tag();

  // Whether reductions are reproducible (reproducible.h); nothing before anybody asked.
  [[nodiscard]] const std::optional<bool>& reproducible() const { return reproducible_; }
  void set_reproducible(bool flag) { reproducible_ = flag; }

  // False once the communicator it was made for is freed.
  [[nodiscard]] bool attached() const { return attached_.load(std::memory_order_relaxed); }
  void detach() { attached_.store(false, std::memory_order_relaxed); }

 private:
  static constexpr int kMost = 256;
  // A place among them. Throws AgreedError where there is none.
  class Place {
   public:
    Place();
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Place(Place&&) = delete;
    Place& operator=(Place&&) = delete;
  };

  Context();
  static const std::shared_ptr<Context>* find_attribute(MPI_Comm comm, ThreadState::Slot& slot);
  void make_communicator(MPI_Comm comm);
  void learn_locations(MPI_Comm comm);
  void read_locations(const std::vector<std::uint64_t>& rows);

  Place place_;
  // What each call looks at.
  int rank_ = 0;
  int size_ = 1;
  std::atomic<int> in_flight_ = 0;
  std::optional<bool> reproducible_;
  Shortcuts* shortcuts_ = nullptr;

  Communicator comm_;
  Communicator node_comm_;
  int node_count_ = 1;
  std::uint32_t tags_ = 1;  // how many the MPI has
  std::atomic<std::uint32_t> tag_ = 0;
  std::atomic<bool> attached_ = true;
  bool node_team_asked_ = false;
  core::schedule::Hierarchy machine_;
  core::schedule::Hierarchy nodes_;
  std::map<core::schedule::Rank, core::schedule::Hierarchy> groupings_;
  std::vector<std::int32_t> node_of_;
  std::vector<std::string> level_names_;
  std::unique_ptr<Programs> programs_;
  Workspaces workspaces_;
  std::unique_ptr<LevelCommunicators> levels_;
  std::mutex mutex_;
  std::vector<Memory> kept_;
  // After the communicators that they use, so that they go first.
  std::unique_ptr<NodeTeam> node_team_;
  std::unique_ptr<Chooser> chooser_;
};

}  // namespace ranktree::mpi::collect
