// The collectives of ranktree/mpi_collect_large.h.
#include <mpi.h>

#include "capi/mpi_large.h"
#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"
#include "ranktree/mpi_collect_large.h"

namespace collect = ranktree::mpi::collect;
using ranktree::capi::begin_large;
using ranktree::capi::call_large;
using ranktree::capi::prepare_large;

// NOLINTBEGIN(readability-function-size): as many parameters as MPI's own have
int ranktree_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return call_large(collect::broadcast(buffer, count, datatype, root, comm));
}

int ranktree_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                      MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::reduce(sendbuf, recvbuf, count, datatype, op, root, comm));
}

int ranktree_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
  return call_large(collect::allreduce(sendbuf, recvbuf, count, datatype, op, comm));
}

int ranktree_Gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int ranktree_Gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                       MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::gatherv(sendbuf, sendcount, sendtype, recvbuf, {}, recvtype, root, comm),
                    {recvcounts, displs});
}

int ranktree_Scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int ranktree_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                        MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::scatterv(sendbuf, {}, sendtype, recvbuf, recvcount, recvtype, root, comm),
                    {sendcounts, displs});
}

int ranktree_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype,
                         MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int ranktree_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                          MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::allgatherv(sendbuf, sendcount, sendtype, recvbuf, {}, recvtype, comm),
                    {recvcounts, displs});
}

int ranktree_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm) {
  return call_large(collect::reduce_scatter(sendbuf, recvbuf, {}, datatype, op, comm), {recvcounts, nullptr});
}

int ranktree_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                    MPI_Op op, MPI_Comm comm) {
  return call_large(collect::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm));
}

int ranktree_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype,
                        MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return call_large(collect::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int ranktree_Ibcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      ranktree_Request* request) {
  return begin_large(collect::broadcast(buffer, count, datatype, root, comm), {}, request);
}

int ranktree_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                       MPI_Comm comm, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::reduce(sendbuf, recvbuf, count, datatype, op, root, comm), {}, request);
}

int ranktree_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::allreduce(sendbuf, recvbuf, count, datatype, op, comm), {}, request);
}

int ranktree_Igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), {},
                     request);
}

int ranktree_Igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                        MPI_Comm comm, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::gatherv(sendbuf, sendcount, sendtype, recvbuf, {}, recvtype, root, comm),
                     {recvcounts, displs}, request);
}

int ranktree_Iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                        ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), {},
                     request);
}

int ranktree_Iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                         MPI_Comm comm, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::scatterv(sendbuf, {}, sendtype, recvbuf, recvcount, recvtype, root, comm),
                     {sendcounts, displs}, request);
}

int ranktree_Iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), {}, request);
}

int ranktree_Iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                           ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::allgatherv(sendbuf, sendcount, sendtype, recvbuf, {}, recvtype, comm),
                     {recvcounts, displs}, request);
}

int ranktree_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype,
                               MPI_Op op, MPI_Comm comm,
                               ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::reduce_scatter(sendbuf, recvbuf, {}, datatype, op, comm), {recvcounts, nullptr}, request);
}

int ranktree_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm,
                                     ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), {}, request);
}

int ranktree_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return begin_large(collect::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), {}, request);
}

int ranktree_Bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                          MPI_Info /*info*/, ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::broadcast(buffer, count, datatype, root, comm), {}, request);
}

int ranktree_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           int root, MPI_Comm comm, MPI_Info /*info*/,
                           ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::reduce(sendbuf, recvbuf, count, datatype, op, root, comm), {}, request);
}

int ranktree_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, MPI_Info /*info*/,
                              ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::allreduce(sendbuf, recvbuf, count, datatype, op, comm), {}, request);
}

int ranktree_Gather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
                           ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), {},
                       request);
}

int ranktree_Gatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                            MPI_Comm comm, MPI_Info /*info*/,
                            ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::gatherv(sendbuf, sendcount, sendtype, recvbuf, {}, recvtype, root, comm),
                       {recvcounts, displs}, request);
}

int ranktree_Scatter_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
                            ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm), {},
                       request);
}

int ranktree_Scatterv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                             MPI_Comm comm, MPI_Info /*info*/,
                             ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::scatterv(sendbuf, {}, sendtype, recvbuf, recvcount, recvtype, root, comm),
                       {sendcounts, displs}, request);
}

int ranktree_Allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                              ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), {},
                       request);
}

int ranktree_Allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Info /*info*/,
                               ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::allgatherv(sendbuf, sendcount, sendtype, recvbuf, {}, recvtype, comm),
                       {recvcounts, displs}, request);
}

int ranktree_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info /*info*/,
                                   ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::reduce_scatter(sendbuf, recvbuf, {}, datatype, op, comm), {recvcounts, nullptr},
                       request);
}

int ranktree_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm, MPI_Info /*info*/,
                                         ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm), {}, request);
}

int ranktree_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                             ranktree_Request* request) {  // #lizard forgives: MPI's arguments
  return prepare_large(collect::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), {},
                       request);
}
// NOLINTEND(readability-function-size)
