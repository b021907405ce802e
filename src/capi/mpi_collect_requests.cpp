// The nonblocking and the persistent collectives of ranktree/mpi_collect.h.
#include <mpi.h>

#include "capi/mpi_request.h"
#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace collect = ranktree::mpi::collect;
using ranktree::capi::begin;
using ranktree::capi::prepare;

// NOLINTBEGIN(readability-function-size): as many parameters as MPI's own have
int ranktree_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    ranktree_Request* request) {
  return begin(collect::broadcast(buffer, count, datatype, root, comm), request);
}

int ranktree_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::reduce(sendbuf, recvbuf, count, datatype, op, root, comm), request);
}

int ranktree_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                        ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::allreduce(sendbuf, recvbuf, count, datatype, op, comm), request);
}

int ranktree_Ibarrier(MPI_Comm comm, ranktree_Request* request) { return begin(collect::barrier(comm), request); }

int ranktree_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm,
                     ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
}

int ranktree_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                      const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                      ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::gatherv(sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs}, recvtype, root, comm),
               request);
}

int ranktree_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, int root, MPI_Comm comm,
                      ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
}

int ranktree_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                       void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::scatterv(sendbuf, {sendcounts, displs}, sendtype, recvbuf, recvcount, recvtype, root, comm),
               request);
}

int ranktree_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm,
                        ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}

int ranktree_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                         ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::allgatherv(sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs}, recvtype, comm),
               request);
}

int ranktree_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm,
                             ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::reduce_scatter(sendbuf, recvbuf, {recvcounts, nullptr}, datatype, op, comm), request);
}

int ranktree_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                   MPI_Comm comm, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), request);
}

int ranktree_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm,
                       ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin(collect::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}

int ranktree_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info /*info*/,
                        ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::broadcast(buffer, count, datatype, root, comm), request);
}

int ranktree_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                         MPI_Comm comm, MPI_Info /*info*/,
                         ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::reduce(sendbuf, recvbuf, count, datatype, op, root, comm), request);
}

int ranktree_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Info /*info*/,
                            ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::allreduce(sendbuf, recvbuf, count, datatype, op, comm), request);
}

int ranktree_Barrier_init(MPI_Comm comm, MPI_Info /*info*/, ranktree_Request* request) {
  return prepare(collect::barrier(comm), request);
}

int ranktree_Gather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
                         ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
}

int ranktree_Gatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
                          MPI_Info /*info*/, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::gatherv(sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs}, recvtype, root, comm),
                 request);
}

int ranktree_Scatter_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
                          ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), request);
}

int ranktree_Scatterv_init(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                           void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           MPI_Info /*info*/, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::scatterv(sendbuf, {sendcounts, displs}, sendtype, recvbuf, recvcount, recvtype, root, comm),
                 request);
}

int ranktree_Allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                            ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}

int ranktree_Allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Info /*info*/, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::allgatherv(sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs}, recvtype, comm),
                 request);
}

int ranktree_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                                 MPI_Op op, MPI_Comm comm, MPI_Info /*info*/,
                                 ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::reduce_scatter(sendbuf, recvbuf, {recvcounts, nullptr}, datatype, op, comm), request);
}

int ranktree_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                       MPI_Op op, MPI_Comm comm, MPI_Info /*info*/,
                                       ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), request);
}

int ranktree_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                           ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare(collect::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), request);
}
// NOLINTEND(readability-function-size)
