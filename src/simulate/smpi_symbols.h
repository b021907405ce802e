// For functions that replace SimGrid's: how they are exported, and how they call the ones that they replace.
#pragma once

#include <dlfcn.h>

#define RANKTREE_SEEN __attribute__((visibility("default")))

namespace ranktree::simulate {

// The replaced function, by its mangled name.
template <class Function>
Function next(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

}  // namespace ranktree::simulate
