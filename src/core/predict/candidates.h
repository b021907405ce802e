// The ways worth trying for one operation, cheapest by the model first.
#pragma once

#include <cstdint>
#include <vector>

#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"

namespace ranktree::core::predict {

struct Question {
  schedule::Collective collective = schedule::Collective::kBroadcast;
  std::int64_t bytes = 0;  // MPI's message: of the whole vector, or of one block where there are blocks
  bool commutative = true;
  bool shared_memory = false;  // Way::kShared may be proposed
};

struct Candidate {
  Choice choice;
  double seconds = 0;  // by the model
};

// At most `most`, never native (the model does not know what the MPI does). Deterministic. Milliseconds at most for
// any number of ranks: closed forms, evaluation of schedules only up to 64 ranks. No algorithm twice with costs within
// 1 %. Where shared memory may be proposed its best way is among them, whatever it costs.
std::vector<Candidate> candidates(const Question& question, const schedule::Hierarchy& machine,
                                  const Parameters& parameters, int most);

}  // namespace ranktree::core::predict
