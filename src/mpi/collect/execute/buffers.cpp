#include "mpi/collect/execute/buffers.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

using core::schedule::Buffer;
using core::schedule::Collective;
using Side = Operation::Side;

namespace {

std::byte* address(const Side& side, std::int64_t elements, const TypeLayout& layout) {
  return static_cast<std::byte*>(side.buffer) + elements * layout.extent;
}

bool in_place(const Side& side) { return side.buffer == MPI_IN_PLACE; }

}  // namespace

Buffers::Buffers(const Operation& operation, int rank, int size) : layout_(kByteLayout) {
  request_.collective = operation.collective;
  request_.ranks = size;
  take(operation, rank);
}

Buffers::Buffers(const Operation& operation, int rank, int size, std::span<const std::int64_t> counts)
    : Buffers(operation, rank, size) {
  if (rank != operation.root) know(counts, rank);
}

// A sender with a shorter block sends zeros behind it, a receiver with less space loses what does not fit.
void Buffers::know(std::span<const std::int64_t> counts, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  const std::int64_t own = request_.counts[at];
  const std::int64_t wanted = counts[at];
  const bool gathers = request_.collective == Collective::kGather;
  request_.counts.assign(counts.begin(), counts.end());
  truncates_ = gathers ? own > wanted : own < wanted;
  if (own >= wanted) return;
  other_ = allocate(static_cast<std::size_t>(wanted));
  std::byte*& base = bases_[static_cast<std::size_t>(gathers ? Buffer::kInput : Buffer::kOutput)];
  if (gathers) {
    std::fill_n(other_.get(), wanted, std::byte{});
    std::copy_n(base, own, other_.get());
  } else {
    receives_ = false;
  }
  base = other_.get();
}

void Buffers::take(const Operation& operation, int rank) {
  const bool root = rank == operation.root;
  switch (operation.collective) {
    case Collective::kBarrier:
      return;
    case Collective::kReduce:
      request_.root = operation.root;
      return reduce(operation);
    case Collective::kAllreduce:
    case Collective::kReduceScatter:
      return reduce(operation);
    case Collective::kBroadcast:
      request_.root = operation.root;
      return broadcast(operation, root);
    case Collective::kGather:
      request_.root = operation.root;
      return gather(operation, rank, root);
    case Collective::kScatter:
      request_.root = operation.root;
      return scatter(operation, rank);
    case Collective::kAllgather:
      return gather(operation, rank, true);
    case Collective::kAlltoall:
      return exchange(operation);
  }
}

void Buffers::reduce(const Operation& operation) {
  type_ = operation.receive.type;
  layout_ = layout_of(type_);
  request_.commutative = !operation.in_rank_order && is_commutative(operation.op);
  request_.in_place = in_place(operation.send);
  request_.counts.assign(operation.receive.counts.begin(), operation.receive.counts.end());
  if (request_.counts.empty()) request_.count = operation.receive.count;
  bases_ = {request_.in_place ? nullptr : static_cast<std::byte*>(operation.send.buffer),
            static_cast<std::byte*>(operation.receive.buffer)};
}

void Buffers::broadcast(const Operation& operation, bool root) {
  const TypeLayout layout = layout_of(operation.receive.type);
  request_.count = operation.receive.count * layout.size;
  bases_[1] = static_cast<std::byte*>(operation.receive.buffer);
  receives_ = !root;
  if (layout.plain) return;
  stage(Buffer::kOutput, {operation.receive.type, layout, {{bases_[1], operation.receive.count}}, {}});
  if (root) pack(Buffer::kOutput, 0, 1);
}

void Buffers::gather(const Operation& operation, int rank, bool receives) {
  request_.in_place = in_place(operation.send);
  if (operation.vector) request_.counts.resize(static_cast<std::size_t>(request_.ranks));
  if (!request_.in_place) take_block(operation.send, Buffer::kInput, rank);
  if (!receives) return;
  take_all(operation, operation.receive, Buffer::kOutput);
  if (request_.in_place) pack(Buffer::kOutput, static_cast<std::size_t>(rank), 1);
}

void Buffers::scatter(const Operation& operation, int rank) {
  request_.in_place = in_place(operation.receive);
  if (operation.vector) request_.counts.resize(static_cast<std::size_t>(request_.ranks));
  if (!request_.in_place) take_block(operation.receive, Buffer::kOutput, rank);
  if (rank != operation.root) return;
  take_all(operation, operation.send, Buffer::kInput);
  pack(Buffer::kInput, 0, staged(Buffer::kInput).blocks.size());
}

