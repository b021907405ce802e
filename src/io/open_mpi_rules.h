// Rules in the words of Open MPI's coll/tuned, for programs that run without ranktree: only choices of a base algorithm
// that Open MPI has too can be said there; everything else is left to its fixed decisions (algorithm 0).
//
// The message size of a rule is Open MPI's: of all blocks together where there are blocks, so that a rule for several
// numbers of ranks cannot be said. What nodes the ranks are on is not known to Open MPI 4 and 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/predict/choice.h"
#include "core/predict/rules.h"
#include "core/schedule/makers.h"

namespace ranktree::io {

// As coll_tuned_<collective>_algorithm of Open MPI 4.1 knows it.
struct OpenMpiAlgorithm {
  int number = 0;
  std::string_view name;
  int fan = 0;               // children of a chain or tree where Open MPI asks for it
  std::int64_t segment = 0;  // bytes
};

// Nothing where Open MPI has no such algorithm.
std::optional<OpenMpiAlgorithm> open_mpi_algorithm(core::schedule::Collective collective,
                                                   const core::predict::Choice& choice);

// The text format of Open MPI 4 and 5 (coll_tuned_dynamic_rules_filename), its first version.
std::string write_open_mpi_rules(const core::predict::Rules& rules);
// The JSON of Open MPI 6.
std::string write_open_mpi_json(const core::predict::Rules& rules);

}  // namespace ranktree::io
