// The settings of RANKTREE_COLL, RANKTREE_COLL_PARAMETERS and RANKTREE_REPRODUCIBLE: rank 0's on all ranks of a
// communicator.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "core/predict/parameters.h"
#include "core/predict/rules.h"
#include "core/predict/wishes.h"
#include "mpi/collect/environment.h"

namespace ranktree::mpi::collect {

struct Settings {
  core::predict::Wishes wishes;                         // where there is no file of rules
  std::optional<core::predict::Rules> rules;            // what none of them fits stays native
  std::optional<core::predict::Parameters> parameters;  // as they were measured; nothing without a file
  bool reproducible = false;                            // reductions have the same bits every time
  std::string known;                                    // what rank 0 knows of earlier decisions (select/learned.h)
  std::string message;                                  // what is wrong: then all calls stay native; or a warning
};

// Collective over `comm`. `known` is rank 0's. Throws MpiError, AgreedError.
Settings agreed_settings(MPI_Comm comm, const Environment& own, const std::string& known);

}  // namespace ranktree::mpi::collect
