#include "mpi/collect/operation.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/schedule/makers.h"

namespace ranktree::mpi::collect {

using core::schedule::Collective;

bool sends(const Operation& o, int rank) {
  switch (o.collective) {
    case Collective::kBroadcast:
    case Collective::kBarrier:
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kReduceScatter:
      return false;  // their one type is on the other side
    case Collective::kScatter:
      return rank == o.root;
    default:
      return o.send.buffer != MPI_IN_PLACE;
  }
}

bool receives(const Operation& o, int rank) {
  if (o.collective == Collective::kBarrier) return false;
  if (o.collective == Collective::kGather) return rank == o.root;
  return o.collective != Collective::kScatter || o.receive.buffer != MPI_IN_PLACE;
}

namespace {

using Side = Operation::Side;

bool counts_are_right(std::span<const int> counts, int size) {
  return counts.data() != nullptr && counts.size() == static_cast<std::size_t>(size) &&
         std::all_of(counts.begin(), counts.end(), [](int count) { return count >= 0; });
}

bool side_is_right(const Side& side, bool lists, bool displaced, int size) {
  if (side.type == MPI_DATATYPE_NULL) return false;
  if (!lists) return side.count >= 0;
  return counts_are_right(side.counts, size) && (!displaced || side.displacements.data() != nullptr);
}

// Of an alltoallv. Where all blocks are empty there need be no displacements.
bool lists_are_right(const Side& side, int size) {
  if (!side_is_right(side, true, false, size)) return false;
  const auto is_empty = [](int count) { return count == 0; };
  return side.displacements.data() != nullptr || std::all_of(side.counts.begin(), side.counts.end(), is_empty);
}

// Only the root of a rooted operation, and every rank in others, may be in place, on one side. What MPI ignores on a
// rank may be anything there: all ranks must find the same call right.
bool in_place_is_right(const Operation& o, int rank) {
  const bool sender = o.send.buffer == MPI_IN_PLACE;
  const bool receiver = o.receive.buffer == MPI_IN_PLACE;
  if (o.collective == Collective::kScatter) return rank == o.root ? !sender : !receiver;
  const bool significant = receives(o, rank) && (o.collective != Collective::kReduce || rank == o.root);
  if (receiver && significant) return false;
  return !sender || !has_root(o.collective) || rank == o.root;
}

}  // namespace

bool arguments_are_right(const Operation& operation, int rank, int size) {
  if (has_root(operation.collective) && (operation.root < 0 || operation.root >= size)) return false;
  if (reduces(operation.collective) && operation.op == MPI_OP_NULL) return false;
  if (!in_place_is_right(operation, rank)) return false;
  if (is_vector_exchange(operation)) {
    return (!sends(operation, rank) || lists_are_right(operation.send, size)) &&
           lists_are_right(operation.receive, size);
  }
  const bool scattering = operation.collective == Collective::kScatter;
  const bool displaced = operation.collective != Collective::kReduceScatter;
  if (sends(operation, rank) && !side_is_right(operation.send, operation.vector && scattering, displaced, size)) {
    return false;
  }
  return !receives(operation, rank) ||
         side_is_right(operation.receive, operation.vector && !scattering, displaced, size);
}

}  // namespace ranktree::mpi::collect
