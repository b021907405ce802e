#include "mpi/reorder/cart.h"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/reorder/grid.h"
#include "core/reorder/positions.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/reorder/rearrange.h"
#include "mpi/split/chains.h"
#include "mpi/split/split.h"
#include "mpi/text.h"
#include "mpi/wait.h"

namespace ranktree::mpi {
namespace {

using core::reorder::Grid;
using core::reorder::GridMethod;
using core::reorder::GridPlacement;

constexpr int kRoot = 0;

Grid grid_of(const CartGrid& arguments) {
  Grid grid;
  for (int j = 0; j < arguments.ndims; ++j) {
    grid.dims.push_back(arguments.dims[j]);
    grid.periodic.push_back(arguments.periods[j] != 0 ? 1 : 0);
  }
  return grid;
}

void require_dims(const CartGrid& arguments) {
  if (arguments.ndims < 0) {
    throw AgreedError(MPI_ERR_ARG, "ndims: expected 0 or more, found " + std::to_string(arguments.ndims));
  }
  if (arguments.ndims == 0) return;
  require(arguments.dims, "dims");
  require(arguments.periods, "periods");
  for (int j = 0; j < arguments.ndims; ++j) {
    if (arguments.dims[j] >= 1) continue;
    throw AgreedError(MPI_ERR_DIMS, "dims[" + std::to_string(j) + "]: expected 1 or more, found " +
                                        std::to_string(arguments.dims[j]));
  }
}

void require_room(const Grid& grid, MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (grid.vertices() <= size) return;
  throw AgreedError(MPI_ERR_ARG, "dims: expected a grid of at most " + std::to_string(size) + " processes, found more");
}

std::uint64_t fingerprint(const Grid& grid) {
  std::uint64_t hash = mix(1, grid.dims.size());
  for (const int length : grid.dims) hash = mix(hash, static_cast<std::uint64_t>(length));
  for (const std::uint8_t periodic : grid.periodic) hash = mix(hash, periodic);
  return hash;
}

// What the root found: the vertex of each process, its own number for those that take no part.
struct Answer {
  GridPlacement placed;
  std::vector<int> vertex_of;
};

Answer place(const std::vector<core::split::Chain>& chains, const Grid& grid) {
  const auto vertices = static_cast<std::size_t>(grid.vertices());
  const auto positions =
      core::reorder::positions_of({chains.begin(), chains.begin() + static_cast<std::ptrdiff_t>(vertices)});
  Answer answer{core::reorder::place_grid(positions, grid, {}), {}};
  answer.vertex_of.resize(chains.size());
  for (std::size_t rank = 0; rank < chains.size(); ++rank) answer.vertex_of[rank] = static_cast<int>(rank);
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    const auto leaf = static_cast<std::size_t>(answer.placed.placement.leaf_of[vertex]);
    answer.vertex_of[static_cast<std::size_t>(positions.rank_at_leaf[leaf])] = static_cast<int>(vertex);
  }
  return answer;
}

// Collective: every process learns its vertex.
Order deliver(const Rearrangement& begun, const Answer& answer) {
  const GridPlacement& placed = answer.placed;
  std::array<double, 3> told{placed.before, placed.after, static_cast<double>(placed.method)};
  MPI_Comm comm = begun.alone.get();
  check(MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_DOUBLE, kRoot, comm), "MPI_Bcast");
  const auto method = static_cast<GridMethod>(told[2]);
  Order order = unchanged(begun.rank, method == GridMethod::kIdentity ? no_better_order() : Text());
  check(MPI_Scatter(answer.vertex_of.data(), 1, MPI_INT, &order.vertex, 1, MPI_INT, kRoot, comm), "MPI_Scatter");
  order.changed = method != GridMethod::kIdentity;
  order.record.before = told[0];
  order.record.after = told[1];
  if (order.changed) order.record.mode = method == GridMethod::kTiling ? "tiling" : "central";
  return order;
}

// Collective. What fails leaves the order as it is.
Order find_order(Rearrangement& begun, const Grid& grid) {
  if (!begun.wanted) return unchanged(begun.rank, "the call's argument reorder is 0");
  MPI_Comm comm = begun.alone.get();
  core::split::Chain chain;
  const Failure lost = locate(begun, chain);
  if (lost.error_class != MPI_SUCCESS) return unchanged(begun.rank, lost.text);
  std::vector<core::split::Chain> chains;
  try {
    chains = gather_chains(comm, chain, kRoot);
  } catch (const AgreedError& error) {
    return unchanged(begun.rank, error.what());
  }
  Answer answer;
  const Failure failure = attempt([&] {
    if (begun.rank == kRoot) answer = place(chains, grid);
  });
  wait_for_all(comm);
  const Failure shared = share(comm, failure);
  if (shared.error_class != MPI_SUCCESS) return unchanged(begun.rank, shared.text);
  return deliver(begun, answer);
}

}  // namespace

void cart_create(MPI_Comm comm, const CartGrid& arguments, bool reorder, MPI_Comm* made) {
  Grid grid;
  ReorderCall call{"cart_create", nullptr, reorder, 0};
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_cart");
    require_dims(arguments);
    grid = grid_of(arguments);
    require_room(grid, comm);
    call.arguments = fingerprint(grid);
  });
  const Order order = find_order(begun, grid);
  const bool separate = order.changed || grid.vertices() < begun.size;
  const Communicator processes = separate ? arranged(begun, order, grid.vertices()) : Communicator{};
  MPI_Comm base = separate ? processes.get() : comm;
  std::unique_ptr<Annotation> known = describe_together(begun, order.record);
  Communicator cart;
  if (base != MPI_COMM_NULL) {
    check(MPI_Cart_create(base, arguments.ndims, arguments.dims, arguments.periods, 0, cart.receive()),
          "MPI_Cart_create");
  }
  annotate(cart.get(), std::move(known));
  *made = cart.release();
}

}  // namespace ranktree::mpi
