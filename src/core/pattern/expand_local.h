// Calls within one group, by any model, and the mean call that represents a record.
#pragma once

#include <cstdint>

#include "core/pattern/expand.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {

// The largest of the usual element sizes that divides the message.
std::int64_t likely_element(std::int64_t bytes);

// The call that represents a record of `callers` ranks; the weight preserves the record's total.
struct MeanCall {
  MeanCall(const CollectiveCalls& record, Rank callers);

  Weight weight;
  std::int64_t bytes = 0;
};

// What a call on an intracommunicator sends.
void expand_local(CollectiveModel model, Operation operation, const Call& call, const Sends& sends);

}  // namespace ranktree::core::pattern::expansion
