// Whether calls may pass buffers in the memory of a GPU, which MPIs built for it accept and this library does not.
#pragma once

namespace ranktree::mpi::collect {

// This process uses a GPU: a device of CUDA has an active primary context, or the runtime of HIP or SYCL is loaded.
// That libcuda is loaded is no sign of it: hwloc, UCX and MPIs load it on every node that has it. Local, O(libraries).
bool may_have_device_buffers() noexcept;

}  // namespace ranktree::mpi::collect
