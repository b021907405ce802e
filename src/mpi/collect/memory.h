// Memory without content: what std::vector would fill with zeros first.
#pragma once

#include <cstddef>
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

}  // namespace ranktree::mpi::collect
