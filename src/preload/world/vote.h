// Decisions that all ranks take alike: whoever cannot do what was asked for tells the others before anybody waits for
// it.
#pragma once

#include <mpi.h>

#include <array>
#include <exception>
#include <string_view>

namespace ranktree::preload {

// Why something is not done, in a text of its own: kept where memory has ended, too.
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
  } catch (const std::exception& error) {
    return Reason(error.what());
  } catch (...) {
    return Reason("an unknown error");
  }
}

// What one rank brings to a decision.
struct Ballot {
  const char* variable = nullptr;  // that asks for it
  bool wanted = false;             // by this rank
  Reason obstacle;                 // why this rank cannot do it
};

// Collective over `comm`: whether all ranks want it and nothing is in the way on any. Where some want it in vain, the
// lowest rank with RANKTREE_VERBOSE=1 says "<what>: rank R: <why>", R being the lowest that is in the way.
bool all_agree(MPI_Comm comm, const char* what, const Ballot& own) noexcept;

}  // namespace ranktree::preload
