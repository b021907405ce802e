// The calls in which MPI_COMM_WORLD is more than a communicator in another order, and those that set it up.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>

#include "mpi/handle.h"
#include "preload/init_entries.h"
#include "preload/next.h"
#include "preload/settings.h"
#include "preload/world/entries.h"
#include "preload/world/library.h"
#include "preload/world/world.h"

#if !RANKTREE_HAS_MPI_Session_init
using MPI_Session = void*;  // a handle that is only passed on
#endif

// Calls that an mpi.h may leave out, being too old or too new.
#undef MPI_Errhandler_set
#undef MPI_Errhandler_get
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): MPI's names
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
#if !RANKTREE_HAS_MPI_Attr_get
int MPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag);
int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag);
#endif
#if !RANKTREE_HAS_MPI_Session_init
int MPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup);
int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup);
#endif
// NOLINTEND(readability-identifier-naming)
}

namespace ranktree::preload {
namespace {

// MPI's own attributes (MPI_TAG_UB, MPI_UNIVERSE_SIZE, ...) hang on the MPI's MPI_COMM_WORLD alone in some MPIs.
template <typename Next>
int get_attr(Next next, MPI_Comm comm, int keyval, void* value, int* flag) {
  const MPI_Comm world = in_world(comm);
  const int code = pass_on(next, world, keyval, value, flag);
  if (world == comm || code != MPI_SUCCESS || *flag != 0) return code;
  return next(comm, keyval, value, flag);
}

// Both: errors of calls without a communicator are MPI_COMM_WORLD's in MPI 3.
template <typename Next>
int set_errhandler(Next next, MPI_Comm comm, MPI_Errhandler errhandler) {
  const MPI_Comm world = in_world(comm);
  const int code = pass_on(next, world, errhandler);
  if (world == comm || code != MPI_SUCCESS) return code;
  return next(comm, errhandler);
}

// Ours makes its grid with the MPI's call.
struct CartArguments {
  int ndims;
  const int* dims;
  const int* periods;
  int reorder;
};

bool is_grid(const CartArguments& grid) noexcept {
  if (grid.ndims < 1 || grid.dims == nullptr || grid.periods == nullptr) return false;
  return std::all_of(grid.dims, grid.dims + grid.ndims, [](int length) { return length > 0; });
}

// The program's info, if it gives one, and what to minimise; null where there is no memory for it.
mpi::Info with_objective(MPI_Info given, const char* objective) noexcept {
  mpi::Info info;
  const int code = given == MPI_INFO_NULL ? PMPI_Info_create(info.receive()) : PMPI_Info_dup(given, info.receive());
  if (code == MPI_SUCCESS) PMPI_Info_set(info.get(), "ranktree_objective", objective);
  return info;
}

// The calls that Ranktree makes in one of the program's: they are the MPI's.
class Inside {
 public:
  Inside() noexcept : first_(!std::exchange(inside(), true)) {}
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  Inside(Inside&&) = delete;
  Inside& operator=(Inside&&) = delete;
  ~Inside() {
    if (first_) inside() = false;
  }
  [[nodiscard]] bool first() const noexcept { return first_; }

 private:
  static bool& inside() noexcept {
    thread_local bool is = false;
    return is;
  }
  bool first_;
};

// The grid of ranktree_Cart_create, in which every link between neighbours has the same weight, one byte, placed by an
// objective. Memory or an info that one rank lacks becomes an error on all ranks.
int tile_by_objective(MPI_Comm comm, const CartArguments& grid, const char* objective, MPI_Comm* comm_cart) noexcept {
  const auto count = static_cast<std::size_t>(grid.ndims);
  const std::unique_ptr<int[]> dims(new (std::nothrow) int[count]);           // NOLINT(*-avoid-c-arrays): may be null
  const std::unique_ptr<double[]> weights(new (std::nothrow) double[count]);  // NOLINT(*-avoid-c-arrays)
  if (dims) std::copy_n(grid.dims, count, dims.get());
  const double vertices = std::accumulate(grid.dims, grid.dims + count, 1.0, std::multiplies<>());
  if (weights) std::transform(grid.dims, grid.dims + count, weights.get(), [&](int d) { return vertices / d; });
  return Library::instance().cart_create_weighted(comm, grid.ndims, weights.get(), grid.periods,
                                                  with_objective(MPI_INFO_NULL, objective).get(), dims.get(),
                                                  comm_cart);
}

int tile(MPI_Comm comm, const CartArguments& grid, MPI_Comm* comm_cart) noexcept {
  const char* const objective = setting("RANKTREE_CART_OBJECTIVE");
  if (*objective != '\0' && is_grid(grid)) return tile_by_objective(comm, grid, objective, comm_cart);
  return Library::instance().cart_create(comm, grid.ndims, grid.dims, grid.periods, 1, comm_cart);
}

template <typename Next>
int cart_create(Next next, MPI_Comm comm, const CartArguments& grid, MPI_Comm* comm_cart) {
  const Inside call;
  const MPI_Comm world = in_world(comm);
  if (call.first() && makes(Topology::kGrid, world, grid.reorder != 0)) return tile(world, grid, comm_cart);
  return pass_on(next, world, grid.ndims, grid.dims, grid.periods, grid.reorder, comm_cart);
}

// What the calls that make a graph have in common.
struct GraphRequest {
  MPI_Comm comm;
  MPI_Info info;
  int reorder;
  MPI_Comm* made;
};

// Both calls that make a distributed graph: their arguments between communicator and info are handed on.
template <typename Ours, typename Next, typename... Arguments>
int dist_graph_create(Next next, Ours Library::* ours, const GraphRequest& request, Arguments... arguments) {
  const Inside call;
  const MPI_Comm world = in_world(request.comm);
  if (!call.first() || !makes(Topology::kGraph, world, request.reorder != 0)) {
    return pass_on(next, world, arguments..., request.info, request.reorder, request.made);
  }
  const char* const objective = setting("RANKTREE_GRAPH_OBJECTIVE");
  const Ours create = Library::instance().*ours;
  if (*objective == '\0') return create(world, arguments..., request.info, 1, request.made);
  return create(world, arguments..., with_objective(request.info, objective).get(), 1, request.made);
}

// It has no info, and weights of no kind: always placed by its edges.
template <typename Next>
int graph_create(Next next, const GraphRequest& request, int nnodes, const int* index, const int* edges) {
  const Inside call;
  const MPI_Comm world = in_world(request.comm);
  if (call.first() && makes(Topology::kGraph, world, request.reorder != 0)) {
    return Library::instance().graph_create(world, nnodes, index, edges, 1, request.made);
  }
  return pass_on(next, world, nnodes, index, edges, request.reorder, request.made);
}

// Process set names are URIs: not sensitive to case (MPI 5.0 §11.3.2).
bool names_world(const char* name) noexcept {
  constexpr std::string_view kWorld = "mpi://world";
  std::string_view given(name == nullptr ? "" : name);
  if (given.size() != kWorld.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char letter = given[i] >= 'A' && given[i] <= 'Z' ? static_cast<char>(given[i] - 'A' + 'a') : given[i];
    if (letter != kWorld[i]) return false;
  }
  return true;
}

template <typename Next>
int group_from_pset(Next next, MPI_Session session, const char* name, MPI_Group* group) {
  const int code = pass_on(next, session, name, group);
  if (code == MPI_SUCCESS && names_world(name)) reorder_world_group(group);
  return code;
}

}  // namespace
}  // namespace ranktree::preload

