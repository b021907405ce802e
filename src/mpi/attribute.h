// What ranktree knows of a communicator, kept with it as an MPI attribute: gone with MPI_Comm_free, kept by
// MPI_Comm_dup.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/split/chain.h"
#include "mpi/split/options.h"
#include "mpi/text.h"

namespace ranktree::mpi {

// A communicator made by a split (hsplit-2018 §3.3.1).
struct LevelInfo {
  int count = 1;  // communicators made from the same parent in the same call
  int index = 0;  // which of them this is
  std::string type = "Unknown";
};

// What MPI_COMM_TYPE_SHARED said of the calling rank.
struct SharedNode {
  std::int64_t id = 0;        // equal on ranks of one node, within this communicator and all made from it
  std::uint32_t host = 0;     // a hash of the host's name, 0 where it is not known
  bool host_differs = false;  // the host's name is not that of the node's first rank
};

// The switches above the calling rank, as `source` has them.
struct Network {
  std::string source;
  core::split::Chain switches;
};

// What reordering did to make a communicator (include/ranktree/mpi.h, ranktree_Comm_get_info).
struct ReorderRecord {
  std::string_view mode = "identity";  // how the order was found; a constant
  Text reason;                         // why no rank has changed, empty where some has
  std::optional<double> before;        // hops x weight, nothing where it was not computed
  std::optional<double> after;
};

// Bytes between the calling process and others since MPI began, by ranktree_traced_pair::process.
using Traffic = std::map<std::int64_t, std::uint64_t>;

struct Annotation {
  std::optional<SharedNode> node;
  std::shared_ptr<const Network> network;
  std::shared_ptr<const LevelInfo> level;
  std::shared_ptr<const ReorderRecord> reordering;
  std::shared_ptr<const SplitOptions> options;  // of the last split: questions are answered by the same rules
  std::shared_ptr<const Traffic> traffic;       // when rebalancing last looked
  std::string message;                          // the reason of the last error, or a warning
  bool changed = false;                         // since it was read
};

// A copy, empty when nothing is known. Throws MpiError.
Annotation get_annotation(MPI_Comm comm);

// Replaces it. Throws MpiError; nothing is allocated but by the MPI.
void set_annotation(MPI_Comm comm, std::unique_ptr<Annotation> annotation);

// The same with an allocation. Throws MpiError, std::bad_alloc.
void set_annotation(MPI_Comm comm, Annotation annotation);

// Sets the message, and notes whether that was a change.
void set_message(Annotation& annotation, std::string_view message);

}  // namespace ranktree::mpi
