// The blocking collectives of ranktree/mpi_collect.h.
#include <mpi.h>

#include "mpi/collect/call.h"
#include "mpi/collect/operation.h"
#include "ranktree/mpi_collect.h"

namespace collect = ranktree::mpi::collect;

// NOLINTBEGIN(readability-function-size): as many parameters as MPI's own have
int ranktree_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return collect::call(
      comm, [&] { return collect::broadcast(buffer, count, datatype, root, comm); },
      [&] { return PMPI_Bcast(buffer, count, datatype, root, comm); });
}

int ranktree_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      comm, [&] { return collect::reduce(sendbuf, recvbuf, count, datatype, op, root, comm); },
      [&] { return PMPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm); });
}

int ranktree_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return collect::call(
      comm, [&] { return collect::allreduce(sendbuf, recvbuf, count, datatype, op, comm); },
      [&] { return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm); });
}

int ranktree_Barrier(MPI_Comm comm) {
  return collect::call(comm, [&] { return collect::barrier(comm); }, [&] { return PMPI_Barrier(comm); });
}

int ranktree_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      comm, [&] { return collect::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm); },
      [&] { return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm); });
}

int ranktree_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                     const int displs[], MPI_Datatype recvtype, int root,
                     MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      collect::gatherv(sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs}, recvtype, root, comm));
}

int ranktree_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      comm, [&] { return collect::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm); },
      [&] { return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm); });
}

int ranktree_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                      void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                      MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      collect::scatterv(sendbuf, {sendcounts, displs}, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int ranktree_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      comm, [&] { return collect::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); },
      [&] { return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

int ranktree_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                        MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      collect::allgatherv(sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs}, recvtype, comm));
}

int ranktree_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm) {
  return collect::call(collect::reduce_scatter(sendbuf, recvbuf, {recvcounts, nullptr}, datatype, op, comm));
}

int ranktree_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                                  MPI_Comm comm) {
  return collect::call(
      comm, [&] { return collect::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm); },
      [&] { return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm); });
}

int ranktree_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm) {  // #lizard forgives: MPI's arguments
  return collect::call(
      comm, [&] { return collect::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); },
      [&] { return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}
// NOLINTEND(readability-function-size)
