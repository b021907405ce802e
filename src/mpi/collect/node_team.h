// The shared memory of the ranks of one node, for one communicator: owner of the segment over which
// core::shared::Team (core/shared/team.h) works.
#pragma once

#include <memory>

namespace ranktree::mpi::collect {

class Context;

class NodeTeam {
 public:
  // Collective over the context's communicator: null on all ranks where one node could not have the memory (a small
  // /dev/shm: posix_fallocate says so, nothing gets SIGBUS later). Throws MpiError.
  static std::unique_ptr<NodeTeam> make(Context& context);
  ~NodeTeam();

 private:
  NodeTeam();
};

}  // namespace ranktree::mpi::collect
