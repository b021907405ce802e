// What tests of teams share: the memory, and sleeping as mpi/collect does it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "core/shared/team.h"
#include "mpi/collect/futex.h"

namespace ranktree::tests {

// Memory as the system gives it: zero, at the beginning of a page.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes), data_(new (kPage) std::byte[bytes]()) {}
  [[nodiscard]] std::span<std::byte> span() const { return {data_.get(), bytes_}; }

 private:
  static constexpr std::align_val_t kPage{4096};
  struct Free {
    void operator()(std::byte* data) const { operator delete[](data, kPage); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> data_;
};

// False once the time is over.
inline bool sleep(core::shared::Team& team, const core::shared::Awaited& awaited, std::chrono::microseconds most) {
  const core::shared::Team::Word word = team.announce_sleep(awaited);
  return mpi::collect::sleep_while(word.word, word.value, most);
}

}  // namespace ranktree::tests
