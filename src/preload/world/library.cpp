#include "preload/world/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "preload/next.h"

namespace ranktree::preload {
namespace {

// The program's own copy where it has one, linked or loaded: attributes belong to the library that made them.
// RTLD_DEFAULT is a null pointer.
std::optional<void*> open_library() {
  if (dlsym(RTLD_DEFAULT, "ranktree_Comm_reorder") != nullptr) return RTLD_DEFAULT;
  void* const loaded = dlopen(RANKTREE_CALLS_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  if (loaded != nullptr) return loaded;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&Library::instance), &own) == 0) return {};
  const std::string path(own.dli_fname);
  const std::string beside = path.substr(0, path.rfind('/') + 1) + RANKTREE_CALLS_LIBRARY;
  void* const opened = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened != nullptr) return opened;
  say(std::string(dlerror()));  // NOLINT(concurrency-mt-unsafe)
  return {};
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Library load() {
  Library library;
  const std::optional<void*> handle = open_library();
  if (!handle) return library;
  find(*handle, "ranktree_read_pattern", library.read_pattern);
  find(*handle, "ranktree_Comm_reorder", library.reorder);
  find(*handle, "ranktree_Cart_create", library.cart_create);
  find(*handle, "ranktree_Comm_get_info", library.get_info);
  find(*handle, "ranktree_Comm_get_message", library.message);
  return library;
}

}  // namespace

void* next_symbol(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

std::string setting(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read when MPI starts
  return value == nullptr ? std::string() : std::string(value);
}

void say(const std::string& line) noexcept {
  try {
    if (setting("RANKTREE_VERBOSE") != "1") return;
    const std::string text = "ranktree: " + line + "\n";
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody to tell
  }
}

const Library& Library::instance() noexcept {
  static const Library library = [] {
    try {
      return load();
    } catch (...) {  // no memory: as if it were not there
      return Library{};
    }
  }();
  return library;
}

}  // namespace ranktree::preload