namespace preload = ranktree::preload;

RANKTREE_INIT_ENTRIES(preload::reorder_world)

RANKTREE_BOTH_BY(preload::get_attr, MPI_Comm_get_attr, (MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag),
                 comm, comm_keyval, attribute_val, flag)
#if RANKTREE_EXPORTS_MPI_Attr_get
RANKTREE_BOTH_BY(preload::get_attr, MPI_Attr_get, (MPI_Comm comm, int keyval, void* attribute_val, int* flag), comm,
                 keyval, attribute_val, flag)
#endif

RANKTREE_BOTH_BY(preload::set_errhandler, MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler), comm,
                 errhandler)
#if RANKTREE_EXPORTS_MPI_Errhandler_set
RANKTREE_ENTRY int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return preload::set_errhandler(RANKTREE_NEXT(MPI_Errhandler_set)(), comm, errhandler);
}
#endif
#if RANKTREE_EXPORTS_PMPI_Errhandler_set
RANKTREE_ENTRY int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return preload::set_errhandler(RANKTREE_NEXT(PMPI_Errhandler_set)(), comm, errhandler);
}
#endif
#if RANKTREE_EXPORTS_MPI_Errhandler_get
RANKTREE_ENTRY int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return pass_on(RANKTREE_NEXT(MPI_Errhandler_get)(), in_world(comm), errhandler);
}
#endif
#if RANKTREE_EXPORTS_PMPI_Errhandler_get
RANKTREE_ENTRY int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return pass_on(RANKTREE_NEXT(PMPI_Errhandler_get)(), in_world(comm), errhandler);
}
#endif

// NOLINTBEGIN(readability-function-size): MPI's parameters
RANKTREE_BOTH_BY(preload::cart_create, MPI_Cart_create,
                 (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                  MPI_Comm* comm_cart),
                 comm_old, {ndims, dims, periods, reorder}, comm_cart)
RANKTREE_BOTH_BY(preload::dist_graph_create, MPI_Dist_graph_create,
                 (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                  const int weights[], MPI_Info info, int reorder, MPI_Comm* comm_dist_graph),
                 &preload::Library::dist_graph_create, {comm_old, info, reorder, comm_dist_graph}, n, sources, degrees,
                 destinations, weights)
RANKTREE_BOTH_BY(preload::dist_graph_create, MPI_Dist_graph_create_adjacent,
                 (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int outdegree,
                  const int destinations[], const int destweights[], MPI_Info info, int reorder,
                  MPI_Comm* comm_dist_graph),
                 &preload::Library::dist_graph_create_adjacent, {comm_old, info, reorder, comm_dist_graph}, indegree,
                 sources, sourceweights, outdegree, destinations, destweights)
RANKTREE_BOTH_BY(preload::graph_create, MPI_Graph_create,
                 (MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                  MPI_Comm* comm_graph),
                 {comm_old, MPI_INFO_NULL, reorder, comm_graph}, nnodes, index, edges)
// NOLINTEND(readability-function-size)

#if RANKTREE_EXPORTS_MPI_Group_from_session_pset
RANKTREE_BOTH_BY(preload::group_from_pset, MPI_Group_from_session_pset,
                 (MPI_Session session, const char* pset_name, MPI_Group* newgroup), session, pset_name, newgroup)
#endif
