#include "mpi/reorder/calls.h"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/scale.h"
#include "core/objective/graph_order.h"
#include "core/objective/model.h"
#include "core/reorder/grid.h"
#include "core/reorder/grid_choice.h"
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

using core::objective::Objective;
using core::reorder::Grid;
using core::reorder::GridMethod;
using core::reorder::GridPlacement;
using core::reorder::GridTraffic;
using core::reorder::Slots;

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

void require_ranks(const Grid& grid, MPI_Comm comm, int error_class = MPI_ERR_ARG) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (grid.vertices() <= size) return;
  throw AgreedError(error_class, "dims: expected a grid of at most " + std::to_string(size) + " processes, found more");
}

std::uint64_t fingerprint(const Grid& grid) {
  std::uint64_t hash = mix(1, grid.dims.size());
  for (const int length : grid.dims) hash = mix(hash, static_cast<std::uint64_t>(length));
  for (const std::uint8_t periodic : grid.periodic) hash = mix(hash, periodic);
  return hash;
}

Slots slots_of_first(const RootBuffers& buffers, std::int64_t vertices) {
  const std::vector<core::split::Chain> chains = chains_of(buffers);
  return core::reorder::slots_of(std::span(chains).first(static_cast<std::size_t>(vertices)));
}

// At the root: the vertex of each process, its own number for those that take no part. The answers' kind is the method.
void answer(RootBuffers& buffers, const Slots& slots, const GridPlacement& placed) {
  const auto method = static_cast<std::int64_t>(placed.method);
  for (std::size_t process = 0; process < buffers.answers.size(); ++process) {
    buffers.answers[process] = {placed.before, placed.after, static_cast<std::int32_t>(process), 0, method};
  }
  for (std::size_t vertex = 0; vertex < placed.placement.leaf_of.size(); ++vertex) {
    const auto leaf = static_cast<std::size_t>(placed.placement.leaf_of[vertex]);
    buffers.answers[static_cast<std::size_t>(slots.rank_at_slot[leaf])].vertex = static_cast<std::int32_t>(vertex);
  }
}

// Collective: `place` fills the answers at the root. Throws AgreedError.
template <typename Place>
Order order_of_grid(Rearrangement& begun, const Place& place) {
  core::split::Chain chain;
  locate(begun, chain);
  const int merged = gather_reports(begun.comm, begun.order, chain, 0, begun.buffers);
  if (merged == 0 && begun.rank == kRoot) begun.order.run(place);
  const RankAnswer own = receive_answer(begun.comm, begun.order, merged, begun.buffers);
  const auto method = static_cast<GridMethod>(own.kind);
  Order order = unchanged(begun.rank, method == GridMethod::kIdentity ? no_better_order() : Text());
  order.vertex = own.vertex;
  order.changed = method != GridMethod::kIdentity;
  order.record.before = own.before;
  order.record.after = own.after;
  if (order.changed) order.record.mode = method == GridMethod::kTiling ? "tiling" : "central";
  return order;
}

// Collective: MPI's own grid on the processes in their new order, null beyond it.
Communicator make_cart(Rearrangement& begun, const Order& order, const CartGrid& arguments, std::int64_t vertices) {
  const bool separate = order.changed || vertices < begun.size;
  const Communicator processes = separate ? arranged(begun, order, vertices) : Communicator{};
  MPI_Comm base = separate ? processes.get() : begun.comm;
  Communicator cart;
  if (base != MPI_COMM_NULL) {
    check(PMPI_Cart_create(base, arguments.ndims, arguments.dims, arguments.periods, 0, cart.receive()),
          "MPI_Cart_create");
  }
  annotate(cart.get(), begun, order.record);
  return cart;
}

// -- grids whose dimensions are chosen --

