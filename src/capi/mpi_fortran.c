/* The C side of the Fortran module ranktree: ranktree/mpi.h with Fortran's handles. Ranks, indices and error codes are
 * the same in both languages. Type names are returned with their terminator; the module pads them. The contract of each
 * call is in ranktree/mpi.h. Not built for MPI's standard ABI, which has no Fortran handles.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "ranktree/base.h"
#include "ranktree/mpi.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "the module's integers are C's");

RANKTREE_API int ranktree_fortran_Comm_hsplit(MPI_Fint comm, int key, MPI_Fint info, MPI_Fint* newcomm);
RANKTREE_API int ranktree_fortran_Comm_hsplit_with_roots(MPI_Fint comm, MPI_Fint info, MPI_Fint* newcomm,
                                                         MPI_Fint* rootscomm);
RANKTREE_API int ranktree_fortran_Comm_hsplit_all(MPI_Fint comm, MPI_Fint info, int max, int* nlevels,
                                                  MPI_Fint levels[], MPI_Fint roots[]);
RANKTREE_API int ranktree_fortran_Comm_split_type(MPI_Fint comm, int split_type, int key, MPI_Fint info,
                                                  MPI_Fint* newcomm);
RANKTREE_API int ranktree_fortran_Comm_get_hlevel_info(MPI_Fint comm, int* num_comms, int* index, char* type, int len,
                                                       int* resultlen);
RANKTREE_API int ranktree_fortran_Comm_get_min_hlevel(MPI_Fint comm, int n, const int ranks[], char* type, int len,
                                                      int* resultlen);
RANKTREE_API int ranktree_fortran_Comm_get_location(MPI_Fint comm, int rank, int max, int* nlevels,
                                                    char types[][RANKTREE_MAX_TYPE], int64_t ids[]);
RANKTREE_API int ranktree_fortran_Get_hw_resource_info(MPI_Fint* hw_info);
RANKTREE_API int ranktree_fortran_Comm_get_message(MPI_Fint comm, char* text, int len, int* resultlen);

int ranktree_fortran_Comm_hsplit(MPI_Fint comm, int key, MPI_Fint info, MPI_Fint* newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code = ranktree_Comm_hsplit(PMPI_Comm_f2c(comm), key, PMPI_Info_f2c(info), &made);
  if (code == MPI_SUCCESS) *newcomm = PMPI_Comm_c2f(made);
  return code;
}

int ranktree_fortran_Comm_hsplit_with_roots(MPI_Fint comm, MPI_Fint info, MPI_Fint* newcomm, MPI_Fint* rootscomm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm roots = MPI_COMM_NULL;
  const int code = ranktree_Comm_hsplit_with_roots(PMPI_Comm_f2c(comm), PMPI_Info_f2c(info), &made, &roots);
  if (code != MPI_SUCCESS) return code;
  *newcomm = PMPI_Comm_c2f(made);
  *rootscomm = PMPI_Comm_c2f(roots);
  return code;
}

static void give_handles(int count, const MPI_Comm* from, MPI_Fint* to) {
  for (int i = 0; i < count; ++i) to[i] = PMPI_Comm_c2f(from[i]);
}

int ranktree_fortran_Comm_hsplit_all(MPI_Fint comm, MPI_Fint info, int max, int* nlevels, MPI_Fint levels[],
                                     MPI_Fint roots[]) {
  /* Without memory, and for an invalid max, the pointers are null: all ranks must reach the call, which returns the
   * same
   * error on all of them. */
  const size_t capacity = max < 0 ? 0 : (size_t)max + 1;
  MPI_Comm* const made = capacity == 0 ? NULL : calloc(2 * capacity, sizeof *made);
  MPI_Comm* const made_roots = made == NULL || roots == NULL ? NULL : made + capacity;
  const int code = ranktree_Comm_hsplit_all(PMPI_Comm_f2c(comm), PMPI_Info_f2c(info), max, nlevels, made, made_roots);
  if (code == MPI_SUCCESS && made != NULL) {
    give_handles(max, made, levels);
    if (made_roots != NULL) give_handles(max, made_roots, roots);
  }
  free(made);
  return code;
}

int ranktree_fortran_Comm_split_type(MPI_Fint comm, int split_type, int key, MPI_Fint info, MPI_Fint* newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code = ranktree_Comm_split_type(PMPI_Comm_f2c(comm), split_type, key, PMPI_Info_f2c(info), &made);
  if (code == MPI_SUCCESS) *newcomm = PMPI_Comm_c2f(made);
  return code;
}

int ranktree_fortran_Comm_get_hlevel_info(MPI_Fint comm, int* num_comms, int* index, char* type, int len,
                                          int* resultlen) {
  return ranktree_Comm_get_hlevel_info(PMPI_Comm_f2c(comm), num_comms, index, type, len, resultlen);
}

int ranktree_fortran_Comm_get_min_hlevel(MPI_Fint comm, int n, const int ranks[], char* type, int len, int* resultlen) {
  return ranktree_Comm_get_min_hlevel(PMPI_Comm_f2c(comm), n, ranks, type, len, resultlen);
}

int ranktree_fortran_Comm_get_location(MPI_Fint comm, int rank, int max, int* nlevels, char types[][RANKTREE_MAX_TYPE],
                                       int64_t ids[]) {
  return ranktree_Comm_get_location(PMPI_Comm_f2c(comm), rank, max, nlevels, types, ids);
}

int ranktree_fortran_Get_hw_resource_info(MPI_Fint* hw_info) {
  MPI_Info made = MPI_INFO_NULL;
  const int code = ranktree_Get_hw_resource_info(&made);
  if (code == MPI_SUCCESS) *hw_info = PMPI_Info_c2f(made);
  return code;
}

int ranktree_fortran_Comm_get_message(MPI_Fint comm, char* text, int len, int* resultlen) {
  return ranktree_Comm_get_message(PMPI_Comm_f2c(comm), text, len, resultlen);
}
