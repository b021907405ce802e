#include "mpi/collect/this_thread.h"

#include <atomic>
#include <cstdint>

namespace ranktree::mpi::collect {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): as in the header
constinit std::atomic<std::uint64_t> context_generation{1};
constinit thread_local ThisThread this_thread;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace ranktree::mpi::collect
