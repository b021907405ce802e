// What ranktree keeps with a communicator to run collectives on it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {

class NodeTeam;  // the shared memory of the ranks of one node, node_team.h
class Chooser;   // which way each call goes, chooser.h

// Made at the first collective call on an intracommunicator, freed with it (an attribute that MPI_Comm_dup does not
// copy). All members that do not depend on the calling rank are the same on all ranks.
class Context {
 public:
  // Of `comm`. Collective the first time: one MPI_Comm_dup, one split by nodes, one allgather of where ranks are.
  // Throws MpiError, AgreedError.
  static std::shared_ptr<Context> of(MPI_Comm comm);

  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }  // a duplicate for our messages only
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // Switches (where known), nodes, and what is inside nodes, outermost first; flat where ranks differ in nothing.
  [[nodiscard]] const core::schedule::Hierarchy& machine() const { return machine_; }
  // Nodes only: level 0 across nodes, level 1 inside; flat on one node and where every rank is alone.
  [[nodiscard]] const core::schedule::Hierarchy& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::int32_t>& node_of() const { return node_of_; }  // by rank; 0 .. node_count()-1
  [[nodiscard]] int node_count() const { return node_count_; }
  [[nodiscard]] MPI_Comm node_comm() const { return node_comm_.get(); }  // ranks of this node, in rank order

  // Shared memory of this node; null on all ranks where some node could have none. Made at the first use, collectively.
  [[nodiscard]] NodeTeam* node_team();
  [[nodiscard]] Chooser& chooser();

  // For one operation: different from those of all operations that may still be under way. Called once an operation, in
  // the same order on all ranks.
  int next_tag();

 private:
  Communicator comm_;
  Communicator node_comm_;
  int rank_ = 0;
  int size_ = 1;
  int node_count_ = 1;
  int tag_ = 0;
  core::schedule::Hierarchy machine_;
  core::schedule::Hierarchy nodes_;
  std::vector<std::int32_t> node_of_;
};

}  // namespace ranktree::mpi::collect
