/* The collectives of ranktree/mpi_collect.h, which includes this file, with counts of type MPI_Count and displacements
 * of type MPI_Aint, as in MPI 4 (MPI 5.0 §2.5.8). For every MPI, also those without such calls.
 *
 * Everything else is as in the calls with int, for all counts: variants, requests, errors, synchronisation. A count
 * above 2^31-1 is carried out as fewer elements of a longer type, so it needs a divisor up to 65,536 that brings it
 * below 2^31. In vector forms one divisor must serve all counts and displacements of the call, for instance when they
 * are whole pages. Without a divisor, a vector form returns MPI_ERR_COUNT on the rank itself; a single count is passed
 * to the native call, which refuses it with MPI_ERR_COUNT. Negative counts are refused.
 *
 * A rank that gets MPI_ERR_COUNT takes no part in the call, so ranks with valid arguments may wait for it forever, as
 * with errors of MPI itself. Programs that continue after MPI_ERR_COUNT must make sure that all ranks detect it, from
 * the same numbers.
 *
 * Reductions: blocking Reduce and Allreduce accept any count. In others, counts above 2^31-1 have no divisor: lists
 * return MPI_ERR_COUNT and single counts are passed to the native call. One element of a type must have less than 2
 * GiB.
 */
#ifndef RANKTREE_MPI_COLLECT_LARGE_H
#define RANKTREE_MPI_COLLECT_LARGE_H

#include <mpi.h>

#include "ranktree/mpi_collect.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Blocking. Collective over comm; arguments as those of the MPI function with this name.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                   MPI_Op op, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                      MPI_Op op, MPI_Comm comm);
RANKTREE_API int ranktree_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                    int root, MPI_Comm comm);
RANKTREE_API int ranktree_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                     MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                     int root, MPI_Comm comm);
RANKTREE_API int ranktree_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
RANKTREE_API int ranktree_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                       MPI_Comm comm);
RANKTREE_API int ranktree_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
RANKTREE_API int ranktree_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
RANKTREE_API int ranktree_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/** Nonblocking. Collective over comm and local. Buffers, lists and operations must stay until the request is complete.
 *
 * \param[out] request to be completed by ranktree_Wait(), ranktree_Test() or ranktree_Waitall(); untouched on error
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                   ranktree_Request* request);
RANKTREE_API int ranktree_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                    MPI_Op op, int root, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                       MPI_Op op, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                    ranktree_Request* request);
RANKTREE_API int ranktree_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                     int root, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                     ranktree_Request* request);
RANKTREE_API int ranktree_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                      MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                      int root, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                       ranktree_Request* request);
RANKTREE_API int ranktree_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                        MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                  ranktree_Request* request);
RANKTREE_API int ranktree_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                      ranktree_Request* request);

/** Persistent. Collective over comm, and synchronising. Buffers and operations must stay until ranktree_Request_free();
 * lists of counts and displacements too, though they are read here only.
 *
 * \param info MPI_INFO_NULL or hints, of which there are none yet
 * \param[out] request inactive, to be begun by ranktree_Start(); untouched on error
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                       MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                        MPI_Op op, int root, MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                                           MPI_Op op, MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                        MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                         int root, MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                         MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                          MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                          ranktree_Request* request);
RANKTREE_API int ranktree_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                           MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                            void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                            ranktree_Request* request);
RANKTREE_API int ranktree_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                ranktree_Request* request);
RANKTREE_API int ranktree_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                      ranktree_Request* request);
RANKTREE_API int ranktree_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                          MPI_Info info, ranktree_Request* request);

#ifdef __cplusplus
}
#endif

#endif
