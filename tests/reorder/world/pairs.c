/* Ranks 2k and 2k + 1 exchange a message of 1 MiB ten times: "rank, host, sum of what came". */
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { BYTES = 1 << 20 };

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char host[256];
  unsigned char* data = malloc(2 * BYTES);
  long sum = 0;
  const int other = (my_rank ^ 1) < ranks ? my_rank ^ 1 : MPI_PROC_NULL;
  gethostname(host, sizeof host);
  for (int i = 0; i < 10; ++i) {
    memset(data, my_rank + i, BYTES);
    MPI_Sendrecv(data, BYTES, MPI_BYTE, other, i, data + BYTES, BYTES, MPI_BYTE, other, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (other != MPI_PROC_NULL) sum += data[BYTES] + data[2 * BYTES - 1];
  }
  printf("%d %s %ld\n", my_rank, host, sum);
  free(data);
  return end();
}
