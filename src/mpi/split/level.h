// One level of the hierarchy made: the communicators of the parts that all ranks have agreed on (hsplit-2018 §4.1,
// Algorithms 1 and 2).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "mpi/attribute.h"
#include "mpi/handle.h"
#include "mpi/split/options.h"

namespace ranktree::mpi {

// The calling rank in a communicator that is being split.
struct Caller {
  bool takes_part = true;
  SplitOptions options;
  core::split::Chain chain;
  core::split::Member member;
  Annotation annotation;  // the communicator's
  Communicator node;      // the ranks of this node, ordered by key, when this call has queried MPI
};

// What this rank gets: null where it has no part, or is no root.
struct Level {
  Communicator part;
  Communicator roots;
};

// This rank's share of a division into parts.
struct Share {
  std::uint64_t code = 0;  // its part's
  std::string type;        // the name of what the part stands for
};

// Below the beginning that all chains share. `all` is the merge of every rank's summarize(chain).
Share share_of_level(const Caller& caller, const core::split::Summary& all);

// Collective over `comm`: makes the parts, with their annotations, and the communicator of their roots if `with_roots`.
// One MPI_Comm_split (none where the parts are the nodes that MPI has just returned), one more for the roots. More than
// kMaxSiblings parts cost up to three MPI_Comm_split and a scan. Throws MpiError.
Level make_level(MPI_Comm comm, Caller& caller, const core::split::Summary& all, const Share& share, bool with_roots);

}  // namespace ranktree::mpi
