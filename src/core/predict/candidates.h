// The ways worth trying for one operation, cheapest by the model first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  // Of operations whose bytes between nodes count: no way moves fewer there, whatever the order of ranks.
  bool spares = false;
  // Of short broadcasts and reductions among few nodes: all messages between nodes are under way at the same time,
  // which takes one latency where the forms count one for each.
  bool at_once = false;
};

// At most `most`, cheapest first, never native (the model does not know what the MPI does): the cheapest of each kind,
// and then others. Deterministic. Milliseconds at most for any number of ranks: closed forms, evaluation of schedules
// only up to 16 ranks. No algorithm twice with costs within 1 %. Where shared memory may be proposed its best way is
// among them, whatever it costs, and the best one that spares bytes; so is the best one whose messages are all under
// way at once; a dear way of another kind may be, too.
std::vector<Candidate> candidates(const Question& question, const schedule::Hierarchy& machine,
                                  const Parameters& parameters, int most);

// Of candidates that can be carried out, cheapest first, those to be tried in the program's own calls: of different
// kinds as far as possible, none that costs 2.5 times the cheapest but those that candidates() has whatever they cost.
std::vector<Candidate> worth_a_trial(std::span<const Candidate> possible, std::size_t most);

}  // namespace ranktree::core::predict