void require_dims(const WeightedGrid& arguments) {
  if (arguments.ndims < 0) {
    throw AgreedError(MPI_ERR_ARG, "ndims: expected 0 or more, found " + std::to_string(arguments.ndims));
  }
  if (arguments.ndims == 0) return;
  require(arguments.dims, "dims");
  require(arguments.periods, "periods");
  for (int j = 0; j < arguments.ndims; ++j) {
    const std::string index = "[" + std::to_string(j) + "]";
    if (arguments.dims[j] < 0) {
      throw AgreedError(MPI_ERR_DIMS,
                        "dims" + index + ": expected 0 or more, found " + std::to_string(arguments.dims[j]));
    }
    if (arguments.weights == nullptr || (arguments.weights[j] >= 0 && std::isfinite(arguments.weights[j]))) continue;
    throw AgreedError(MPI_ERR_ARG, "dim_weights" + index + ": expected a number, 0 or more, found " +
                                       std::to_string(arguments.weights[j]));
  }
}

GridTraffic traffic_of(const WeightedGrid& arguments) {
  GridTraffic traffic;
  for (int j = 0; j < arguments.ndims; ++j) {
    traffic.dims.push_back(arguments.dims[j]);
    traffic.periodic.push_back(arguments.periods[j] != 0 ? 1 : 0);
    if (arguments.weights != nullptr) traffic.plane_weights.push_back(arguments.weights[j]);
  }
  return traffic;
}

std::uint64_t fingerprint(const GridTraffic& traffic) {
  std::uint64_t hash = fingerprint(Grid{traffic.dims, traffic.periodic, {}});
  hash = mix(hash, traffic.plane_weights.size());
  for (const double weight : traffic.plane_weights) hash = mix(hash, std::bit_cast<std::uint64_t>(weight));
  return hash;
}

// All ranks where a dimension is to be chosen, else as many as the dimensions have, at most all.
std::int64_t vertices_of(const GridTraffic& traffic, MPI_Comm comm, int error_class) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::int64_t vertices = size;
  if (std::count(traffic.dims.begin(), traffic.dims.end(), 0) == 0) {
    const Grid grid{traffic.dims, traffic.periodic, {}};
    require_ranks(grid, comm, error_class);
    vertices = grid.vertices();
  }
  const std::int64_t grids = core::reorder::grids_of(vertices, traffic);
  if (grids == 0) {
    throw AgreedError(MPI_ERR_DIMS, "dims: expected those given to divide " + std::to_string(vertices) + " processes");
  }
  if (grids > core::reorder::kMostGrids) {
    throw AgreedError(MPI_ERR_DIMS, "dims: expected at most " + std::to_string(core::reorder::kMostGrids) +
                                        " grids to choose from, found more: give some of the dimensions");
  }
  return vertices;
}

// A grid while it is chosen.
struct GridChoice {
  GridTraffic traffic;
  std::int64_t vertices = 0;
  double scale = 1;       // of the weights that are counted, so that no sum overflows
  std::vector<int> dims;  // the result
};

// At the root: the grid by bytes, its placement by the objective.
void choose_at_root(Rearrangement& begun, GridChoice& choice) {
  const ReorderOptions& options = begun.reorder;
  const auto in_time = [&] { return begun.deadline == 0 || PMPI_Wtime() < begun.deadline; };
  const Slots slots = slots_of_first(begun.buffers, choice.vertices);
  core::reorder::ChosenGrid chosen =
      core::reorder::choose_grid(slots, choice.traffic, {options.preset, options.seed, in_time});
  if (options.objective != Objective::kBytes) {
    core::objective::GraphOptions how = graph_options(options, in_time);
    how.algorithm = core::objective::Algorithm::kEngine;
    how.candidates = {chosen.placed.placement};
    core::objective::GraphOrder order =
        core::objective::order_for_graph(slots.tree, core::reorder::grid_affinity(chosen.grid), slots.home, how);
    const bool better = order.after < order.before;
    chosen.placed = {std::move(order.placement), order.before, order.after,
                     better ? GridMethod::kEngine : GridMethod::kIdentity};
  }
  answer(begun.buffers, slots, chosen.placed);
  std::copy(chosen.grid.dims.begin(), chosen.grid.dims.end(), choice.dims.begin());
}

