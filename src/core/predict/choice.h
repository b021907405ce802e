// A variant of one collective operation, as the chooser selects it, rules store it and logs print it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/schedule/makers.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {

enum class Variant : std::uint8_t {
  kNative,    // the native call
  kMessages,  // a schedule by point-to-point messages
  kShared,    // inside a node by shared memory, a schedule of the leaders across nodes; segments overlap
  kLevels     // native collectives on the communicators of each level (hier-bcast-2014 §3 as printed)
};

struct Choice {
  Variant variant = Variant::kNative;
  // kMessages: over the hierarchy. kShared: its first algorithm runs across nodes, with its segment; the form is
  // not used. Segments are in bytes here (kMessages rounds them down to whole elements, at least one).
  schedule::Composition composition;
  // kMessages and kLevels: 0 for the machine's levels, 1 for no hierarchy, G > 1 for G runs of consecutive ranks.
  schedule::Rank groups = 0;
  // Compares only the fields that the variant uses.
  bool operator==(const Choice&) const;
};

// "native", "messages:binomial/flat:form=lanes:segment=32K:groups=4", "shared:binomial:segment=128K",
// "levels:groups=4". Segment and groups are omitted when 0; an omitted form is the collective's default_form(); sizes
// accept K, M, G (powers of 1024).
std::string to_text(const Choice& choice);

// Throws Error(kInput) naming the field, what was expected and what was found.
Choice choice_from_text(std::string_view text, schedule::Collective collective);

}  // namespace ranktree::core::predict
