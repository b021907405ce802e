#include "preload/world/library.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "preload/calls_library.h"
#include "preload/world/reason.h"

namespace ranktree::preload {
namespace {

Library load() {
  Library library;
  const CallsLibrary calls("ranktree_Comm_reorder");
  if (!calls.missing().empty()) {
    library.missing = Reason(calls.missing().c_str());
    return library;
  }
  calls.find("ranktree_Cart_create", library.cart_create);
  calls.find("ranktree_Comm_get_info", library.get_info);
  calls.find("ranktree_Comm_get_message", library.message);
  const bool reads = calls.find("ranktree_read_pattern", library.read_pattern);
  if (!calls.find("ranktree_Comm_reorder", library.reorder) || !reads) {
    library.missing = Reason(RANKTREE_CALLS_LIBRARY ": no ranktree_Comm_reorder");
  }
  return library;
}

}  // namespace

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
