/* The C side of the Fortran module ranktree_reorder_bindings: the reordering calls of ranktree/mpi.h with Fortran's
 * handles. Not built for MPI's standard ABI, which has no Fortran handles.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "ranktree/base.h"
#include "ranktree/mpi.h"

RANKTREE_API int ranktree_fortran_Dist_graph_create(MPI_Fint comm, int n, const int sources[], const int degrees[],
                                                    const int destinations[], int kind, const int weights[],
                                                    MPI_Fint info, int reorder, MPI_Fint* made);
RANKTREE_API int ranktree_fortran_Dist_graph_create_adjacent(MPI_Fint comm, int indegree, const int sources[],
                                                             int sourcekind, const int sourceweights[], int outdegree,
                                                             const int destinations[], int destkind,
                                                             const int destweights[], MPI_Fint info, int reorder,
                                                             MPI_Fint* made);
RANKTREE_API int ranktree_fortran_Graph_create(MPI_Fint comm, int nnodes, const int index[], const int edges[],
                                               int reorder, MPI_Fint* made);
RANKTREE_API int ranktree_fortran_Cart_create(MPI_Fint comm, int ndims, const int dims[], const int periods[],
                                              int reorder, MPI_Fint* made);
RANKTREE_API int ranktree_fortran_Dims_create(MPI_Fint comm, int ndims, const double weights[], const int periods[],
                                              MPI_Fint info, int dims[]);
RANKTREE_API int ranktree_fortran_Cart_create_weighted(MPI_Fint comm, int ndims, const double weights[],
                                                       const int periods[], MPI_Fint info, int dims[], MPI_Fint* made);
RANKTREE_API int ranktree_fortran_Comm_reorder(MPI_Fint comm, int n, const int sources[], const int degrees[],
                                               const int destinations[], const double weights[], MPI_Fint info,
                                               int* newrank, MPI_Fint* made);
RANKTREE_API int ranktree_fortran_Comm_get_info(MPI_Fint comm, MPI_Fint* info);
RANKTREE_API int ranktree_fortran_read_pattern(const char* file, MPI_Fint comm, const char* metric, int* n,
                                               int64_t* edges, int* lists[4]);
RANKTREE_API int ranktree_fortran_Comm_rebalance(MPI_Fint comm, MPI_Fint info, int newranks[], MPI_Fint* made);

/* The module's RANKTREE_WEIGHTS_GIVEN, RANKTREE_WEIGHTS_UNIT, RANKTREE_WEIGHTS_NONE. */
static const int* weights_of(int kind, const int* weights) {
  if (kind == 1) return MPI_UNWEIGHTED;
  return kind == 2 ? MPI_WEIGHTS_EMPTY : weights;
}

static int give(int code, MPI_Comm made, MPI_Fint* to) {
  if (code == MPI_SUCCESS && to != NULL) *to = PMPI_Comm_c2f(made);
  return code;
}

// NOLINTBEGIN(readability-function-size): MPI's arguments
int ranktree_fortran_Dist_graph_create(MPI_Fint comm, int n, const int sources[], const int degrees[],
                                       const int destinations[], int kind, const int weights[], MPI_Fint info,
                                       int reorder, MPI_Fint* made) {
  MPI_Comm graph = MPI_COMM_NULL;
  const int code = ranktree_Dist_graph_create(PMPI_Comm_f2c(comm), n, sources, degrees, destinations,
                                              weights_of(kind, weights), PMPI_Info_f2c(info), reorder, &graph);
  return give(code, graph, made);
}

int ranktree_fortran_Dist_graph_create_adjacent(MPI_Fint comm, int indegree, const int sources[], int sourcekind,
                                                const int sourceweights[], int outdegree, const int destinations[],
                                                int destkind, const int destweights[], MPI_Fint info, int reorder,
                                                MPI_Fint* made) {  // #lizard forgives: MPI's arguments
  MPI_Comm graph = MPI_COMM_NULL;
  const int code = ranktree_Dist_graph_create_adjacent(
      PMPI_Comm_f2c(comm), indegree, sources, weights_of(sourcekind, sourceweights), outdegree, destinations,
      weights_of(destkind, destweights), PMPI_Info_f2c(info), reorder, &graph);
  return give(code, graph, made);
}

int ranktree_fortran_Graph_create(MPI_Fint comm, int nnodes, const int index[], const int edges[], int reorder,
                                  MPI_Fint* made) {
  MPI_Comm graph = MPI_COMM_NULL;
  const int code = ranktree_Graph_create(PMPI_Comm_f2c(comm), nnodes, index, edges, reorder, &graph);
  return give(code, graph, made);
}

int ranktree_fortran_Cart_create(MPI_Fint comm, int ndims, const int dims[], const int periods[], int reorder,
                                 MPI_Fint* made) {
  MPI_Comm grid = MPI_COMM_NULL;
  const int code = ranktree_Cart_create(PMPI_Comm_f2c(comm), ndims, dims, periods, reorder, &grid);
  return give(code, grid, made);
}

int ranktree_fortran_Dims_create(MPI_Fint comm, int ndims, const double weights[], const int periods[], MPI_Fint info,
                                 int dims[]) {
  return ranktree_Dims_create(PMPI_Comm_f2c(comm), ndims, weights, periods, PMPI_Info_f2c(info), dims);
}

int ranktree_fortran_Cart_create_weighted(MPI_Fint comm, int ndims, const double weights[], const int periods[],
                                          MPI_Fint info, int dims[], MPI_Fint* made) {
  MPI_Comm grid = MPI_COMM_NULL;
  const int code =
      ranktree_Cart_create_weighted(PMPI_Comm_f2c(comm), ndims, weights, periods, PMPI_Info_f2c(info), dims, &grid);
  return give(code, grid, made);
}

int ranktree_fortran_Comm_reorder(MPI_Fint comm, int n, const int sources[], const int degrees[],
                                  const int destinations[], const double weights[], MPI_Fint info, int* newrank,
                                  MPI_Fint* made) {
  MPI_Comm reordered = MPI_COMM_NULL;
  const int code = ranktree_Comm_reorder(PMPI_Comm_f2c(comm), n, sources, degrees, destinations, weights,
                                         PMPI_Info_f2c(info), newrank, made == NULL ? NULL : &reordered);
  return give(code, reordered, made);
}

// NOLINTEND(readability-function-size)

int ranktree_fortran_Comm_get_info(MPI_Fint comm, MPI_Fint* info) {
  MPI_Info made = MPI_INFO_NULL;
  const int code = ranktree_Comm_get_info(PMPI_Comm_f2c(comm), &made);
  if (code == MPI_SUCCESS) *info = PMPI_Info_c2f(made);
  return code;
}

int ranktree_fortran_read_pattern(const char* file, MPI_Fint comm, const char* metric, int* n, int64_t* edges,
                                  int* lists[4]) {
  const int code =
      ranktree_read_pattern(file, PMPI_Comm_f2c(comm), metric, n, &lists[0], &lists[1], &lists[2], &lists[3]);
  if (code != MPI_SUCCESS) return code;
  *edges = 0;
  for (int i = 0; i < *n; ++i) *edges += lists[1][i];
  return code;
}

int ranktree_fortran_Comm_rebalance(MPI_Fint comm, MPI_Fint info, int newranks[], MPI_Fint* made) {
  MPI_Comm better = MPI_COMM_NULL;
  const int code = ranktree_Comm_rebalance(PMPI_Comm_f2c(comm), PMPI_Info_f2c(info), newranks, &better);
  return give(code, better, made);
}
