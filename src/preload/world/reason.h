// Why something is not done.
#pragma once

#include <array>
#include <exception>
#include <new>
#include <string_view>

namespace ranktree::preload {

// A text of its own, empty where nothing is in the way: kept where memory has ended, too.
class Reason {
 public:
  Reason() = default;
  explicit Reason(std::string_view text) noexcept { text.copy(text_.data(), text_.size() - 1); }
  [[nodiscard]] bool empty() const noexcept { return text_[0] == '\0'; }
  [[nodiscard]] const char* text() const noexcept { return text_.data(); }
  [[nodiscard]] char* room() noexcept { return text_.data(); }
  [[nodiscard]] static constexpr int size() noexcept { return kSize; }

 private:
  static constexpr int kSize = 1024;
  std::array<char, kSize> text_{};
};

// What a local piece of work throws; empty where it ends well.
template <typename Work>
Reason reason_of(Work work) noexcept {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return Reason("out of memory");
  } catch (const std::exception& error) {
    return Reason(error.what());
  } catch (...) {
    return Reason("an unknown error");
  }
}

}  // namespace ranktree::preload
