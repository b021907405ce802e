#include "mpi/reorder/calls.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/reorder/grid.h"
#include "core/reorder/slots.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/reorder/rearrangement.h"
#include "mpi/reorder/root.h"
#include "mpi/split/split.h"
#include "mpi/text.h"

namespace ranktree::mpi {
namespace {

using core::reorder::Grid;
using core::reorder::GridMethod;
using core::reorder::GridPlacement;

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

void require_ranks(const Grid& grid, MPI_Comm comm) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (grid.vertices() <= size) return;
  throw AgreedError(MPI_ERR_ARG, "dims: expected a grid of at most " + std::to_string(size) + " processes, found more");
}

std::uint64_t fingerprint(const Grid& grid) {
  std::uint64_t hash = mix(1, grid.dims.size());
  for (const int length : grid.dims) hash = mix(hash, static_cast<std::uint64_t>(length));
  for (const std::uint8_t periodic : grid.periodic) hash = mix(hash, periodic);
  return hash;
}

// At the root: the vertex of each process, its own number for those that take no part. The answers' kind is the method.
void place(RootBuffers& buffers, const Grid& grid) {
  const auto vertices = static_cast<std::size_t>(grid.vertices());
  const std::vector<core::split::Chain> chains = chains_of(buffers);
  const auto slots = core::reorder::slots_of(std::span(chains).first(vertices));
  const GridPlacement placed = core::reorder::place_grid(slots, grid, {});
  const auto method = static_cast<std::int64_t>(placed.method);
  for (std::size_t process = 0; process < buffers.answers.size(); ++process) {
    buffers.answers[process] = {placed.before, placed.after, static_cast<std::int32_t>(process), 0, method};
  }
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    const auto leaf = static_cast<std::size_t>(placed.placement.leaf_of[vertex]);
    buffers.answers[static_cast<std::size_t>(slots.rank_at_slot[leaf])].vertex = static_cast<std::int32_t>(vertex);
  }
}

// Collective. Throws AgreedError.
Order order_of_grid(Rearrangement& begun, const Grid& grid) {
  core::split::Chain chain;
  locate(begun, chain);
  const int merged = gather_reports(begun.comm, begun.order, chain, 0, begun.buffers);
  if (merged == 0 && begun.rank == kRoot) begun.order.run([&] { place(begun.buffers, grid); });
  const RankAnswer answer = receive_answer(begun.comm, begun.order, merged, begun.buffers);
  const auto method = static_cast<GridMethod>(answer.kind);
  Order order = unchanged(begun.rank, method == GridMethod::kIdentity ? no_better_order() : Text());
  order.vertex = answer.vertex;
  order.changed = method != GridMethod::kIdentity;
  order.record.before = answer.before;
  order.record.after = answer.after;
  if (order.changed) order.record.mode = method == GridMethod::kTiling ? "tiling" : "central";
  return order;
}

}  // namespace

void cart_create(MPI_Comm comm, const CartGrid& arguments, bool reorder, MPI_Comm* made) {
  Grid grid;
  ReorderCall call{"cart_create", nullptr, reorder};
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_cart");
    require_dims(arguments);
    grid = grid_of(arguments);
    require_ranks(grid, comm);
    call.arguments = fingerprint(grid);
  });
  const Order order = find_order(begun, [&] { return order_of_grid(begun, grid); });
  const bool separate = order.changed || grid.vertices() < begun.size;
  const Communicator processes = separate ? arranged(begun, order, grid.vertices()) : Communicator{};
  MPI_Comm base = separate ? processes.get() : comm;
  Communicator cart;
  if (base != MPI_COMM_NULL) {
    check(PMPI_Cart_create(base, arguments.ndims, arguments.dims, arguments.periods, 0, cart.receive()),
          "MPI_Cart_create");
  }
  annotate(cart.get(), begun, order.record);
  *made = cart.release();
}

}  // namespace ranktree::mpi
