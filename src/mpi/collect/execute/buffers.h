// The buffers of an operation as schedules count them: element after element of one size.
//
// Collectives that only move data move bytes: what is packed is the same on all ranks, whatever types they use, so a
// rank whose type has gaps packs into memory of its own first, or unpacks from it in the end. Reductions are in
// elements of their one type.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

class Buffers {
 public:
  // Of the calling rank among `size`. Packs what has to be sent. The operation's arguments are right; its buffers and
  // types stay until unpack(). Throws MpiError, std::bad_alloc.
  Buffers(const Operation& operation, int rank, int size);
  // For gatherv and scatterv, after the root has sent all ranks the bytes of each one's block.
  Buffers(const Operation& operation, int rank, int size, std::span<const std::int64_t> counts);

  // What the schedule is made from; counts and displacements in elements as they are moved.
  [[nodiscard]] const core::schedule::Request& request() const { return request_; }
  // Where element 0 is, of input and output.
  [[nodiscard]] std::byte* base(core::schedule::Buffer buffer) const {
    return bases_[static_cast<std::size_t>(buffer)];
  }
  // What elements are as they are moved: bytes, or the reduction's type.
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] const TypeLayout& layout() const { return layout_; }

  // The root's size of this rank's block differs from the rank's own, so that the block is longer than the space where
  // it is received. As many bytes are moved as the root has for it; a shorter block of this rank is moved from or to
  // memory of our own.
  [[nodiscard]] bool truncates() const { return truncates_; }

  // Of a broadcast or a scatter: that many bytes fewer have come than were expected. Of an element that is not whole
  // nothing is unpacked.
  void shorten(std::int64_t bytes);

  // Puts what was received where the caller wants it. Throws MpiError.
  void unpack() const;

  // Passes on its memory, for when messages may still be written to it after the operation has failed.
  std::array<Memory, 3> release();

 private:
  // Blocks that lie apart in the caller's buffer, one after the other in `memory`; none where the caller's buffer is
  // used as it is.
  struct Block {
    std::byte* first = nullptr;
    std::int64_t count = 0;
  };
  struct Staged {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    TypeLayout layout;
    std::vector<Block> blocks;
    Memory memory;
  };
  void take(const Operation& operation, int rank);
  void reduce(const Operation& operation);
  void broadcast(const Operation& operation, bool root);
  void gather(const Operation& operation, int rank, bool receives);
  void scatter(const Operation& operation, int rank);
  void exchange(const Operation& operation);
  void know(std::span<const std::int64_t> counts, int rank);

  void take_block(const Operation::Side& side, core::schedule::Buffer buffer, int rank);
  void take_all(const Operation& operation, const Operation::Side& side, core::schedule::Buffer buffer);
  bool lies_as_moved(const Operation::Side& side, const TypeLayout& layout);
  void stage(core::schedule::Buffer buffer, Staged staged);
  void pack(core::schedule::Buffer buffer, std::size_t first, std::size_t count);
  [[nodiscard]] Staged& staged(core::schedule::Buffer buffer) { return staged_[static_cast<std::size_t>(buffer)]; }

  core::schedule::Request request_;
  std::array<std::byte*, 2> bases_{};
  MPI_Datatype type_ = MPI_BYTE;
  TypeLayout layout_;
  std::array<Staged, 2> staged_;
  bool receives_ = true;  // output is this rank's to unpack
  bool truncates_ = false;
  Memory other_;  // in place of a block that is shorter than the root's size of it
};

}  // namespace ranktree::mpi::collect
