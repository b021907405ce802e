#include "mpi/collect/packing.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/check.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/types.h"
#include "mpi/handle.h"

namespace ranktree::mpi::collect {
namespace {

// MPI counts what is packed in ints.
constexpr std::int64_t kMostPacked = 1073741824;

std::int64_t elements_at_once(const TypeLayout& layout, std::int64_t bytes) {
  return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, layout.size));
}

// Where elements are, as MPI_Pack wants to be told. MPICH takes no null pointer there, which MPI_BOTTOM is: a type of
// absolute addresses is then told from its first byte on.
class Place {
 public:
  Place(const void* buffer, MPI_Datatype type)
      : buffer_(const_cast<std::byte*>(static_cast<const std::byte*>(buffer))), type_(type) {
    if (buffer != nullptr) return;
    MPI_Aint begin = 0;
    MPI_Aint extent = 0;
    check(PMPI_Type_get_true_extent(type, &begin, &extent), "MPI_Type_get_true_extent");
    const int one = 1;
    const MPI_Aint back = -begin;
    check(PMPI_Type_create_hindexed(1, &one, &back, type, moved_.receive()), "MPI_Type_create_hindexed");
    check(PMPI_Type_commit(moved_.receive()), "MPI_Type_commit");
    buffer_ = reinterpret_cast<std::byte*>(begin);  // NOLINT(performance-no-int-to-ptr): what MPI_BOTTOM means
    type_ = moved_.get();
  }
  [[nodiscard]] std::byte* buffer() const { return buffer_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  std::byte* buffer_;
  MPI_Datatype type_;
  Datatype moved_;
};

}  // namespace

void pack(const void* from, std::int64_t count, MPI_Datatype type, const TypeLayout& layout, std::byte* into) {
  if (count == 0 || layout.size == 0) return;
  if (layout.plain) {
    std::memcpy(into, from, static_cast<std::size_t>(count * layout.size));
    return;
  }
  const Place place(from, type);
  const std::int64_t most = elements_at_once(layout, kMostPacked);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    int position = 0;
    check(PMPI_Pack(place.buffer() + done * layout.extent, static_cast<int>(part), place.type(),
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
  const Place place(into, type);
  const std::int64_t most = elements_at_once(layout, kMostPacked);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    int position = 0;
    check(PMPI_Unpack(from + done * layout.size, static_cast<int>(part * layout.size), &position,
                      place.buffer() + done * layout.extent, static_cast<int>(part), place.type(), MPI_COMM_SELF),
          "MPI_Unpack");
  }
}

void copy(const void* from, void* into, std::int64_t count, MPI_Datatype type, const TypeLayout& layout) {
  if (layout.plain) {
    std::memcpy(into, from, static_cast<std::size_t>(count * layout.size));
    return;
  }
  constexpr std::int64_t kPart = 65536;
  const std::int64_t most = std::min(count, elements_at_once(layout, kPart));
  const Memory packed = allocate(static_cast<std::size_t>(most * layout.size));
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    pack(static_cast<const std::byte*>(from) + done * layout.extent, part, type, layout, packed.get());
    unpack(packed.get(), static_cast<std::byte*>(into) + done * layout.extent, part, type, layout);
  }
}

}  // namespace ranktree::mpi::collect
