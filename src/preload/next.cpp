#include "preload/next.h"

#include <dlfcn.h>

namespace ranktree::preload {

void* next_symbol(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

}  // namespace ranktree::preload
