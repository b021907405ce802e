#include "mpi/collect/thread_state.h"

#include <atomic>
#include <cstdint>

namespace ranktree::mpi::collect {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<std::uint64_t> context_generation{1};
constinit thread_local ThreadState thread_state;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace ranktree::mpi::collect
