// The environment variables of collectives (docs/how-to/serve-collectives.md), read once by each library of a process.
#pragma once

#include <string>

namespace ranktree::mpi::collect {

struct Environment {
  std::string collectives;    // RANKTREE_COLL
  std::string parameters;     // RANKTREE_COLL_PARAMETERS
  std::string log;            // RANKTREE_COLL_LOG
  std::string cache;          // RANKTREE_COLL_CACHE
  std::string nonblocking;    // RANKTREE_COLL_NONBLOCKING
  bool host_buffers = false;  // RANKTREE_COLL_HOST_BUFFERS: no call passes a GPU's memory
  bool reproducible = false;  // RANKTREE_REPRODUCIBLE: anything but nothing and 0
  bool traces = false;        // RANKTREE_TRACE

  static Environment read();

  // An unmodified program's collectives are to be served.
  [[nodiscard]] bool wants_service() const { return !collectives.empty() && (collectives != "native" || reproducible); }
  // Its nonblocking ones, too, by a thread of ours.
  [[nodiscard]] bool wants_thread() const { return nonblocking == "thread"; }
};

}  // namespace ranktree::mpi::collect
