#include "preload/world/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "preload/next.h"
#include "preload/world/reason.h"

namespace ranktree::preload {
namespace {

// The program's own copy where it has one, linked or loaded: attributes belong to the library that made them.
// RTLD_DEFAULT is a null pointer.
std::optional<void*> open_library(Reason& missing) {
  if (dlsym(RTLD_DEFAULT, "ranktree_Comm_reorder") != nullptr) return RTLD_DEFAULT;
  void* const loaded = dlopen(RANKTREE_CALLS_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  if (loaded != nullptr) return loaded;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&Library::instance), &own) == 0) return {};
  const std::string path(own.dli_fname);
  const std::string beside = path.substr(0, path.rfind('/') + 1) + RANKTREE_CALLS_LIBRARY;
  void* const opened = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened != nullptr) return opened;
  const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe)
  missing = Reason(why != nullptr ? why : RANKTREE_CALLS_LIBRARY " is missing");
  return {};
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Library load() {
  Library library;
  const std::optional<void*> handle = open_library(library.missing);
  if (!handle) return library;
  find(*handle, "ranktree_read_pattern", library.read_pattern);
  find(*handle, "ranktree_Comm_reorder", library.reorder);
  find(*handle, "ranktree_Cart_create", library.cart_create);
  find(*handle, "ranktree_Comm_get_info", library.get_info);
  find(*handle, "ranktree_Comm_get_message", library.message);
  if (library.read_pattern == nullptr || library.reorder == nullptr) {
    library.missing = Reason(RANKTREE_CALLS_LIBRARY ": no ranktree_Comm_reorder");
  }
  return library;
}

}  // namespace

void* next_symbol(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

const char* setting(const char* name) noexcept {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read when MPI starts
  return value == nullptr ? "" : value;
}

bool is_set(const char* name) noexcept { return *setting(name) != '\0'; }

bool is_verbose() noexcept { return std::string_view(setting("RANKTREE_VERBOSE")) == "1"; }

// In one write, so that lines of several ranks do not mix; without memory of its own, which may have ended.
void say(const char* what, const char* text) noexcept {
  if (!is_verbose()) return;
  std::array<char, 1280> line{};
  const int written = std::snprintf(line.data(), line.size(), "ranktree: %s: %.1100s\n", what, text);
  if (written <= 0) return;
  if (write(STDERR_FILENO, line.data(), std::min(static_cast<std::size_t>(written), line.size() - 1)) < 0) return;
}

const Library& Library::instance() noexcept {
  static const Library library = [] {
    try {
      return load();
    } catch (...) {  // no memory: as if it were not there
      Library none;
      none.missing = Reason("out of memory");
      return none;
    }
  }();
  return library;
}

}  // namespace ranktree::preload
