/* Every collective operation on MPI_COMM_WORLD, blocking and not, each rank being the root once. */
#include <string.h>

#include "report.h"

enum { MOST = 64 };

static int out[MOST * MOST], in[MOST * MOST], counts[MOST], places[MOST], sizes[MOST], offsets[MOST];
static MPI_Datatype types[MOST];

static void fresh(int salt) {
  for (int i = 0; i < ranks * ranks; ++i) out[i] = 1000 * my_rank + 100 * salt + i, in[i] = -1;
}

/* Waits for a nonblocking call, then reports what came. */
static void came(const char* name, MPI_Request* request) {
  if (request != NULL) MPI_Wait(request, MPI_STATUS_IGNORE);
  report_all(name, in, ranks * ranks);
}

/* Rank i sends or gets i + 1 items. */
static void uneven(void) {
  for (int i = 0, at = 0; i < ranks; at += ++i) {
    counts[i] = i + 1;
    places[i] = at;
    sizes[i] = 1;
    offsets[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
}

static void rooted(int root) {
  MPI_Request r;
  fresh(root);
  MPI_Bcast(memcpy(in, out, sizeof in), 2, MPI_INT, root, MPI_COMM_WORLD), came("bcast", NULL);
  MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD), came("reduce", NULL);
  MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, root, MPI_COMM_WORLD), came("gather", NULL);
  MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, root, MPI_COMM_WORLD), came("scatter", NULL);
  MPI_Gatherv(out, counts[my_rank], MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD), came("gatherv", NULL);
  MPI_Scatterv(out, counts, places, MPI_INT, in, counts[my_rank], MPI_INT, root, MPI_COMM_WORLD);
  came("scatterv", NULL);
  fresh(root + 1);
  MPI_Ibcast(memcpy(in, out, sizeof in), 2, MPI_INT, root, MPI_COMM_WORLD, &r), came("ibcast", &r);
  MPI_Ireduce(out, in, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &r), came("ireduce", &r);
  MPI_Igather(out, 2, MPI_INT, in, 2, MPI_INT, root, MPI_COMM_WORLD, &r), came("igather", &r);
  MPI_Iscatter(out, 2, MPI_INT, in, 2, MPI_INT, root, MPI_COMM_WORLD, &r), came("iscatter", &r);
  MPI_Igatherv(out, counts[my_rank], MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD, &r);
  came("igatherv", &r);
  MPI_Iscatterv(out, counts, places, MPI_INT, in, counts[my_rank], MPI_INT, root, MPI_COMM_WORLD, &r);
  came("iscatterv", &r);
}

static void for_all(void) {
  fresh(3);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD), came("allreduce", NULL);
  MPI_Scan(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD), came("scan", NULL);
  fresh(4);
  MPI_Exscan(out, in, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD), came("exscan", NULL);
  MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), came("allgather", NULL);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, memcpy(in, out, sizeof in), 1, MPI_INT, MPI_COMM_WORLD);
  came("allgather in place", NULL);
  MPI_Allgatherv(out, counts[my_rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD), came("allgatherv", NULL);
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), came("alltoall", NULL);
  MPI_Alltoallv(out, sizes, sizes, MPI_INT, in, sizes, places, MPI_INT, MPI_COMM_WORLD), came("alltoallv", NULL);
  MPI_Alltoallw(out, sizes, offsets, types, in, sizes, offsets, types, MPI_COMM_WORLD), came("alltoallw", NULL);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), came("reduce_scatter", NULL);
  MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), came("reduce_scatter_block", NULL);
}

static void for_all_later(void) {
  MPI_Request r;
  fresh(5);
  MPI_Ibarrier(MPI_COMM_WORLD, &r), came("ibarrier", &r);
  MPI_Iallreduce(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r), came("iallreduce", &r);
  MPI_Iscan(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r), came("iscan", &r);
  fresh(6);
  MPI_Iexscan(out, in, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r), came("iexscan", &r);
  MPI_Iallgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &r), came("iallgather", &r);
  MPI_Iallgatherv(out, counts[my_rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
  came("iallgatherv", &r);
  MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &r), came("ialltoall", &r);
  MPI_Ialltoallv(out, sizes, sizes, MPI_INT, in, sizes, places, MPI_INT, MPI_COMM_WORLD, &r), came("ialltoallv", &r);
  MPI_Ialltoallw(out, sizes, offsets, types, in, sizes, offsets, types, MPI_COMM_WORLD, &r), came("ialltoallw", &r);
  MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r), came("ireduce_scatter", &r);
  MPI_Ireduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r), came("ireduce_scatter_block", &r);
}

/* MPI 4, where the MPI has it: a third of all wrappers. */
static void mpi4(void) {
#if MPI_VERSION >= 4
  MPI_Request r[7];
  MPI_Count wide[MOST];
  MPI_Aint wide_places[MOST];
  for (int i = 0; i < ranks; ++i) wide[i] = counts[i], wide_places[i] = places[i];
  fresh(7);
  MPI_Allreduce_init(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Bcast_init(in, 2, MPI_INT, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Gather_init(out, 1, MPI_INT, in, 1, MPI_INT, ranks / 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
  MPI_Allgatherv_init(out, counts[my_rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[3]);
  MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[4]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[5]);
  MPI_Scan_init_c(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[6]);
  for (int i = 0; i < 7; ++i) {
    MPI_Start(&r[i]);
    MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    report_all("persistent", in, ranks * ranks);
    MPI_Request_free(&r[i]);
  }
  fresh(8);
  MPI_Bcast_c(in, 2, MPI_INT, ranks - 1, MPI_COMM_WORLD), came("bcast_c", NULL);
  MPI_Allgatherv_c(out, counts[my_rank], MPI_INT, in, wide, wide_places, MPI_INT, MPI_COMM_WORLD);
  came("allgatherv_c", NULL);
  MPI_Gatherv_c(out, counts[my_rank], MPI_INT, in, wide, wide_places, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  came("gatherv_c", NULL);
  MPI_Iallreduce_c(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r), came("iallreduce_c", r);
#endif
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (ranks > MOST) MPI_Abort(MPI_COMM_WORLD, 1);
  uneven();
  for (int root = 0; root < ranks; ++root) rooted(root);
  for_all();
  for_all_later();
  mpi4();
  return end();
}
