// The classification of a call: what the chooser decides on, in numbers that are equal on all ranks and fast to find;
// and the table that shows at once which calls stay native.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/schedule/makers.h"
#include "mpi/collect/operation.h"
#include "mpi/envelope.h"
#include "mpi/handle_slot.h"

namespace ranktree::mpi::collect {

class Context;

// Sizes of datatypes, remembered by a thread: querying one from the MPI takes longer than all else that a native call
// needs.
//
// An entry of a direct-mapped cache. A program can free no named type, so a handle of another type never becomes a
// named type's: both are remembered.
struct TypeSize {
  MPI_Datatype type{};
  std::int64_t bytes = 0;  // of a named type; 0: to be queried each time
};
inline constexpr std::size_t kTypeSizes = 16;
using TypeSizes = std::array<TypeSize, kTypeSizes>;

// 0 where the MPI returns none.
[[gnu::noinline, gnu::cold]] inline std::int64_t query_size(MPI_Datatype type, TypeSize& slot) noexcept {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  if (slot.type == type) return static_cast<std::int64_t>(size);
  Envelope envelope;
  if (query_envelope(type, envelope) == MPI_SUCCESS) {
    slot = {type, envelope.combiner == MPI_COMBINER_NAMED ? static_cast<std::int64_t>(size) : 0};
  }
  return static_cast<std::int64_t>(size);
}

[[gnu::always_inline]] inline std::int64_t bytes_of(std::int64_t count, MPI_Datatype type, TypeSizes& sizes) noexcept {
  TypeSize& slot = sizes[slot_of<kTypeSizes>(type)];
  if (slot.type == type && slot.bytes != 0) [[likely]]
    return count * slot.bytes;
  return count * query_size(type, slot);
}

// Whether it is a named type whose size has been queried.
inline bool is_known_named(MPI_Datatype type, const TypeSizes& sizes) noexcept {
  const TypeSize& slot = sizes[slot_of<kTypeSizes>(type)];
  return slot.type == type && slot.bytes != 0;
}

using core::schedule::kCollectives;
// Kinds of reductions: with a predefined operation, a commutative one of the user's, any other of the user's; and all
// with a count for each rank, which some variants cannot serve although they serve equal blocks.
inline constexpr std::size_t kCounts = 3;   // as kind, of reductions: a count for each rank
inline constexpr std::size_t kUnknown = 1;  // as kind, of others: the sizes of their blocks are not known to all ranks
inline constexpr std::size_t kSizes = 42;   // 0 bytes, then powers of two; the last has all beyond

// How many kinds of operations each collective has, and those of the collectives before it.
inline constexpr std::array<std::size_t, kCollectives> kKinds{1, 3, 3, 1, 2, 2, 2, 4, 2};
inline constexpr std::array<std::size_t, kCollectives> kKindsBefore = [] {
  std::array<std::size_t, kCollectives> before{};
  for (std::size_t i = 1; i < before.size(); ++i) before.at(i) = before.at(i - 1) + kKinds.at(i - 1);
  return before;
}();
inline constexpr std::size_t kCallKinds = (kKindsBefore.back() + kKinds.back()) * kSizes;

// Calls of a kind that go through the shared memory of a node, as one before them did (shared/shared_variant.h).
struct Repeat {
  std::uint32_t left = 0;  // so many from now, kForEver all: equal on all ranks
  // What they have in common, on this rank, where it is known.
  bool known = false;
  std::uint16_t element = 1;  // bytes
  MPI_Datatype type{};
  MPI_Op op{};
};

// The calls of one communicator. Every call looks here first and counts down what the chooser has decided. Nothing is
// allocated later, so that no rank can run out of memory for what all of them count.
struct CallTable {
  // So many calls of a kind from now are native and need no decision; kForEver all.
  static constexpr std::uint32_t kForEver = UINT32_MAX;

  int rank = 0;
  int size = 1;
  std::atomic<int> in_flight = 0;                   // nonblocking operations (requests/in_flight.h)
  Context* context = nullptr;                       // the owner
  Repeat* repeats = nullptr;                        // the chooser's
  const char* message = "";                         // what is wrong with the settings
  std::array<std::uint64_t, kCollectives> calls{};  // made
  std::array<std::uint64_t, kCollectives> ours{};   // not native
  std::array<std::uint32_t, kCallKinds> native{};
  std::array<std::uint16_t, kCallKinds> tuned{};  // 1 + where the kind is in `repeats`; 0 where it is not
};

inline std::size_t size_class(std::int64_t bytes) {
  if (bytes <= 0) return 0;
  return std::min(kSizes - 1, static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes))));
}

// The fewest bytes of a class but the first.
inline std::int64_t least_bytes(std::size_t size) { return static_cast<std::int64_t>(std::uint64_t{1} << (size - 1)); }

inline std::size_t kind_index(core::schedule::Collective collective, std::size_t kind, std::size_t size) {
  return (kKindsBefore[static_cast<std::size_t>(collective)] + kind) * kSizes + size;
}

inline bool is_usual_operation(MPI_Op op) { return op == MPI_SUM || op == MPI_MAX || op == MPI_MIN; }

