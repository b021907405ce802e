#include "preload/communicator.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/handle_slot.h"
#include "preload/process.h"
#include "preload/thread.h"

namespace ranktree::preload {
namespace {

// The members of a group as world ranks, in group order. Frees the group.
WorldRanks world_ranks(MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  std::vector<int> world(own.size(), -1);
  std::iota(own.begin(), own.end(), 0);
  const MPI_Group all = Process::instance().world_group();
  if (size > 0) PMPI_Group_translate_ranks(group, size, own.data(), all, world.data());
  for (int& rank : world) {
    if (rank < 0) rank = -1;  // MPI_UNDEFINED
  }
  PMPI_Group_free(&group);
  return WorldRanks(world);
}

std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
  return value ^ value >> 31U;
}

// The same on every member, different (but for 2^-64) for different lists.
std::uint64_t identity_of(const WorldRanks& local, const WorldRanks& remote) noexcept {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(local.size()));
  for (int i = 0; i < local.size(); ++i) hash = mix(hash + static_cast<std::uint32_t>(local[i]));
  hash = mix(hash ^ static_cast<std::uint64_t>(remote.size()) << 32U);
  for (int i = 0; i < remote.size(); ++i) hash = mix(hash + static_cast<std::uint32_t>(remote[i]));
  return hash;
}

std::unique_ptr<Communicator> describe(MPI_Comm comm) {
  auto communicator = std::make_unique<Communicator>();
  MPI_Group group = MPI_GROUP_NULL;
  int inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return nullptr;
  communicator->inter = inter != 0;
  communicator->local = world_ranks(group);
  if (communicator->inter && PMPI_Comm_remote_group(comm, &group) == MPI_SUCCESS) {
    communicator->remote = world_ranks(group);
  }
  PMPI_Comm_rank(comm, &communicator->rank);
  communicator->identity = identity_of(communicator->local, communicator->remote);
  communicator->mirrored_identity = identity_of(communicator->remote, communicator->local);
  return communicator;
}

Communicator* find_attribute(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, Process::instance().communicator_key(), static_cast<void*>(&attribute), &found);
  return found != 0 ? static_cast<Communicator*>(attribute) : nullptr;
}

Communicator* find_or_describe(MPI_Comm comm) {
  Communicator* known = find_attribute(comm);
  if (known != nullptr) return known;
  const std::scoped_lock lock(Process::instance().communicators_mutex());
  known = find_attribute(comm);
  if (known != nullptr) return known;
  std::unique_ptr<Communicator> made = describe(comm);
  if (!made) return nullptr;
  if (PMPI_Comm_set_attr(comm, Process::instance().communicator_key(), made.get()) != MPI_SUCCESS) return nullptr;
  return made.release();  // the attribute's delete callback frees it
}

// A Cartesian topology's neighbours: for each dimension the one below, then the one above (MPI-4.0 §8.6).
std::vector<int> cart_neighbors(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  std::vector<int> neighbors;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, dimension, 1, &below, &above);
    neighbors.push_back(below);
    neighbors.push_back(above);
  }
  return neighbors;
}

std::vector<int> graph_neighbors(MPI_Comm comm, int rank) {
  int count = 0;
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> neighbors(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(comm, rank, count, neighbors.data());
  return neighbors;
}

std::vector<int> dist_graph_destinations(MPI_Comm comm) {
  int sources = 0;
  int destinations = 0;
  int weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted);
  std::vector<int> from(static_cast<std::size_t>(sources) + 1);
  std::vector<int> from_weights(from.size());
  std::vector<int> to(static_cast<std::size_t>(destinations) + 1);
  std::vector<int> to_weights(to.size());
  PMPI_Dist_graph_neighbors(comm, sources, from.data(), from_weights.data(), destinations, to.data(),
                            to_weights.data());
  to.resize(static_cast<std::size_t>(destinations));
  return to;
}

}  // namespace

