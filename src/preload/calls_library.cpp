#include "preload/calls_library.h"

#include <dlfcn.h>

#include <string>

namespace ranktree::preload {
namespace {

std::string beside_this_library() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&beside_this_library), &own) == 0) return RANKTREE_CALLS_LIBRARY;
  const std::string path(own.dli_fname);
  return path.substr(0, path.rfind('/') + 1) + RANKTREE_CALLS_LIBRARY;
}

}  // namespace

CallsLibrary::CallsLibrary(const char* function) {
  if (dlsym(RTLD_NEXT, function) != nullptr) {
    handle_ = RTLD_NEXT;
    return;
  }
  handle_ = dlopen(RANKTREE_CALLS_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  if (handle_ == nullptr) handle_ = dlopen(beside_this_library().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): its text is the thread's own
  missing_ = why != nullptr ? why : RANKTREE_CALLS_LIBRARY " is missing";
}

}  // namespace ranktree::preload
