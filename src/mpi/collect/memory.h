// Memory without content: what std::vector would fill with zeros first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace ranktree::mpi::collect {

struct FreeMemory {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

// Aligned for anything; null for 0 bytes. Throws std::bad_alloc.
inline Memory allocate(std::size_t bytes) {
  if (bytes == 0) return {};
  Memory memory(static_cast<std::byte*>(std::malloc(bytes)));
  if (!memory) throw std::bad_alloc();
  return memory;
}

// How far behind an aligned address the lowest byte of an element must be, for the element's own address to be aligned:
// operations of the program's own read it as what it is.
inline std::size_t bytes_ahead(std::int64_t true_lower) {
  constexpr std::int64_t kAlignment = alignof(std::max_align_t);
  return static_cast<std::size_t>((true_lower % kAlignment + kAlignment) % kAlignment);
}

}  // namespace ranktree::mpi::collect
