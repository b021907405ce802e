#include <memory>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/run.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::collect {

bool can_share(Context& /*context*/, const Operation& /*operation*/, const core::predict::Choice& /*choice*/) {
  return false;
}

std::unique_ptr<Running> start_shared(const std::shared_ptr<Context>& /*context*/, const Operation& /*operation*/,
                                      const core::predict::Choice& /*choice*/) {
  throw core::Error(core::Fault::kUnsupported, "collectives have no shared memory");
}

}  // namespace ranktree::mpi::collect
