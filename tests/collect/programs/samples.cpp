#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "samples.h"

namespace {

constexpr int kCanary = 64;
constexpr unsigned char kFill = 0xA5;

// The kinds that user operations have to look up, since MPI passes them a type only.
const Kind& kind_of(MPI_Datatype type) {
  static std::vector<Kind> known;
  const auto found = std::find_if(known.begin(), known.end(), [type](const Kind& kind) { return kind.type == type; });
  if (found != known.end()) return *found;
  Kind kind{type, {}, 0, 0, 0};
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  kind.extent = static_cast<int>(extent);
  // Unpacking numbered ints shows where the type has them.
  int size = 0;
  MPI_Type_size(type, &size);
  const int ints = size / 4;
  std::vector<std::int32_t> packed(static_cast<std::size_t>(ints));
  constexpr int kSpace = 256;
  for (int i = 0; i < ints; ++i) packed[static_cast<std::size_t>(i)] = 0x01010101 * (i + 1);
  Bytes space(kSpace, 0);
  int position = 0;
  MPI_Unpack(packed.data(), size, &position, space.data() + kSpace / 2, 1, type, MPI_COMM_SELF);
  kind.ints.resize(packed.size());
  for (int at = 0; at < kSpace; ++at) {
    if (space[static_cast<std::size_t>(at)] == 0) continue;
    kind.ints[static_cast<std::size_t>(space[static_cast<std::size_t>(at)]) - 1] = at - kSpace / 2;
    at += 3;
  }
  known.push_back(kind);
  return known.back();
}

template <typename Combine>
void each_int(const void* in, void* into, const int* length, MPI_Datatype type, const Combine& combine) {
  const Kind& kind = kind_of(type);
  for (int element = 0; element < *length; ++element) {
    for (const int offset : kind.ints) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(element) * kind.extent + offset;
      std::uint32_t left = 0;
      std::uint32_t right = 0;
      std::memcpy(&left, static_cast<const char*>(in) + at, 4);
      std::memcpy(&right, static_cast<char*>(into) + at, 4);
      right = combine(left, right);
      std::memcpy(static_cast<char*>(into) + at, &right, 4);
    }
  }
}

void add(void* in, void* into, int* length, MPI_Datatype* type) {
  each_int(in, into, length, *type, [](std::uint32_t a, std::uint32_t b) { return a + b + (a & b & 0U); });
}

// x -> a x + b in 16 bits each, the matrix (a b; 0 1): associative, and the order matters.
void compose(void* in, void* into, int* length, MPI_Datatype* type) {
  each_int(in, into, length, *type, [](std::uint32_t left, std::uint32_t right) {
    const std::uint32_t a = (left >> 16U) * (right >> 16U);
    const std::uint32_t b = (left >> 16U) * (right & 0xFFFFU) + left;
    return (a << 16U) | (b & 0xFFFFU);
  });
}

Kind described(MPI_Datatype type) {
  Kind kind = kind_of(type);
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_true_extent(type, &lower, &extent);
  kind.lower = static_cast<int>(lower);
  kind.upper = static_cast<int>(lower + extent);
  return kind;
}

Kind committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return described(type);
}

}  // namespace

Kinds::Kinds() {
  of_ints_.push_back(described(MPI_INT));
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT, &made);
  of_ints_.push_back(committed(made));
  MPI_Type_vector(3, 2, 4, MPI_INT, &made);
  of_ints_.push_back(committed(made));
  MPI_Type_create_resized(MPI_INT, 0, 12, &made);
  of_ints_.push_back(committed(made));
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  const int lengths[] = {1, 2};
  const MPI_Aint places[] = {8, 16};
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &shifted);
  MPI_Type_create_resized(shifted, -4, 36, &made);
  MPI_Type_free(&shifted);
  of_ints_.push_back(committed(made));
  const int ones[] = {1, 1};
  const MPI_Aint swapped[] = {4, 0};
  MPI_Type_create_hindexed(2, ones, swapped, MPI_INT, &made);
  of_ints_.push_back(committed(made));
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(2, MPI_INT, &made);
  of_ints_.push_back(committed(made));
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(made, &copy);
  of_ints_.push_back(described(copy));
  MPI_Type_vector_c(2, 1, 3, MPI_INT, &made);
  of_ints_.push_back(committed(made));
#endif
  real_ = {MPI_DOUBLE, {}, 0, 8, 8};
  pair_ = {MPI_DOUBLE_INT, {}, 0, 12, 16};
  MPI_Op_create(add, 1, &commutative_);
  MPI_Op_create(compose, 0, &ordered_);
}

Kinds::~Kinds() {
  for (std::size_t i = 1; i < of_ints_.size(); ++i) MPI_Type_free(&of_ints_[i].type);
  MPI_Op_free(&commutative_);
  MPI_Op_free(&ordered_);
}

Area make_area(const Kind& kind, std::int64_t elements) {
  const std::int64_t span = elements * kind.extent;
  const int below = kCanary + std::max(0, -kind.lower);
  const int above = kCanary + std::max(0, kind.upper - kind.extent) + std::abs(kind.lower);
  Area area;
  area.bytes.assign(static_cast<std::size_t>(below + span + above), kFill);
  area.first = below;
  return area;
}

void fill(Area& area, const Kind& kind, std::int64_t elements, unsigned seed) {
  std::minstd_rand noise(seed * 2 + 1);
  auto* const base = static_cast<unsigned char*>(area.address());
  for (std::int64_t element = 0; element < elements; ++element) {
    unsigned char* const at = base + element * kind.extent;
    if (kind.ints.empty()) {
      const auto value = static_cast<double>(noise() % 17);
      std::memcpy(at, &value, sizeof value);
      const auto index = static_cast<int>(noise() % 5);
      if (kind.extent == 16) std::memcpy(at + 8, &index, sizeof index);
    }
    for (const int offset : kind.ints) {
      const auto value = static_cast<std::uint32_t>(noise());
      std::memcpy(at + offset, &value, sizeof value);
    }
  }
}

std::vector<bool> data_of(const Area& area, const Kind& kind, const std::vector<Run>& runs) {
  std::vector<bool> data(area.bytes.size(), false);
  const auto mark = [&](std::ptrdiff_t from, int count) {
    for (int i = 0; i < count; ++i) data[static_cast<std::size_t>(from + i)] = true;
  };
  for (const Run& run : runs) {
    for (std::int64_t element = run.first; element < run.first + run.count; ++element) {
      const std::ptrdiff_t at = area.first + element * kind.extent;
      if (kind.ints.empty()) mark(at, kind.upper);
      for (const int offset : kind.ints) mark(at + offset, 4);
    }
  }
  return data;
}
