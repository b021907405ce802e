// Records collective calls as (communicator, operation, root, bytes), or as pairs where the arguments define them.
// docs/reference/formats/pattern.md defines the bytes of a call.
#include <mpi.h>

#include <algorithm>
#include <cstdint>

#include "core/pattern/pattern.h"
#include "preload/communicator.h"
#include "preload/hooks.h"
#include "preload/receipt.h"
#include "preload/thread.h"

namespace ranktree::preload {
namespace {

using core::pattern::Class;
using core::pattern::Operation;

// What a rank gives: its send buffer, or with MPI_IN_PLACE what stands in the other one.
std::uint64_t share_of(Thread& thread, const Buffer& buffer, const Buffer& in_place) {
  return (buffer.address == MPI_IN_PLACE ? in_place : buffer).bytes(thread);
}

// Whether no rank leaves the call before all have entered it.
bool synchronises(Operation operation) { return operation != Operation::kScan && operation != Operation::kExscan; }

// A call without root. On an intercommunicator each side's data goes to the other: (own group, other group).
void without_root(const Scene& scene, Operation operation, std::uint64_t bytes, MPI_Comm comm) {
  Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  log_members(scene.thread, *communicator);
  scene.receipt.set_call(operation, communicator->identity, -1, bytes);
  scene.receipt.synchronises = synchronises(operation) && communicator->local.size() == scene.thread.part.ranks();
}

// A call with a root. On an intercommunicator the root's group comes first, on both sides. A root that is no rank is
// MPI_PROC_NULL, or wrong: MPI refuses the call.
void with_root(const Scene& scene, Operation operation, std::uint64_t bytes, int root, MPI_Comm comm) {
  Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  log_members(scene.thread, *communicator);
  if (communicator->inter && root == MPI_ROOT) {
    scene.receipt.set_call(operation, communicator->identity, communicator->rank, bytes);
  } else if (root >= 0 && root < communicator->peers().size()) {
    const std::uint64_t identity = communicator->inter ? communicator->mirrored_identity : communicator->identity;
    scene.receipt.set_call(operation, identity, root, bytes);
  }
}

bool is_root(const Communicator& communicator, int root) {
  return communicator.inter ? root == MPI_ROOT : root == communicator.rank;
}

// The world rank of a root that is not the caller, -1 outside MPI_COMM_WORLD; false where there is none.
bool other_root(const Communicator& communicator, int root, int& world_rank) {
  if (root < 0 || root >= communicator.peers().size() || is_root(communicator, root)) return false;
  world_rank = communicator.peers()[root];
  return true;
}

}  // namespace

void barrier(const Scene& scene, MPI_Comm comm) { without_root(scene, Operation::kBarrier, 0, comm); }

void bcast(const Scene& scene, Buffer buffer, int root, MPI_Comm comm) {
  with_root(scene, Operation::kBcast, buffer.bytes(scene.thread), root, comm);
}

void reduce(const Scene& scene, Buffer buffer, int root, MPI_Comm comm) {
  with_root(scene, Operation::kReduce, buffer.bytes(scene.thread), root, comm);
}

void allreduce(const Scene& scene, Buffer buffer, MPI_Comm comm) {
  without_root(scene, Operation::kAllreduce, buffer.bytes(scene.thread), comm);
}

void scan(const Scene& scene, Buffer buffer, MPI_Comm comm) {
  without_root(scene, Operation::kScan, buffer.bytes(scene.thread), comm);
}

void exscan(const Scene& scene, Buffer buffer, MPI_Comm comm) {
  without_root(scene, Operation::kExscan, buffer.bytes(scene.thread), comm);
}

// The arguments of the root's side count at the root (its send buffer may be MPI_IN_PLACE, and is not significant on an
// intercommunicator), the others' elsewhere.
void gather(const Scene& scene, Buffer send, Buffer receive, int root, MPI_Comm comm) {
  const Buffer& share = root == MPI_ROOT ? receive : send;
  with_root(scene, Operation::kGather, share_of(scene.thread, share, receive), root, comm);
}

void scatter(const Scene& scene, Buffer send, Buffer receive, int root, MPI_Comm comm) {
  const Buffer& share = root == MPI_ROOT ? send : receive;
  with_root(scene, Operation::kScatter, share_of(scene.thread, share, send), root, comm);
}

void allgather(const Scene& scene, Buffer send, Buffer receive, MPI_Comm comm) {
  without_root(scene, Operation::kAllgather, share_of(scene.thread, send, receive), comm);
}

void allgatherv(const Scene& scene, Buffer send, BufferList receive, MPI_Comm comm) {
  const Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  const std::uint64_t bytes =
      send.address == MPI_IN_PLACE ? receive.bytes(scene.thread, communicator->rank) : send.bytes(scene.thread);
  without_root(scene, Operation::kAllgatherv, bytes, comm);
}

void alltoall(const Scene& scene, Buffer send, Buffer receive, MPI_Comm comm) {
  without_root(scene, Operation::kAlltoall, share_of(scene.thread, send, receive), comm);
}

void reduce_scatter(const Scene& scene, Counts counts, MPI_Datatype type, MPI_Comm comm) {
  const Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  std::uint64_t elements = 0;
  for (int i = 0; i < communicator->local.size(); ++i) {
    elements += static_cast<std::uint64_t>(std::max<MPI_Count>(counts[i], 0));
  }
  without_root(scene, Operation::kReduceScatter, elements * type_bytes(scene.thread, type), comm);
}

void reduce_scatter_block(const Scene& scene, Buffer buffer, MPI_Comm comm) {
  const Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  const auto ranks = static_cast<std::uint64_t>(communicator->local.size());
  without_root(scene, Operation::kReduceScatterBlock, buffer.bytes(scene.thread) * ranks, comm);
}

void gatherv(const Scene& scene, Buffer send, int root, MPI_Comm comm) {
  const Communicator* communicator = find_communicator(scene.thread, comm);
  int world_rank = -1;
  if (communicator == nullptr || !other_root(*communicator, root, world_rank)) return;
  const std::uint64_t bytes = send.bytes(scene.thread);
  if (bytes > 0) scene.receipt.add(world_rank, Class::kCollective, bytes);
}

void scatterv(const Scene& scene, Buffer receive, int root, MPI_Comm comm) {
  const Communicator* communicator = find_communicator(scene.thread, comm);
  int world_rank = -1;
  if (communicator == nullptr || !other_root(*communicator, root, world_rank)) return;
  const std::uint64_t bytes = receive.bytes(scene.thread);
  if (bytes > 0) scene.receipt.add(world_rank, Class::kCollective, bytes, true);
}

// With MPI_IN_PLACE the receive arguments describe what is sent as well.
void alltoallv(const Scene& scene, BufferList send, BufferList receive, MPI_Comm comm) {
  const Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  const BufferList& share = send.address == MPI_IN_PLACE ? receive : send;
  const WorldRanks& peers = communicator->peers();
  for (int i = 0; i < peers.size(); ++i) {
    if (!communicator->inter && i == communicator->rank) continue;
    const std::uint64_t bytes = share.bytes(scene.thread, i);
    if (bytes > 0) scene.receipt.add(peers[i], Class::kCollective, bytes);
  }
}

void neighbor_same(const Scene& scene, Buffer send, MPI_Comm comm) {
  Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  const std::uint64_t bytes = send.bytes(scene.thread);
  for (const int rank : find_neighbors(*communicator, comm)) {
    if (rank != MPI_PROC_NULL) scene.receipt.add(communicator->local[rank], Class::kNeighbor, bytes);
  }
}

void neighbor_each(const Scene& scene, BufferList send, MPI_Comm comm) {
  Communicator* communicator = find_communicator(scene.thread, comm);
  if (communicator == nullptr) return;
  int i = 0;
  for (const int rank : find_neighbors(*communicator, comm)) {
    if (rank != MPI_PROC_NULL) {
      scene.receipt.add(communicator->local[rank], Class::kNeighbor, send.bytes(scene.thread, i));
    }
    ++i;
  }
}

}  // namespace ranktree::preload
