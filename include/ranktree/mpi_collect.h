/* Hierarchical collectives: MPI's operations, carried out along the machine's tree. Part of ranktree/mpi.h.
 *
 * Sources: hier-bcast-2014 (High-Level Topology-Oblivious Optimization of MPI Broadcast Algorithms on Extreme-Scale
 * Platforms) §3, hier-reduce-2016 (Hierarchical redesign of classic MPI reduction algorithms) §3, hsplit-2018 §6.
 * docs/explanation/collectives.md explains how a variant is chosen for each call.
 *
 * Arguments, collective rules, MPI_IN_PLACE, derived datatypes, user operations and results are MPI's; sums of
 * floating point numbers may be added in another order than in the native call. Calls on intercommunicators, on
 * communicators of one rank, and those that the native algorithm serves best are passed through to the MPI. The first
 * blocking or persistent call on a communicator creates the data stored with it (one communicator, one split by nodes,
 * one allgather) and synchronises its ranks; MPI_Comm_free frees all of it. Where MPI cannot create more
 * communicators, calls are passed through.
 *
 * Errors: as MPI's, in MPI's classes, after calling the communicator's error handler. Safe with MPI_THREAD_MULTIPLE.
 */
#ifndef RANKTREE_MPI_COLLECT_H
#define RANKTREE_MPI_COLLECT_H

#include <mpi.h>

#include "ranktree/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Blocking collectives. Collective over comm; arguments as those of the MPI function with this name.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                 int root, MPI_Comm comm);
RANKTREE_API int ranktree_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                    MPI_Comm comm);
RANKTREE_API int ranktree_Barrier(MPI_Comm comm);
RANKTREE_API int ranktree_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                  MPI_Comm comm);
RANKTREE_API int ranktree_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
RANKTREE_API int ranktree_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm);
RANKTREE_API int ranktree_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
RANKTREE_API int ranktree_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
RANKTREE_API int ranktree_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
RANKTREE_API int ranktree_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                               MPI_Op op, MPI_Comm comm);
RANKTREE_API int ranktree_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/** A pending operation, or a persistent one; NULL: none. It is not an MPI_Request, because MPI_Wait could not drive it
 * (docs/decisions/ranktree-requests-have-a-type-of-their-own.md). Pass it only to the functions below. */
typedef struct ranktree_request* ranktree_Request;

#define RANKTREE_REQUEST_NULL ((ranktree_Request)0)

/** Nonblocking collectives. Collective over comm and local: on a communicator without an earlier blocking or persistent
 * call, the native nonblocking collectives serve them. Arguments as MPI's. Buffers, lists of counts and operations must
 * stay until the request is complete; datatypes (except those of reductions) and comm may be freed before.
 *
 * ranktree_Wait(), ranktree_Test(), ranktree_Waitall() and blocking collectives of Ranktree make progress on all
 * requests of this process. Calls of the MPI, other functions of Ranktree such as ranktree_Comm_split_type(), and
 * collectives passed through to the MPI make none; a blocking collective that is passed through first completes all
 * pending operations on the same communicator.
 *
 * \param[out] request to be completed by ranktree_Wait(), ranktree_Test() or ranktree_Waitall()
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                 ranktree_Request* request);
RANKTREE_API int ranktree_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                  int root, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                     MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Ibarrier(MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                  ranktree_Request* request);
RANKTREE_API int ranktree_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                   ranktree_Request* request);
RANKTREE_API int ranktree_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                    MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                    int root, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                      ranktree_Request* request);
RANKTREE_API int ranktree_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, ranktree_Request* request);
RANKTREE_API int ranktree_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                                ranktree_Request* request);
RANKTREE_API int ranktree_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, ranktree_Request* request);

/** Persistent collectives (MPI 5.0 §6.13). Collective over comm, and synchronising. Nothing moves before
 * ranktree_Start(); the arguments must stay until ranktree_Request_free().
 *
 * \param info MPI_INFO_NULL or hints, of which there are none yet
 * \param[out] request inactive
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                     MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                      int root, MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Barrier_init(MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                      ranktree_Request* request);
RANKTREE_API int ranktree_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                       MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                                       ranktree_Request* request);
RANKTREE_API int ranktree_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[],
                                        MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                        int root, MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                         ranktree_Request* request);
RANKTREE_API int ranktree_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                          const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                          MPI_Comm comm, MPI_Info info, ranktree_Request* request);
RANKTREE_API int ranktree_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                              ranktree_Request* request);
RANKTREE_API int ranktree_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                                    ranktree_Request* request);
RANKTREE_API int ranktree_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                        ranktree_Request* request);

/** Starts an inactive persistent operation. Collective over its communicator, in the same order on all ranks as the
 * other starts and collective calls on it; local otherwise. MPI_ERR_REQUEST for other requests; MPI_ERR_COMM where the
 * communicator has been freed, if Ranktree served it: an intracommunicator of several ranks, among the first 256.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Start(ranktree_Request* request);

/** Returns when the operation is complete; waiting ranks yield the processor. A nonblocking operation's request is
 * freed and set to RANKTREE_REQUEST_NULL, a persistent one becomes inactive. Returns at once for inactive and null
 * requests. Returns the errors of the operation's messages.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Wait(ranktree_Request* request);

/** As ranktree_Wait(), without waiting.
 *
 * \param[out] flag 1 when complete (or nothing to do), else 0
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Test(ranktree_Request* request, int* flag);

/** Waits until all are complete, in any order. Then returns the error of the first request that has one.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Waitall(int count, ranktree_Request requests[]);

/** Frees an inactive persistent request. MPI_ERR_REQUEST where the operation is pending. Ignores null requests.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Request_free(ranktree_Request* request);

#ifdef __cplusplus
}
#endif

#include "ranktree/mpi_collect_large.h"

#endif
