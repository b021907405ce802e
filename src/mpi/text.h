// Short texts that need no memory, so that a failed allocation can still be reported.
#pragma once

#include <array>
#include <string_view>

namespace ranktree::mpi {

// Plain bytes, which may travel. What does not fit is cut.
class Text {
 public:
  Text() = default;
  explicit Text(std::string_view text) noexcept { text.copy(letters_.data(), letters_.size() - 1); }

  [[nodiscard]] bool empty() const noexcept { return letters_.front() == '\0'; }
  [[nodiscard]] const char* c_str() const noexcept { return letters_.data(); }
  [[nodiscard]] std::string_view view() const noexcept { return letters_.data(); }

 private:
  std::array<char, 1020> letters_{};
};

}  // namespace ranktree::mpi
