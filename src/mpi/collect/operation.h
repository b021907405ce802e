// One collective call as its caller made it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/schedule/makers.h"

namespace ranktree::mpi::collect {

// The arguments of MPI's call, by MPI's rules: what MPI ignores on a rank is ignored here, MPI_IN_PLACE is itself. A
// broadcast has its buffer, count and type in `receive`; a barrier has nothing. The caller keeps all alive until the
// operation is complete, the lists too.
struct Operation {
  struct Side {
    void* buffer = nullptr;  // of the send side never written
    std::int64_t count = 0;  // of the calling rank's block where there are blocks
    MPI_Datatype type = MPI_DATATYPE_NULL;
    // Vector forms, on each side that has all blocks, in elements of `type` (reduce_scatter: counts only); else empty.
    std::span<const int> counts;
    std::span<const int> displacements;
  };

  core::schedule::Collective collective = core::schedule::Collective::kBarrier;
  bool vector = false;  // Gatherv, Scatterv, Allgatherv, Reduce_scatter, Alltoallv: blocks of different sizes
  Side send;
  Side receive;  // reductions: has the type and the count also where only the root receives
  MPI_Op op = MPI_OP_NULL;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  bool in_rank_order = false;  // operands are combined in rank order even where the operation commutes
};

// Operations from the arguments of MPI's calls, in MPI's order.

// What MPI only reads is not written here either.
inline Operation::Side sent(const void* buffer, std::int64_t count = 0, MPI_Datatype type = MPI_DATATYPE_NULL) {
  return {const_cast<void*>(buffer), count, type, {}, {}};
}

inline Operation::Side received(void* buffer, std::int64_t count, MPI_Datatype type) {
  return {buffer, count, type, {}, {}};
}

// Entries of the lists of vector forms; 0 where the communicator is none.
inline std::size_t list_length(MPI_Comm comm) {
  int size = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &size) != MPI_SUCCESS) return 0;
  return static_cast<std::size_t>(size);
}

struct Lists {
  const int* counts = nullptr;
  const int* displacements = nullptr;
  std::size_t length = 0;  // of both where it is known; else the communicator's size
};

inline Operation::Side blocks(void* buffer, const Lists& lists, MPI_Datatype type, MPI_Comm comm) {
  const std::size_t length = lists.length > 0 ? lists.length : list_length(comm);
  return {buffer, 0, type, {lists.counts, length}, {lists.displacements, lists.displacements == nullptr ? 0 : length}};
}

// NOLINTBEGIN(readability-function-size): as many parameters as MPI's own have
inline Operation broadcast(void* buffer, std::int64_t count, MPI_Datatype type, int root, MPI_Comm comm) {
  return {.collective = core::schedule::Collective::kBroadcast,
          .receive = received(buffer, count, type),
          .root = root,
          .comm = comm};
}

inline Operation reduce(const void* from, void* into, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
                        MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return {.collective = core::schedule::Collective::kReduce,
          .send = sent(from),
          .receive = received(into, count, type),
          .op = op,
          .root = root,
          .comm = comm};
}

inline Operation allreduce(const void* from, void* into, std::int64_t count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) {
  return {.collective = core::schedule::Collective::kAllreduce,
          .send = sent(from),
          .receive = received(into, count, type),
          .op = op,
          .comm = comm};
}

inline Operation barrier(MPI_Comm comm) { return {.comm = comm}; }

inline Operation rooted(core::schedule::Collective collective, const Operation::Side& send,
                        const Operation::Side& receive, int root, MPI_Comm comm) {
  return {.collective = collective, .send = send, .receive = receive, .root = root, .comm = comm};
}

inline Operation gather(const void* from, std::int64_t count, MPI_Datatype type, void* into,
                        std::int64_t received_count, MPI_Datatype received_type, int root,
                        MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return rooted(core::schedule::Collective::kGather, sent(from, count, type),
                received(into, received_count, received_type), root, comm);
}

inline Operation gatherv(const void* from, std::int64_t count, MPI_Datatype type, void* into, const Lists& lists,
                         MPI_Datatype received_type, int root, MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  Operation made = rooted(core::schedule::Collective::kGather, sent(from, count, type),
                          blocks(into, lists, received_type, comm), root, comm);
  made.vector = true;
  return made;
}

inline Operation scatter(const void* from, std::int64_t count, MPI_Datatype type, void* into,
                         std::int64_t received_count, MPI_Datatype received_type, int root,
                         MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return rooted(core::schedule::Collective::kScatter, sent(from, count, type),
                received(into, received_count, received_type), root, comm);
}

inline Operation scatterv(const void* from, const Lists& lists, MPI_Datatype type, void* into,
                          std::int64_t received_count, MPI_Datatype received_type, int root,
                          MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  Operation made = rooted(core::schedule::Collective::kScatter, blocks(const_cast<void*>(from), lists, type, comm),
                          received(into, received_count, received_type), root, comm);
  made.vector = true;
  return made;
}

inline Operation allgather(const void* from, std::int64_t count, MPI_Datatype type, void* into,
                           std::int64_t received_count, MPI_Datatype received_type,
                           MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return rooted(core::schedule::Collective::kAllgather, sent(from, count, type),
                received(into, received_count, received_type), 0, comm);
}

inline Operation allgatherv(const void* from, std::int64_t count, MPI_Datatype type, void* into, const Lists& lists,
                            MPI_Datatype received_type, MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  Operation made = rooted(core::schedule::Collective::kAllgather, sent(from, count, type),
                          blocks(into, lists, received_type, comm), 0, comm);
  made.vector = true;
  return made;
}

inline Operation reduce_scatter(const void* from, void* into, const Lists& lists, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
  return {.collective = core::schedule::Collective::kReduceScatter,
          .vector = true,
          .send = sent(from),
          .receive = blocks(into, lists, type, comm),
          .op = op,
          .comm = comm};
}

inline Operation reduce_scatter_block(const void* from, void* into, std::int64_t count, MPI_Datatype type, MPI_Op op,
                                      MPI_Comm comm) {
  return {.collective = core::schedule::Collective::kReduceScatter,
          .send = sent(from),
          .receive = received(into, count, type),
          .op = op,
          .comm = comm};
}

inline Operation alltoall(const void* from, std::int64_t count, MPI_Datatype type, void* into,
                          std::int64_t received_count, MPI_Datatype received_type,
                          MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return rooted(core::schedule::Collective::kAlltoall, sent(from, count, type),
                received(into, received_count, received_type), 0, comm);
}

inline Operation alltoallv(const void* from, const Lists& lists, MPI_Datatype type, void* into,
                           const Lists& received_lists, MPI_Datatype received_type,
                           MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  Operation made = rooted(core::schedule::Collective::kAlltoall, blocks(const_cast<void*>(from), lists, type, comm),
                          blocks(into, received_lists, received_type, comm), 0, comm);
  made.vector = true;
  return made;
}
// NOLINTEND(readability-function-size)

// Whether it is an alltoallv, whose sizes no rank knows of all.
inline bool is_vector_exchange(const Operation& operation) {
  return operation.vector && operation.collective == core::schedule::Collective::kAlltoall;
}

// Whether the arguments of a collective call are valid, as far as one rank can see.

// Whether the calling rank's arguments of the sending, or receiving, side are significant: else MPI ignores that side.
// Reductions and broadcasts have both on the receiving side.
bool sends(const Operation& operation, int rank);
bool receives(const Operation& operation, int rank);

// False: the native call refuses them, with its own error class. Local.
bool arguments_are_right(const Operation& operation, int rank, int size);

}  // namespace ranktree::mpi::collect
