#include "mpi/collect/node_team.h"

#include <memory>

namespace ranktree::mpi::collect {

NodeTeam::NodeTeam() = default;
NodeTeam::~NodeTeam() = default;

std::unique_ptr<NodeTeam> NodeTeam::make(Context& /*context*/) { return nullptr; }

}  // namespace ranktree::mpi::collect
