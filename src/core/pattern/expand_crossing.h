// Collective calls on intercommunicators.
#pragma once

#include "core/pattern/expand.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {

// Of an intercommunicator, where data goes from `members` to `remote`: how many ranks a record counts the calls of,
// which are the root and the other group, without a root the first group; and what it sends. With a root, `members` is
// the root's group. Throws Error(kInput) when the root is not in that group.
Rank callers_of(const CollectiveCalls& record, const Communicator& communicator);
void expand_crossing(CollectiveModel model, const CollectiveCalls& record, const Communicator& communicator,
                     Collector& collector);

}  // namespace ranktree::core::pattern::expansion
