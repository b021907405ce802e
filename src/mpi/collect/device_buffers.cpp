#include "mpi/collect/device_buffers.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace ranktree::mpi::collect {
namespace {

struct Close {
  void operator()(void* library) const noexcept { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

// The loader's paths of loaded libraries; null where one is not loaded.
struct Runtimes {
  const char* cuda = nullptr;
  const char* hip = nullptr;
  bool sycl = false;
};

// The loader's lock is held: nothing is opened here.
int find_runtime(dl_phdr_info* library, std::size_t, void* found) noexcept {
  std::string_view name(library->dlpi_name == nullptr ? "" : library->dlpi_name);
  name = name.substr(name.rfind('/') + 1);
  auto& runtimes = *static_cast<Runtimes*>(found);
  if (name.starts_with("libcuda.so")) runtimes.cuda = library->dlpi_name;
  if (name.starts_with("libamdhip64.so")) runtimes.hip = library->dlpi_name;
  if (name.starts_with("libsycl.so")) runtimes.sycl = true;
  return 0;
}

Library opened(const char* path) noexcept {
  return Library(path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_NOLOAD));
}

template <typename Function>
Function* function(const Library& library, const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(library.get(), name));
}

// CUDA's driver and HIP have calls of one form. Those of CUDA fail before cuInit().
bool has_active_device(const Library& library, const char* count_name, const char* state_name) noexcept {
  if (!library) return false;
  auto* const count = function<int(int*)>(library, count_name);
  auto* const state = function<int(int, unsigned*, int*)>(library, state_name);
  int devices = 0;
  if (count == nullptr || state == nullptr || count(&devices) != 0) return false;
  for (int device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (state(device, &flags, &active) == 0 && active != 0) return true;
  }
  return false;
}

bool has_current_context(const Library& cuda) noexcept {
  if (!cuda) return false;
  auto* const current = function<int(void**)>(cuda, "cuCtxGetCurrent");
  void* context = nullptr;
  return current != nullptr && current(&context) == 0 && context != nullptr;
}

}  // namespace

bool may_have_device_buffers() noexcept {
  Runtimes found;
  dl_iterate_phdr(find_runtime, &found);
  if (found.sycl) return true;
  const Library cuda = opened(found.cuda);
  return has_current_context(cuda) || has_active_device(cuda, "cuDeviceGetCount", "cuDevicePrimaryCtxGetState") ||
         has_active_device(opened(found.hip), "hipGetDeviceCount", "hipDevicePrimaryCtxGetState");
}

}  // namespace ranktree::mpi::collect
