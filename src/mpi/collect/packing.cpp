#include "mpi/collect/packing.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/check.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/types.h"

namespace ranktree::mpi::collect {
namespace {

// MPI counts what is packed in ints.
constexpr std::int64_t kMostPacked = std::int64_t{1} << 30;

std::int64_t elements_at_once(const TypeLayout& layout, std::int64_t bytes) {
  return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, layout.size));
}

}  // namespace

void pack(const void* from, std::int64_t count, MPI_Datatype type, const TypeLayout& layout, std::byte* into) {
  if (count == 0 || layout.size == 0) return;
  if (layout.plain) {
    std::memcpy(into, from, static_cast<std::size_t>(count * layout.size));
    return;
  }
  const std::int64_t most = elements_at_once(layout, kMostPacked);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    int position = 0;
    check(PMPI_Pack(static_cast<const std::byte*>(from) + done * layout.extent, static_cast<int>(part), type,
                    into + done * layout.size, static_cast<int>(part * layout.size), &position, MPI_COMM_SELF),
          "MPI_Pack");
  }
}

void unpack(const std::byte* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout) {
  if (count == 0 || layout.size == 0) return;
  if (layout.plain) {
    std::memcpy(into, from, static_cast<std::size_t>(count * layout.size));
    return;
  }
  const std::int64_t most = elements_at_once(layout, kMostPacked);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    int position = 0;
    check(
        PMPI_Unpack(from + done * layout.size, static_cast<int>(part * layout.size), &position,
                    static_cast<std::byte*>(into) + done * layout.extent, static_cast<int>(part), type, MPI_COMM_SELF),
        "MPI_Unpack");
  }
}

void copy(const void* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout) {
  if (layout.plain) {
    std::memcpy(into, from, static_cast<std::size_t>(count * layout.size));
    return;
  }
  constexpr std::int64_t kPart = std::int64_t{1} << 16;
  const std::int64_t most = std::min(count, elements_at_once(layout, kPart));
  const Memory packed = allocate(static_cast<std::size_t>(most * layout.size));
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    pack(static_cast<const std::byte*>(from) + done * layout.extent, part, type, layout, packed.get());
    unpack(packed.get(), static_cast<std::byte*>(into) + done * layout.extent, part, type, layout);
  }
}

}  // namespace ranktree::mpi::collect
