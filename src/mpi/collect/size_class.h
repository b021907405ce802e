// Calls of one kind: what the chooser decides on, in numbers that are equal on all ranks and quick to find. The preload
// library knows by them, without asking further, which calls stay the MPI's own.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/schedule/makers.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

inline constexpr std::size_t kCollectives = 9;
// Of operations: predefined, the user's commutative, the user's other ones; and any, where a count for each rank is
// given, which not every way can serve that serves equal blocks.
inline constexpr std::size_t kKinds = 4;
inline constexpr std::size_t kCounts = 3;   // as kind, of reductions: a count for each rank
inline constexpr std::size_t kUnknown = 1;  // as kind, of vector gathers: the sizes are not known to all ranks
inline constexpr std::size_t kSizes = 42;   // 0 bytes, then powers of two; the last has all beyond

// Of one communicator: who decides and who only looks both count down here.
struct Shortcuts {
  // So many calls of a kind from now are the MPI's own and need not be looked at; kForEver all.
  static constexpr std::uint32_t kForEver = UINT32_MAX;
  std::array<std::uint32_t, kCollectives * kKinds * kSizes> native{};
  std::array<std::uint64_t, kCollectives> calls{};  // made
  std::array<std::uint64_t, kCollectives> ours{};   // not by the MPI's own call
  const char* message = "";                         // what is wrong with the settings
};

inline std::size_t size_class(std::int64_t bytes) {
  if (bytes <= 0) return 0;
  return std::min(kSizes - 1, static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes))));
}

// The fewest bytes of a class but the first.
inline std::int64_t least_bytes(std::size_t size) { return static_cast<std::int64_t>(std::uint64_t{1} << (size - 1)); }

inline std::size_t kind_index(core::schedule::Collective collective, std::size_t kind, std::size_t size) {
  return (static_cast<std::size_t>(collective) * kKinds + kind) * kSizes + size;
}

inline bool is_predefined(MPI_Op op) {
  if (op == MPI_SUM || op == MPI_MAX || op == MPI_MIN) return true;
  return op == MPI_PROD || op == MPI_LAND || op == MPI_BAND || op == MPI_LOR || op == MPI_BOR || op == MPI_LXOR ||
         op == MPI_BXOR || op == MPI_MAXLOC || op == MPI_MINLOC;
}

inline std::size_t operation_kind(MPI_Op op) {
  if (is_predefined(op) || op == MPI_OP_NULL) return 0;
  int commutative = 0;
  if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS) return 2;
  return commutative != 0 ? 1 : 2;
}

inline std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) {
  // The MPI takes longer to tell than all else that a call needs which is left to it.
  if (type == MPI_DOUBLE) return count * static_cast<std::int64_t>(sizeof(double));
  if (type == MPI_INT) return count * static_cast<std::int64_t>(sizeof(int));
  if (type == MPI_FLOAT) return count * static_cast<std::int64_t>(sizeof(float));
  if (type == MPI_BYTE || type == MPI_CHAR) return count;
  if (type == MPI_DATATYPE_NULL) return 0;
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return count * static_cast<std::int64_t>(size);
}

// MPI's message, equal on all ranks: the vector, or one block where there are blocks (of reduce_scatter the middle
// one). A gather's and a scatter's is looked for where it is significant on the calling rank. `bytes_of` as above.
template <typename BytesOf>
inline std::int64_t message_bytes(const Operation& operation, bool at_root, BytesOf bytes_of) {
  using core::schedule::Collective;
  const Operation::Side& receive = operation.receive;
  switch (operation.collective) {
    case Collective::kBarrier:
      return 0;
    case Collective::kGather:
      return at_root ? bytes_of(receive.count, receive.type) : bytes_of(operation.send.count, operation.send.type);
    case Collective::kScatter:
      return at_root ? bytes_of(operation.send.count, operation.send.type) : bytes_of(receive.count, receive.type);
    case Collective::kReduceScatter: {
      const auto counts = operation.receive.counts;
      if (counts.empty()) return bytes_of(receive.count, receive.type);
      const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      return bytes_of(sum, receive.type) / static_cast<std::int64_t>(counts.size());
    }
    default:
      return bytes_of(receive.count, receive.type);
  }
}

inline bool is_reduction(core::schedule::Collective collective) {
  using core::schedule::Collective;
  return collective == Collective::kReduce || collective == Collective::kAllreduce ||
         collective == Collective::kReduceScatter;
}

// As an Operation, or what describes one.
template <typename Described>
inline std::size_t kind_of_operation(const Described& operation) {
  const bool reduction = is_reduction(operation.collective);
  if (operation.vector) return reduction ? kCounts : kUnknown;
  return reduction ? operation_kind(operation.op) : 0;
}

}  // namespace ranktree::mpi::collect
