// The variants worth trying for one operation, cheapest by the model first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"

namespace ranktree::core::predict {

inline constexpr std::int64_t kLeastSegment = 1024;  // bytes; a smaller one is mostly header

struct Question {
  schedule::Collective collective = schedule::Collective::kBroadcast;
  std::int64_t bytes = 0;  // MPI's message: the whole vector, or one block in collectives of blocks
  bool commutative = true;
  bool shared_memory = false;  // Variant::kShared may be proposed
};

struct Candidate {
  Choice choice;
  double seconds = 0;  // by the model
  // For operations where the bytes between nodes matter: no variant moves fewer bytes, whatever the rank order.
  bool fewest_bytes = false;
  // For short broadcasts and reductions: all messages between a node and its children in the tree are in flight at
  // once, which takes one latency where the closed forms count one for each message.
  bool at_once = false;
};

// The variant through the memory of one node, where no other choice makes a difference; nothing where there is none.
std::optional<Choice> in_memory_of_node(schedule::Collective collective, bool commutative);

// At most `most`, cheapest first: the cheapest of each kind, then others. Never the native call, whose cost the model
// does not know. Deterministic. Takes milliseconds at most for any number of ranks: closed forms, and evaluation of
// schedules up to 16 ranks only. No algorithm appears twice with costs within 1 %. Where shared memory may be proposed,
// its best variant is always included, as is its best one with the fewest bytes between nodes. So is the best variant
// with all messages in flight at once. An expensive variant of another kind may be included.
std::vector<Candidate> candidates(const Question& question, const schedule::Hierarchy& machine,
                                  const Parameters& parameters, int most);

// From candidates that this communicator can run, cheapest first, the ones to try in the program's own calls: of
// different kinds as far as possible, none above 2.5x the cheapest except those that candidates() always includes.
std::vector<Candidate> worth_a_trial(std::span<const Candidate> possible, std::size_t most);

}  // namespace ranktree::core::predict
