// Where the calling process may run, from the kernel: the actual state, whatever launchers or hwloc's environment
// variables claim.
#pragma once

#include <string>
#include <vector>

namespace ranktree::hw {

// The name of this host. Throws core::Error(kSystem).
std::string host_here();

// The PUs of the calling thread's affinity mask, ascending. Throws core::Error(kSystem).
std::vector<int> pus_here();

// The PUs that this process could be bound to (the host's without those its cpuset forbids), by core, ascending. The
// process's own mask does not change.
std::vector<std::vector<int>> cores_here();

}  // namespace ranktree::hw
