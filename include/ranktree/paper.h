/* The names of hsplit-2018 (Hardware topology management in MPI applications through hierarchical communicators) §3,
 * for programs that are written after the paper. The calls are those of ranktree/mpi.h, whose rules hold here too.
 *
 * Link with libranktree_paper_<mpi>, which alone has names that begin with MPI_ (the standard reserves them for MPI
 * libraries), or run the program under `ranktree run --split`, whose preload library has these functions as well.
 * MPI_Comm_split_type belongs to the MPI library, which does not know the paper's split type: `ranktree run --split`
 * serves it. A program that is linked and runs without that command defines RANKTREE_PAPER_SPLIT_TYPE in front of this
 * header: its calls of MPI_Comm_split_type with the paper's type then reach Ranktree.
 *
 * Functions return MPI_SUCCESS or an MPI error code, as those of ranktree/mpi.h.
 */
#ifndef RANKTREE_PAPER_H
#define RANKTREE_PAPER_H

#include <mpi.h>

#include "ranktree/mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One level down, the highest first: MPI_Comm_split_type with this type is ranktree_Comm_hsplit(). §3.2.1. */
enum { MPI_COMM_TYPE_PHYSICAL_TOPOLOGY = RANKTREE_COMM_TYPE_HW_UNGUIDED };

/** ranktree_Comm_hsplit_with_roots(). §3.2.3.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int MPI_Comm_hsplit_with_roots(MPI_Comm oldcomm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm);

/** ranktree_Comm_get_hlevel_info(). §3.3.1.
 *
 * \param[out] type a string that lives as long as the process; the caller must not change or free it
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int MPI_Comm_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char** type);

/** ranktree_Comm_get_min_hlevel(), collective over comm. §3.3.2.
 *
 * \param[out] type as in MPI_Comm_get_hlevel_info()
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int MPI_Comm_get_min_hlevel(MPI_Comm comm, int nranks, int* ranks, char** type);

/** MPI_Comm_get_hlevel_info() under a name that is not MPI's; in libranktree_mpi_<mpi>.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_paper_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char** type);

/** MPI_Comm_get_min_hlevel() under a name that is not MPI's; in libranktree_mpi_<mpi>. Collective over comm.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_paper_get_min_hlevel(MPI_Comm comm, int nranks, const int ranks[], char** type);

#ifdef RANKTREE_PAPER_SPLIT_TYPE
/* All ranks take the same library's call, also those that pass MPI_UNDEFINED. */
static inline int ranktree_paper_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  int own[2], all[2]; /* the paper's type; a type of the MPI */
  int code;
  own[0] = split_type == MPI_COMM_TYPE_PHYSICAL_TOPOLOGY;
  own[1] = split_type != MPI_COMM_TYPE_PHYSICAL_TOPOLOGY && split_type != MPI_UNDEFINED;
  code = PMPI_Allreduce(own, all, 2, MPI_INT, MPI_MAX, comm);
  if (code != MPI_SUCCESS) return code;
  if (all[0] != 0 && all[1] == 0) return ranktree_Comm_split_type(comm, split_type, key, info, newcomm);
  return MPI_Comm_split_type(comm, split_type, key, info, newcomm);
}
#define MPI_Comm_split_type ranktree_paper_split_type
#endif

#ifdef __cplusplus
}
#endif

#endif
