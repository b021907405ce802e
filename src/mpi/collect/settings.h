// The settings of RANKTREE_COLL, RANKTREE_COLL_PARAMETERS and RANKTREE_REPRODUCIBLE: rank 0's on all ranks of a
// communicator.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/predict/rules.h"
#include "core/schedule/makers.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/environment.h"

namespace ranktree::mpi::collect {

// For one collective.
struct Wish {
  bool automatic = false;
  core::predict::Choice choice;  // where it is not automatic; native by default
};

using Wishes = std::array<Wish, kCollectives>;

// "auto", "native", a choice for all collectives that can have it (the others stay native), or entries separated by
// semicolons or spaces, `bcast=shared:binomial:segment=128K;allreduce=native;reduce=auto`: what is not named stays
// native unless there is an entry for `all`. An empty text is "auto". Throws Error(kInput).
Wishes wishes_from_text(std::string_view text);

// Whether RANKTREE_COLL has the form of the above; otherwise it names a file of rules.
bool is_inline(std::string_view text);

struct Settings {
  Wishes wishes;                                        // where there is no file of rules
  std::optional<core::predict::Rules> rules;            // what none of them fits stays native
  std::optional<core::predict::Parameters> parameters;  // as they were measured; nothing without a file
  bool reproducible = false;                            // reductions have the same bits every time
  std::string known;                                    // what rank 0 knows of earlier decisions (select/learned.h)
  std::string message;                                  // what is wrong: then all calls stay native; or a warning
};

// Collective over `comm`. `known` is rank 0's. Throws MpiError, AgreedError.
Settings agreed_settings(MPI_Comm comm, const Environment& own, const std::string& known);

}  // namespace ranktree::mpi::collect
