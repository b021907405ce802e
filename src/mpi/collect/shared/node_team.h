// The shared memory of the ranks of one node, for one communicator: owner of the segment over which
// core::shared::Team (core/shared/team.h) works, and of the order in which operations use it.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/shared/team.h"
#include "mpi/collect/shared/segment.h"

namespace ranktree::mpi::collect {

class Context;
class InFlightList;

// What an operation does in shared memory and across nodes. Operations of one communicator take turns in the order in
// which they were begun, the same on all ranks: a thread that drives a later one drives those before it.
class Turn {
 public:
  Turn() = default;
  virtual ~Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  Turn(Turn&&) = delete;
  Turn& operator=(Turn&&) = delete;

 private:
  friend class NodeTeam;
  // Does what can be done without waiting; true once all is done on this rank. Throws MpiError, AgreedError: in the
  // end, or others would wait for the rest.
  virtual bool advance() = 0;

  Turn* next_ = nullptr;
  bool done_ = false;
  std::exception_ptr failure_;
};

class NodeTeam {
 public:
  // Collective over the context's communicator: null on all ranks where one node could not have the memory (a small
  // /dev/shm: posix_fallocate fails, nothing gets SIGBUS later) and where no node has two ranks. Throws MpiError,
  // AgreedError.
  static std::unique_ptr<NodeTeam> make(Context& context);
  ~NodeTeam();
  NodeTeam(const NodeTeam&) = delete;
  NodeTeam& operator=(const NodeTeam&) = delete;
  NodeTeam(NodeTeam&&) = delete;
  NodeTeam& operator=(NodeTeam&&) = delete;

  [[nodiscard]] core::shared::Team& team() { return *team_; }
  // The smallest cell of all nodes' teams: the same on all ranks of the communicator.
  [[nodiscard]] std::size_t least_cell() const { return least_cell_; }
  // A rank's number among those of its node, and the rank that leads a node where `root` leads its own.
  [[nodiscard]] int local_rank(int rank) const { return local_ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int leader(int node, int root) const;
  [[nodiscard]] const std::vector<int>& members(int node) const { return members_[static_cast<std::size_t>(node)]; }
  // Ranks in the order of nodes: where a node's begin; for the number of nodes, where the last one's end.
  [[nodiscard]] int first_position(int node) const { return first_positions_[static_cast<std::size_t>(node)]; }

  // Ranks in the order of nodes are in their own order.
  [[nodiscard]] bool in_rank_order() const { return in_rank_order_; }

  // Begins; from then on the team drives it until it is done. Local.
  void enter(Turn& turn);
  // Drives the team's operations up to this one; true once it is done. Throws what this one does.
  bool progress(Turn& turn);
  // Waits for it and drives all that is in flight. Ranks that have processors of their own spin; others yield theirs,
  // and sleep where nothing else is to be driven. Throws MpiError.
  void finish(Turn& turn) { wait(turn, Rest::kSleep); }
  // The same including enter(), for an operation that is only the core's.
  void finish(core::shared::Call& call) { finish(call, Rest::kSleep); }
  // Completes it, whatever has happened.
  void leave(Turn& turn) noexcept;

  // A barrier of the node's ranks in which no rank sleeps: all of them leave it at about the same time, as far as there
  // are processors. Throws MpiError.
  void synchronise();

  // Lets the MPI make progress: a rank that waits in shared memory may have sent what others wait for.
  void poke();

 private:
  NodeTeam() = default;
  void find_members(const Context& context);
  void share_memory(int ranks);
  void append(Turn& turn);  // with the lock
  enum class Rest : std::uint8_t { kYield, kSleep };
  void finish(core::shared::Call& call, Rest rest);
  void wait(Turn& turn, Rest rest);
  static bool advance(Turn& turn) noexcept;
  bool sleep(std::chrono::microseconds most);
  void watch_processors();

  InFlightList* in_flight_ = nullptr;  // of the process
  MPI_Comm node_comm_ = MPI_COMM_NULL;
  std::optional<Segment> segment_;
  std::unique_ptr<core::shared::Team> team_;
  std::size_t least_cell_ = 0;
  bool may_spin_ = false;
  bool in_rank_order_ = true;
  std::vector<int> local_ranks_;
  std::vector<std::vector<int>> members_;
  std::vector<int> first_positions_;

  std::mutex mutex_;  // operations of different threads that wait at the same time
  Turn* first_ = nullptr;
  Turn* last_ = nullptr;
};

}  // namespace ranktree::mpi::collect
