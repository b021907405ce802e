// Copies between a caller's memory and shared memory.
#pragma once

#include <cstddef>
#include <cstring>

namespace ranktree::core::shared {

// The two do not overlap, or are the same.
inline void copy_bytes(std::byte* into, const std::byte* from, std::size_t bytes) {
  if (bytes > 0 && into != from) std::memcpy(into, from, bytes);
}

}  // namespace ranktree::core::shared
