// Collective calls on intercommunicators.
#pragma once

#include "core/pattern/expand.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {

// How many ranks' calls a record counts: all members'; of an intercommunicator the root's and the other group's,
// without a root the first group's.
Rank callers_of(const CollectiveCalls& record, const Communicator& communicator);

// What one record of an intercommunicator sends. Data goes from `members` to `remote`; with a root, `members` is the
// root's group. Throws Error(kInput) when the root is not in that group.
void expand_crossing(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator,
                     Collector& collector);

}  // namespace ranktree::core::pattern::expansion
