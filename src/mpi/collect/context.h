// The state that collectives need on a communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/execute/workspace.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/places.h"
#include "mpi/collect/process.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

class NodeTeam;            // the shared memory of the ranks of one node, shared/node_team.h
class Chooser;             // which variant serves each call, select/chooser.h
class LevelCommunicators;  // of kLevels, execute/levels.h
class Programs;            // schedules made ready to run, execute/programs.h

// Made at the first collective call on an intracommunicator, freed with it (communicator_state.h) and with the last
// operation that is in flight. All members that do not depend on the calling rank are the same on all ranks.
class Context : public std::enable_shared_from_this<Context> {
 public:
  // Of `comm`. Collective the first time, when ranks synchronise (agree_driving()): one communicator split by nodes,
  // one made (not on one node), where ranks are gathered and broadcast. At most kMost a process at a time: some MPIs
  // have about two thousand communicators in all, which are the program's. Throws MpiError (nothing more was agreed on)
  // and AgreedError, where a context cannot be had: all ranks then throw, now and from now on; MPI's error handler has
  // not been called. kNodes: where ranks are inside nodes is not looked at, which takes most of the time; the same on
  // all ranks.
  enum class Depth : std::uint8_t { kNodes, kCores };
  static std::shared_ptr<Context> of(MPI_Comm comm, Depth depth = Depth::kCores);

  // The same where there is one; else null. Local. Throws MpiError.
  static std::shared_ptr<Context> find(MPI_Comm comm);

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  Context(Context&&) = delete;
  Context& operator=(Context&&) = delete;

  // A communicator of the same ranks for our messages only, whose errors come back as codes.
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] int rank() const { return table_.rank; }
  [[nodiscard]] int size() const { return table_.size; }
  [[nodiscard]] Process& process() const { return *process_; }
  // machine() for 0, else so many runs of consecutive ranks, made at the first use.
  [[nodiscard]] const core::schedule::Hierarchy& hierarchy(core::schedule::Rank groups);
  [[nodiscard]] const core::schedule::Hierarchy& machine() const { return places_->machine; }
  [[nodiscard]] const std::vector<std::string>& level_names() const { return places_->level_names; }
  [[nodiscard]] const core::schedule::Hierarchy& nodes() const { return places_->nodes; }
  [[nodiscard]] const std::vector<std::int32_t>& node_of() const { return places_->node_of; }
  [[nodiscard]] int node_count() const { return places_->node_count; }
  // Ranks of this node, in rank order; on one node comm().
  [[nodiscard]] MPI_Comm node_comm() const { return node_count() > 1 ? node_comm_.get() : comm_.get(); }

  // Shared memory of this node; null on all ranks where some node could have none. Made at the first use, collectively.
  [[nodiscard]] NodeTeam* node_team();
  [[nodiscard]] bool has_node_team() const { return node_team_tried_; }         // node_team() would not be collective
  [[nodiscard]] NodeTeam* known_node_team() const { return node_team_.get(); }  // null before then
  // Made at the first use, collectively.
  [[nodiscard]] Chooser& chooser();
  [[nodiscard]] bool has_chooser() const { return chooser_ != nullptr; }
  // The chooser's.
  [[nodiscard]] CallTable& table() { return table_; }

  [[nodiscard]] Programs& programs() { return *programs_; }
  [[nodiscard]] Workspaces& workspaces() { return workspaces_; }
  [[nodiscard]] LevelCommunicators& levels() { return *levels_; }

  // Keeps memory until the context is freed: messages of an operation that failed may still be written there.
  void keep(Memory memory) noexcept;

  // Nonblocking operations on the communicator (requests/in_flight.h).
  [[nodiscard]] int in_flight() const { return table_.in_flight.load(std::memory_order_acquire); }
  void begin_one() { table_.in_flight.fetch_add(1, std::memory_order_relaxed); }
  void end_one() { table_.in_flight.fetch_sub(1, std::memory_order_release); }

  // For one operation: different from those of all operations that may still be in flight, and from 0, by which
  // NodeTeam::poke() probes in vain. Called as often and in the same order on all ranks.
  int next_tag();

  // A barrier that drives all that is in flight. Throws MpiError, and where ranks are simulated what start() does.
  void synchronise();

  // Whether reductions are reproducible (select/reproducible.h); nothing before there is a chooser, unless it was set.
  [[nodiscard]] const std::optional<bool>& reproducible() const { return reproducible_; }
  void set_reproducible(bool flag) { reproducible_ = flag; }

  // False once the communicator it was made for is freed.
  [[nodiscard]] bool attached() const { return attached_.load(std::memory_order_relaxed); }
  void detach() { attached_.store(false, std::memory_order_relaxed); }

 private:
  static constexpr int kMost = 256;

  // Throws AgreedError where there are too many.
  explicit Context(std::shared_ptr<Process> process);
  struct Locations;  // what learn_locations() needs memory for
  void reserve(MPI_Comm comm, Locations& locations);
  void make_communicators(MPI_Comm comm, Locations& locations);
  void learn_locations(Depth depth, Locations& own);

  CallTable table_;  // what each call looks at
  std::shared_ptr<Process> process_;
  std::optional<bool> reproducible_;
  Communicator comm_;
  Communicator node_comm_;  // null on one node
  std::shared_ptr<Places> places_;
  std::uint32_t tags_ = 1;  // how many the MPI has
  std::atomic<std::uint32_t> tag_ = 0;
  std::atomic<bool> attached_ = true;
  bool node_team_tried_ = false;
  std::map<core::schedule::Rank, core::schedule::Hierarchy> groupings_;
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
