/* One-sided communication on windows of MPI_COMM_WORLD, of every kind. */
#include "report.h"

static int cells[64];

static void exchanged(const char* name, MPI_Win win, const int* memory) {
  const int to = (my_rank + 1) % ranks;
  int one = 1, fetched = -1, got = -1, value = 10 * my_rank, rank, size;
  MPI_Group group;
  MPI_Win_get_group(win, &group), MPI_Group_rank(group, &rank), MPI_Group_size(group, &size), MPI_Group_free(&group);
  report("window rank", rank), report("window size", size);
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Accumulate(&my_rank, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
  MPI_Fetch_and_op(&one, &fetched, MPI_INT, to, 2, MPI_SUM, win);
  MPI_Win_unlock(to, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, win);
  report(name, memory[0]), report("sum", got), report("fetched", fetched), report("added", memory[2]);
  MPI_Win_unlock(my_rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void dynamic(void) {
  MPI_Win win;
  MPI_Aint own, others[64];
  int memory[2] = {my_rank, 0}, got = -1;
  const int to = (my_rank + ranks - 1) % ranks;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, sizeof memory);
  MPI_Get_address(memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, others, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  MPI_Get(&got, 1, MPI_INT, to, others[to], 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  report("dynamic", got);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Win win;
  int* memory;
  MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  exchanged("create", win, cells), MPI_Win_free(&win);
  MPI_Win_allocate(256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory, &win);
  for (int i = 0; i < 64; ++i) memory[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD), exchanged("allocate", win, memory), MPI_Win_free(&win);
  MPI_Win_allocate_shared(256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&memory, &win);
  for (int i = 0; i < 64; ++i) memory[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD), exchanged("shared", win, memory), MPI_Win_free(&win);
  dynamic();
  return end();
}
