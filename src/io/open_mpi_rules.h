// Rules in the format of Open MPI's coll/tuned, for programs that run without Ranktree. The format holds only base
// algorithms that Open MPI has too; its fixed decisions (algorithm 0) serve everything else.
//
// The message size of a rule is Open MPI's: that of all blocks together in collectives of blocks, so one rule cannot
// cover several numbers of ranks. Open MPI 4 and 5 do not know which nodes the ranks are on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/predict/choice.h"
#include "core/predict/rules.h"
#include "core/schedule/makers.h"

namespace ranktree::io {

// An algorithm by the number that coll_tuned_<collective>_algorithm of Open MPI 4.1 has for it.
struct OpenMpiAlgorithm {
  int number = 0;
  std::string_view name;
  int fan = 0;               // children of a chain or tree where Open MPI needs it
  std::int64_t segment = 0;  // bytes
};

// Returns nothing where Open MPI has no such algorithm.
std::optional<OpenMpiAlgorithm> open_mpi_algorithm(core::schedule::Collective collective,
                                                   const core::predict::Choice& choice);

// The text format of Open MPI 4 and 5 (coll_tuned_dynamic_rules_filename), in its first version.
std::string write_open_mpi_rules(const core::predict::Rules& rules);
// The JSON format of Open MPI 6.
std::string write_open_mpi_json(const core::predict::Rules& rules);

}  // namespace ranktree::io
