// Where the calling process may run, asked of the kernel: what is really so, whatever launchers or hwloc's environment
// variables claim.
#pragma once

#include <string>
#include <vector>

namespace ranktree::hw {

// The host's own name. Throws core::Error(kSystem).
std::string host_here();

// The PUs of the calling thread's affinity mask, ascending. Throws core::Error(kSystem).
std::vector<int> pus_here();

// The PUs this process could be bound to (the host's, less what its cpuset forbids) by core, ascending. The process's
// own mask is left as it is.
std::vector<std::vector<int>> cores_here();

}  // namespace ranktree::hw
