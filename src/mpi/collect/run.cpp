#include "mpi/collect/run.h"

#include <memory>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "mpi/collect/context.h"
#include "mpi/collect/levels.h"
#include "mpi/collect/messages.h"
#include "mpi/collect/native.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

using core::predict::Choice;
using core::predict::Way;

bool can_run(Context& context, const Operation& operation, const Choice& choice) {
  switch (choice.way) {
    case Way::kNative:
      return true;
    case Way::kShared:
      return can_share(context, operation, choice);
    case Way::kMessages:
      return can_message(context, operation, choice);
    case Way::kLevels:
      return can_level(context, operation, choice);
  }
  return false;
}

std::unique_ptr<Running> start(const std::shared_ptr<Context>& context, const Operation& operation,
                               const Choice& choice) {
  switch (choice.way) {
    case Way::kNative:
      return start_native(operation);
    case Way::kShared:
      return start_shared(context, operation, choice);
    case Way::kMessages:
      return start_messages(context, operation, choice);
    case Way::kLevels:
      return start_levels(context, operation, choice);
  }
  throw core::Error(core::Fault::kUnsupported, "a collective operation was begun in a way it does not have");
}

}  // namespace ranktree::mpi::collect
