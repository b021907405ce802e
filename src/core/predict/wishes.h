// What is wanted for each collective: the text of `ranktree run --collectives` and RANKTREE_COLL.
#pragma once

#include <array>
#include <string_view>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"

namespace ranktree::core::predict {

// For one collective.
struct Wish {
  bool automatic = false;
  Choice choice;  // where it is not automatic; native by default
};

using Wishes = std::array<Wish, schedule::kCollectives>;

// "auto", "native", a choice for all collectives that can have it (the others stay native), or entries separated by
// semicolons or spaces, `bcast=shared:binomial:segment=128K;allreduce=native;reduce=auto`: what is not named stays
// native unless there is an entry for `all`. An empty text is "auto". Throws Error(kInput) naming the entry or the
// choice, what was expected and what was found; of a choice for all that none can have, for a broadcast.
Wishes wishes_from_text(std::string_view text);

// Whether a text has the form of the above; otherwise it names a file of rules.
bool is_inline(std::string_view text);

}  // namespace ranktree::core::predict
