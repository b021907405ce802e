#include "preload/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ranktree::preload {

const char* setting(const char* name) noexcept {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread writes to it
  return value == nullptr ? "" : value;
}

bool is_set(const char* name) noexcept { return *setting(name) != '\0'; }

bool is_verbose() noexcept { return std::string_view(setting("RANKTREE_VERBOSE")) == "1"; }

// In one write, so that lines of several ranks do not mix; without allocating, since memory may be exhausted.
void print_verbose(const char* what, const char* text) noexcept {
  if (!is_verbose()) return;
  std::array<char, 1280> line{};
  const int written = std::snprintf(line.data(), line.size(), "ranktree: %s: %.1100s\n", what, text);
  if (written <= 0) return;
  if (write(STDERR_FILENO, line.data(), std::min(static_cast<std::size_t>(written), line.size() - 1)) < 0) return;
}

}  // namespace ranktree::preload