WorldRanks::WorldRanks(const std::vector<int>& ranks) : size_(static_cast<int>(ranks.size())) {
  if (ranks.empty()) return;
  first_ = ranks[0];
  step_ = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  bool regular = std::ranges::find(ranks, -1) == ranks.end();
  for (int i = 0; regular && i < size_; ++i) regular = ranks[static_cast<std::size_t>(i)] == first_ + i * step_;
  if (regular) return;
  table_ = std::make_unique<int[]>(ranks.size());
  std::ranges::copy(ranks, table_.get());
}

std::vector<int> WorldRanks::list() const {
  std::vector<int> ranks(static_cast<std::size_t>(size_));
  for (int i = 0; i < size_; ++i) ranks[static_cast<std::size_t>(i)] = (*this)[i];
  return ranks;
}

Communicator* find_communicator(Thread& thread, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return nullptr;
  CommunicatorSlot& slot = thread.communicators[mpi::slot_of<kCommunicatorSlots>(comm)];
  const std::uint32_t generation = communicator_generation.load(std::memory_order_relaxed);
  if (slot.comm != comm || slot.generation != generation) {
    Communicator* found = find_or_describe(comm);
    if (found == nullptr) return nullptr;
    slot = {comm, generation, found};
  }
  return slot.communicator;
}

const std::vector<int>& find_neighbors(Communicator& communicator, MPI_Comm comm) {
  if (communicator.neighbors_known) return communicator.neighbors;
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  std::vector<int> neighbors;
  if (topology == MPI_CART) neighbors = cart_neighbors(comm);
  if (topology == MPI_GRAPH) neighbors = graph_neighbors(comm, communicator.rank);
  if (topology == MPI_DIST_GRAPH) neighbors = dist_graph_destinations(comm);
  for (int& rank : neighbors) {
    if (rank < 0) rank = MPI_PROC_NULL;
  }
  communicator.neighbors = std::move(neighbors);
  communicator.neighbors_known = true;
  return communicator.neighbors;
}

void log_members(Thread& thread, Communicator& communicator) {
  if (communicator.logged) return;
  communicator.logged = true;
  if (communicator.rank != 0 || !Process::instance().first_log(communicator.identity)) return;
  const std::vector<int> local = communicator.local.list();
  const std::vector<int> remote = communicator.remote.list();
  const auto outside = [](const std::vector<int>& ranks) { return std::ranges::find(ranks, -1) != ranks.end(); };
  if (outside(local) || outside(remote)) return;  // members are ranks of MPI_COMM_WORLD
  thread.part.log_communicator(communicator.identity, local, remote);
}

const WorldRanks* find_window(MPI_Win win) {
  if (win == MPI_WIN_NULL) return nullptr;
  const int key = Process::instance().window_key();
  void* attribute = nullptr;
  int found = 0;
  PMPI_Win_get_attr(win, key, static_cast<void*>(&attribute), &found);
  if (found != 0) return static_cast<WorldRanks*>(attribute);
  const std::scoped_lock lock(Process::instance().communicators_mutex());
  PMPI_Win_get_attr(win, key, static_cast<void*>(&attribute), &found);
  if (found != 0) return static_cast<WorldRanks*>(attribute);
  MPI_Group group = MPI_GROUP_NULL;
  if (PMPI_Win_get_group(win, &group) != MPI_SUCCESS) return nullptr;
  auto ranks = std::make_unique<WorldRanks>(world_ranks(group));
  if (PMPI_Win_set_attr(win, key, ranks.get()) != MPI_SUCCESS) return nullptr;
  return ranks.release();
}

std::uint64_t type_bytes(Thread& thread, MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 0;
  TypeSlot& slot = thread.types[mpi::slot_of<kTypeSlots>(type)];
  const std::uint32_t generation = datatype_generation.load(std::memory_order_relaxed);
  if (slot.type != type || slot.generation != generation) {
    MPI_Count bytes = 0;
    if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0) bytes = 0;
    slot = {type, generation, static_cast<std::uint64_t>(bytes)};
  }
  return slot.bytes;
}

void forget_types() noexcept { datatype_generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace ranktree::preload
