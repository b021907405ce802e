// Whether calls may pass buffers in the memory of a GPU, which MPIs built for it accept and this library does not.
#pragma once

namespace ranktree::mpi::collect {

// This process uses a GPU: a device of CUDA or HIP has an active primary context, the calling thread has a context of
// CUDA, or the runtime of SYCL is loaded. That a driver is loaded is no sign of it: hwloc, UCX and MPIs load those on
// every node that has them. Local, O(libraries).
bool may_have_device_buffers() noexcept;

}  // namespace ranktree::mpi::collect
