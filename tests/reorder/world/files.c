/* Files opened by MPI_COMM_WORLD: every rank's data in its place. The argument names the file. */
#include "report.h"

enum { ITEMS = 5 };

static void filled(int data[ITEMS], int salt) {
  for (int i = 0; i < ITEMS; ++i) data[i] = 1000 * my_rank + 100 * salt + i;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int data[ITEMS], all[64 * ITEMS];
  MPI_File file;
  MPI_Group group;
  int rank;
  const MPI_Offset bytes = ITEMS * sizeof(int);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_get_group(file, &group), MPI_Group_rank(group, &rank), MPI_Group_free(&group);
  report("file rank", rank);
  filled(data, 1);
  MPI_File_write_at_all(file, my_rank * bytes, data, ITEMS, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file), MPI_Barrier(MPI_COMM_WORLD), MPI_File_sync(file);
  MPI_File_read_at_all(file, 0, all, ranks * ITEMS, MPI_INT, MPI_STATUS_IGNORE);
  report_all("written at", all, ranks * ITEMS);
  filled(data, 2);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_ordered(file, data, my_rank % 3, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file), MPI_Barrier(MPI_COMM_WORLD), MPI_File_sync(file);
  MPI_File_read_at_all(file, 0, all, ranks * ITEMS, MPI_INT, MPI_STATUS_IGNORE);
  report_all("written in order", all, ranks * ITEMS);
  MPI_Datatype every;
  MPI_Type_vector(ITEMS, 1, ranks, MPI_INT, &every), MPI_Type_commit(&every);
  MPI_File_set_view(file, my_rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
  filled(data, 3);
  MPI_File_write_all(file, data, ITEMS, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file), MPI_Type_free(&every), MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_read_all(file, all, ranks * ITEMS, MPI_INT, MPI_STATUS_IGNORE);
  report_all("woven", all, ranks * ITEMS);
  MPI_File_close(&file);
  return end();
}
