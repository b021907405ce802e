#include "mpi/collect/device_buffers.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace ranktree::mpi::collect {
namespace {

int is_runtime(dl_phdr_info* library, std::size_t, void* found) noexcept {
  std::string_view name(library->dlpi_name == nullptr ? "" : library->dlpi_name);
  name = name.substr(name.rfind('/') + 1);
  if (!name.starts_with("libamdhip64.so") && !name.starts_with("libsycl.so")) return 0;
  *static_cast<bool*>(found) = true;
  return 1;
}

struct Close {
  void operator()(void* library) const noexcept { dlclose(library); }
};

template <typename Function>
Function* function(void* library, const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// By the driver's interface, of which the runtime's own libraries are clients. Fails before cuInit().
bool has_cuda_context() noexcept {
  const std::unique_ptr<void, Close> driver(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD));
  if (!driver) return false;
  auto* const count = function<int(int*)>(driver.get(), "cuDeviceGetCount");
  auto* const state = function<int(int, unsigned*, int*)>(driver.get(), "cuDevicePrimaryCtxGetState");
  int devices = 0;
  if (count == nullptr || state == nullptr || count(&devices) != 0) return false;
  for (int device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (state(device, &flags, &active) == 0 && active != 0) return true;
  }
  return false;
}

}  // namespace

bool may_have_device_buffers() noexcept {
  bool found = false;
  dl_iterate_phdr(is_runtime, &found);
  return found || has_cuda_context();
}

}  // namespace ranktree::mpi::collect