inline bool is_predefined(MPI_Op op) {
  return is_usual_operation(op) || op == MPI_PROD || op == MPI_LAND || op == MPI_BAND || op == MPI_LOR ||
         op == MPI_BOR || op == MPI_LXOR || op == MPI_BXOR || op == MPI_MAXLOC || op == MPI_MINLOC;
}

[[gnu::noinline]] inline std::size_t kind_of_unusual(MPI_Op op) {
  if (is_predefined(op) || op == MPI_OP_NULL) return 0;
  int commutative = 0;
  if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS) return 2;
  return commutative != 0 ? 1 : 2;
}

inline std::size_t operation_kind(MPI_Op op) { return is_usual_operation(op) ? 0 : kind_of_unusual(op); }

// MPI's message, equal on all ranks: the vector, or one block where there are blocks (of reduce_scatter the mean,
// rounded up). A gather's and a scatter's is looked for where it is significant on the calling rank.
[[gnu::always_inline]] inline std::int64_t message_bytes(const Operation& operation, bool at_root, TypeSizes& sizes) {
  using core::schedule::Collective;
  const Operation::Side& receive = operation.receive;
  switch (operation.collective) {
    case Collective::kBarrier:
      return 0;
    case Collective::kGather:
      return at_root ? bytes_of(receive.count, receive.type, sizes)
                     : bytes_of(operation.send.count, operation.send.type, sizes);
    case Collective::kScatter:
      return at_root ? bytes_of(operation.send.count, operation.send.type, sizes)
                     : bytes_of(receive.count, receive.type, sizes);
    case Collective::kReduceScatter: {
      const auto counts = operation.receive.counts;
      if (counts.data() == nullptr || counts.empty()) return bytes_of(receive.count, receive.type, sizes);
      const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
      const auto ranks = static_cast<std::int64_t>(counts.size());
      return (bytes_of(sum, receive.type, sizes) + ranks - 1) / ranks;  // 0 for no bytes at all only
    }
    default:
      return bytes_of(receive.count, receive.type, sizes);
  }
}

// The same; 0 where not all ranks know it.
[[gnu::always_inline]] inline std::int64_t known_bytes(const Operation& operation, int rank, TypeSizes& sizes) {
  if (operation.vector && !reduces(operation.collective)) return 0;
  return message_bytes(operation, rank == operation.root, sizes);
}

[[gnu::always_inline]] inline std::size_t kind_of_operation(const Operation& operation) {
  const bool reduction = reduces(operation.collective);
  if (operation.vector) return reduction ? kCounts : kUnknown;
  return reduction ? operation_kind(operation.op) : 0;
}

// What a call is to the chooser, on this rank.
struct Kind {
  core::schedule::Collective collective = core::schedule::Collective::kBarrier;
  std::size_t kind = 0;  // of operations
  std::size_t size = 0;
  std::size_t index = 0;   // in the communicator's table
  std::int64_t bytes = 0;  // known_bytes()
};

[[gnu::always_inline]] inline Kind kind_of(const Operation& operation, int rank, TypeSizes& sizes) {
  Kind found{.collective = operation.collective, .kind = kind_of_operation(operation)};
  found.bytes = known_bytes(operation, rank, sizes);
  found.size = size_class(found.bytes);
  found.index = kind_index(operation.collective, found.kind, found.size);
  return found;
}

// Calls of a communicator before it has a table.
struct Waiting {
  int rank = 0;
  int size = 1;
  std::uint32_t left = 0;  // until ranks agree on what it becomes
};

// Whether a rank may return from many such calls before others have entered the first: some ranks only send in them,
// and MPIs buffer short messages. An agreement would end that lead.
[[gnu::always_inline]] inline bool may_run_ahead(core::schedule::Collective collective, std::int64_t bytes) {
  using core::schedule::Collective;
  constexpr std::int64_t kShort = 16384;
  return bytes < kShort && (collective == Collective::kBroadcast || collective == Collective::kReduce ||
                            collective == Collective::kGather || collective == Collective::kScatter);
}

// How many calls one counts for towards the next agreement, which takes about as long as one that synchronises; longer
// ones are worth more. Those that may run ahead count for nothing, so that none of them comes to an agreement. Equal on
// all ranks.
[[gnu::always_inline]] inline std::uint32_t weight_of(core::schedule::Collective collective, std::int64_t bytes) {
  constexpr std::int64_t kUnit = 8192;
  constexpr std::int64_t kMost = 64;
  if (may_run_ahead(collective, bytes)) return 0;
  return static_cast<std::uint32_t>(std::clamp(1 + bytes / kUnit, std::int64_t{1}, kMost));
}

// Counts one of the calls that a decision covers. At least one is left.
inline void count_down(std::uint32_t& left) {
  if (left != CallTable::kForEver) --left;
}

// Whether it is one of the calls that are native for now; if so it is counted.
inline bool is_native(const Kind& kind, CallTable& table) {
  std::uint32_t& left = table.native[kind.index];
  if (left == 0) return false;
  count_down(left);
  ++table.calls[static_cast<std::size_t>(kind.collective)];
  return true;
}

}  // namespace ranktree::mpi::collect