void Buffers::exchange(const Operation& operation) {
  request_.in_place = in_place(operation.send);
  if (!request_.in_place) {
    take_all(operation, operation.send, Buffer::kInput);
    pack(Buffer::kInput, 0, staged(Buffer::kInput).blocks.size());
  }
  take_all(operation, operation.receive, Buffer::kOutput);
  if (request_.in_place) pack(Buffer::kOutput, 0, staged(Buffer::kOutput).blocks.size());
}

void Buffers::take_block(const Side& side, Buffer buffer, int rank) {
  const TypeLayout layout = layout_of(side.type);
  request_.count = side.count * layout.size;
  if (!request_.counts.empty()) {
    request_.counts[static_cast<std::size_t>(rank)] = std::exchange(request_.count, 0);
  }
  bases_[static_cast<std::size_t>(buffer)] = static_cast<std::byte*>(side.buffer);
  if (layout.plain) return;
  stage(buffer, {side.type, layout, {{static_cast<std::byte*>(side.buffer), side.count}}, {}});
  if (buffer == Buffer::kInput) pack(buffer, 0, 1);
}

void Buffers::take_all(const Operation& operation, const Side& side, Buffer buffer) {
  const TypeLayout layout = layout_of(side.type);
  if (operation.vector) {
    for (std::size_t i = 0; i < side.counts.size(); ++i) request_.counts[i] = side.counts[i] * layout.size;
  } else {
    request_.count = side.count * layout.size;
  }
  bases_[static_cast<std::size_t>(buffer)] = static_cast<std::byte*>(side.buffer);
  if (layout.plain && (!operation.vector || lies_as_moved(side, layout))) return;
  Staged staged{side.type, layout, {}, {}};
  for (std::int64_t i = 0; i < request_.ranks; ++i) {
    const auto at = static_cast<std::size_t>(i);
    staged.blocks.push_back(operation.vector ? Block{address(side, side.displacements[at], layout), side.counts[at]}
                                             : Block{address(side, i * side.count, layout), side.count});
  }
  stage(buffer, std::move(staged));
}

// Where only the root knows where blocks lie, its arguments decide; where all ranks have them, their arguments must not
// differ.
bool Buffers::lies_as_moved(const Side& side, const TypeLayout& layout) {
  if (request_.collective != Collective::kAllgather) {
    for (const int displacement : side.displacements) request_.displacements.push_back(displacement * layout.size);
    return true;
  }
  std::int64_t end = 0;
  for (std::size_t i = 0; i < side.counts.size(); ++i) {
    if (side.counts[i] != 0 && side.displacements[i] != end) return false;
    end += side.counts[i];
  }
  return true;
}

void Buffers::stage(Buffer buffer, Staged made) {
  std::int64_t elements = 0;
  for (const Block& block : made.blocks) elements += block.count;
  made.memory = allocate(static_cast<std::size_t>(elements * made.layout.size));
  bases_[static_cast<std::size_t>(buffer)] = made.memory.get();
  staged(buffer) = std::move(made);
}

void Buffers::pack(Buffer buffer, std::size_t first, std::size_t count) {
  const Staged& from = staged(buffer);
  std::byte* into = from.memory.get();
  for (std::size_t i = 0; i < from.blocks.size() && i < first + count; ++i) {
    const Block& block = from.blocks[i];
    if (i >= first) collect::pack(block.first, block.count, from.type, from.layout, into);
    into += block.count * from.layout.size;
  }
}

void Buffers::shorten(std::int64_t bytes) {
  Staged& into = staged(Buffer::kOutput);
  if (!into.blocks.empty()) into.blocks[0].count = (request_.count - bytes) / into.layout.size;
}

void Buffers::unpack() const {
  if (!receives_) return;
  const Staged& into = staged_[1];
  const std::byte* from = into.memory.get();
  for (const Block& block : into.blocks) {
    collect::unpack(from, block.first, block.count, into.type, into.layout);
    from += block.count * into.layout.size;
  }
}

std::array<Memory, 3> Buffers::release() {
  return {std::move(staged_[0].memory), std::move(staged_[1].memory), std::move(other_)};
}

}  // namespace ranktree::mpi::collect
