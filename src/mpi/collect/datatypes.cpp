#include "mpi/collect/datatypes.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/envelope.h"
#include "mpi/handle.h"
#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Collective;

template <typename Handle>
bool among(Handle handle, std::initializer_list<Handle> handles) {
  return std::find(handles.begin(), handles.end(), handle) != handles.end();
}

bool is_integer(MPI_Datatype type) {
  return among<MPI_Datatype>(
      type, {MPI_INT,           MPI_LONG,        MPI_SHORT,         MPI_UNSIGNED,       MPI_UNSIGNED_LONG,
             MPI_LONG_LONG_INT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG_LONG,
             MPI_INT8_T,        MPI_INT16_T,     MPI_INT32_T,       MPI_INT64_T,        MPI_UINT8_T,
             MPI_UINT16_T,      MPI_UINT32_T,    MPI_UINT64_T,      MPI_INTEGER,        MPI_INTEGER1,
             MPI_INTEGER2,      MPI_INTEGER4,    MPI_INTEGER8});
}

bool is_real(MPI_Datatype type) {
  return among<MPI_Datatype>(
      type, {MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
}

bool is_address(MPI_Datatype type) { return among<MPI_Datatype>(type, {MPI_AINT, MPI_OFFSET, MPI_COUNT}); }

bool is_complex(MPI_Datatype type) {
  return among<MPI_Datatype>(type, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COMPLEX,
                                    MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16});
}

bool is_logical(MPI_Datatype type) { return among<MPI_Datatype>(type, {MPI_C_BOOL, MPI_LOGICAL}); }

bool is_pair(MPI_Datatype type) {
  return among<MPI_Datatype>(type, {MPI_DOUBLE_INT, MPI_2INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT,
                                    MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER});
}

bool is_of_mpi(MPI_Op op) {
  return among<MPI_Op>(op, {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,
                            MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP});
}

// A type that no program can free.
bool is_basic(int combiner) {
  return among<int>(combiner,
                    {MPI_COMBINER_NAMED, MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER});
}

// In memory as it is packed. `combiner` is not a basic type's.
bool repeats_plain(MPI_Datatype type, const Envelope& envelope) {
  const auto& [combiner, numbers, large] = envelope;
  if (large || (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP)) return false;
  std::array<int, 1> integers{};
  std::array<MPI_Aint, 1> addresses{};
  std::array<MPI_Datatype, 1> types{MPI_DATATYPE_NULL};
  check(
      PMPI_Type_get_contents(type, numbers[0], numbers[1], numbers[2], integers.data(), addresses.data(), types.data()),
      "MPI_Type_get_contents");
  Envelope inner;
  check(query_envelope(types[0], inner), "MPI_Type_get_envelope");
  if (is_basic(inner.combiner)) return layout_of(types[0]).plain;
  const Datatype owned(types[0]);
  return repeats_plain(types[0], inner);  // NOLINT(misc-no-recursion): as deep as the type was made
}

// Types that no program frees: a thread remembers them. An MPI frees those of a chosen precision with its last session.
struct BasicType {
  MPI_Datatype type{};
  bool known = false;
  TypeLayout layout;
};

TypeLayout read_layout(MPI_Datatype type) {
  TypeLayout layout;
  layout.size = size_of(type);
  MPI_Aint lower = 0;
  check(PMPI_Type_get_extent(type, &lower, &layout.extent), "MPI_Type_get_extent");
  check(PMPI_Type_get_true_extent(type, &layout.true_lower, &layout.true_extent), "MPI_Type_get_true_extent");
  Envelope envelope;
  check(query_envelope(type, envelope), "MPI_Type_get_envelope");
  layout.named = envelope.combiner == MPI_COMBINER_NAMED;
  if (lower != 0 || layout.true_lower != 0 || layout.size != layout.extent || layout.size != layout.true_extent) {
    return layout;
  }
  layout.plain = is_basic(envelope.combiner) || repeats_plain(type, envelope);
  return layout;
}

}  // namespace

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  check(PMPI_Type_size_x(type, &size), "MPI_Type_size_x");
  return size;
}

TypeLayout layout_of(MPI_Datatype type) {
  constexpr std::size_t kSlots = 16;
  thread_local std::array<BasicType, kSlots> basics;
  BasicType& slot = basics[slot_of<kSlots>(type)];
  if (slot.known && slot.type == type) return slot.layout;
  const TypeLayout layout = read_layout(type);
  if (layout.named) slot = {type, true, layout};
  return layout;
}

bool can_reduce(MPI_Op op, MPI_Datatype type) {
  if (!is_of_mpi(op)) return true;
  if (among<MPI_Op>(op, {MPI_SUM, MPI_PROD})) {
    return is_integer(type) || is_real(type) || is_complex(type) || is_address(type);
  }
  if (among<MPI_Op>(op, {MPI_MAX, MPI_MIN})) return is_integer(type) || is_real(type) || is_address(type);
  if (among<MPI_Op>(op, {MPI_LAND, MPI_LOR, MPI_LXOR})) return is_integer(type) || is_logical(type);
  if (among<MPI_Op>(op, {MPI_BAND, MPI_BOR, MPI_BXOR})) return is_integer(type) || is_address(type) || type == MPI_BYTE;
  return among<MPI_Op>(op, {MPI_MAXLOC, MPI_MINLOC}) && is_pair(type);
}

bool is_commutative(MPI_Op op) {
  int commutes = 0;
  check(PMPI_Op_commutative(op, &commutes), "MPI_Op_commutative");
  return commutes != 0;
}

namespace {

// MPI counts what is packed in ints.
constexpr std::int64_t kMostPacked = 1073741824;

std::int64_t elements_at_once(const TypeLayout& layout, std::int64_t bytes) {
  return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, layout.size));
}

// The address of elements as MPI_Pack needs it. MPICH takes no null pointer there, and MPI_BOTTOM is one: a type of
// absolute addresses is then shifted to begin at its first byte.
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