// What all ranks check before the grid is chosen. `error_class`: of dimensions for more processes than there are.
GridChoice checked(const WeightedGrid& arguments, MPI_Comm comm, int error_class) {
  require_dims(arguments);
  GridChoice choice;
  choice.traffic = traffic_of(arguments);
  choice.vertices = vertices_of(choice.traffic, comm, error_class);
  choice.dims = choice.traffic.dims;
  return choice;
}

void scale_weights(GridChoice& choice, Objective objective) {
  std::vector<double>& weights = choice.traffic.plane_weights;
  if (weights.empty() || objective != Objective::kBytes) return;
  choice.scale = core::scale_for_sums(*std::max_element(weights.begin(), weights.end()));
  for (double& weight : weights) weight *= choice.scale;
}

// Collective: fills choice.dims on all ranks. Throws AgreedError where memory is short for the grid with the least
// traffic, which stands in for what cannot be chosen by the machine.
Order choose(Rearrangement& begun, GridChoice& choice) {
  if (begun.reorder.mode == ReorderMode::kNode) {
    throw AgreedError(MPI_ERR_ARG,
                      "info key ranktree_reorder_mode: expected another mode than node for a grid that is chosen");
  }
  scale_weights(choice, begun.reorder.objective);
  Order order = find_order(begun, [&] {
    Order found = order_of_grid(begun, [&] { choose_at_root(begun, choice); });
    check(PMPI_Bcast(choice.dims.data(), static_cast<int>(choice.dims.size()), MPI_INT, kRoot, begun.comm),
          "MPI_Bcast");
    return found;
  });
  begun.steps.run([&] {
    if (std::count(choice.dims.begin(), choice.dims.end(), 0) == 0) return;
    choice.dims = core::reorder::grids_by_traffic(choice.vertices, choice.traffic).front().dims;
  });
  begun.steps.agree();
  order.record.before = in_callers_units(order.record.before, choice.scale);
  order.record.after = in_callers_units(order.record.after, choice.scale);
  return order;
}

}  // namespace

void cart_create(MPI_Comm comm, const CartGrid& arguments, bool reorder, MPI_Comm* made) {
  Grid grid;
  ReorderCall call{"cart_create", nullptr, reorder};
  call.at_root = true;
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_cart");
    require_dims(arguments);
    grid = grid_of(arguments);
    require_ranks(grid, comm);
    call.arguments = fingerprint(grid);
  });
  const std::int64_t vertices = grid.vertices();
  const Order order = find_order(begun, [&] {
    return order_of_grid(begun, [&] {
      const Slots slots = slots_of_first(begun.buffers, vertices);
      answer(begun.buffers, slots, core::reorder::place_grid(slots, grid, {}));
    });
  });
  *made = make_cart(begun, order, arguments, vertices).release();
}

void cart_create_weighted(MPI_Comm comm, const WeightedGrid& arguments, MPI_Info info, MPI_Comm* made) {
  GridChoice choice;
  ReorderCall call{"cart_create_weighted", &info};
  call.at_root = true;
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_cart");
    choice = checked(arguments, comm, MPI_ERR_ARG);
    call.arguments = fingerprint(choice.traffic);
  });
  const Order order = choose(begun, choice);
  const CartGrid chosen{arguments.ndims, choice.dims.data(), arguments.periods};
  Communicator cart = make_cart(begun, order, chosen, choice.vertices);
  std::copy(choice.dims.begin(), choice.dims.end(), arguments.dims);
  *made = cart.release();
}

void dims_create(MPI_Comm comm, const WeightedGrid& arguments, MPI_Info info) {
  GridChoice choice;
  ReorderCall call{"dims_create", &info};
  call.at_root = true;
  Rearrangement begun = begin(comm, call, [&] {
    choice = checked(arguments, comm, MPI_ERR_DIMS);
    int size = 0;
    check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
    if (choice.vertices != size) {
      throw AgreedError(MPI_ERR_DIMS, "dims: expected a grid of " + std::to_string(size) + " processes, found " +
                                          std::to_string(choice.vertices));
    }
    call.arguments = fingerprint(choice.traffic);
  });
  choose(begun, choice);
  std::copy(choice.dims.begin(), choice.dims.end(), arguments.dims);
}

}  // namespace ranktree::mpi
