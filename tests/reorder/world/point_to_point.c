/* Every way to send and to receive on MPI_COMM_WORLD. */
#include "report.h"

enum { ITEMS = 3 };

static int to(void) { return (my_rank + 1) % ranks; }
static int from(void) { return (my_rank + ranks - 1) % ranks; }

static void fill(int data[ITEMS], int salt) {
  for (int i = 0; i < ITEMS; ++i) data[i] = 100 * my_rank + 10 * salt + i;
}

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void blocking(const char* name, Send send, int salt) {
  int out[ITEMS], in[ITEMS];
  MPI_Request request;
  MPI_Status status;
  fill(out, salt);
  MPI_Irecv(in, ITEMS, MPI_INT, from(), salt, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  send(out, ITEMS, MPI_INT, to(), salt, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  report_all(name, in, ITEMS);
  report("source", status.MPI_SOURCE);
}

static void nonblocking(const char* name, Isend send, int salt) {
  int out[ITEMS], in[ITEMS];
  MPI_Request requests[2];
  fill(out, salt);
  MPI_Irecv(in, ITEMS, MPI_INT, MPI_ANY_SOURCE, salt, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  send(out, ITEMS, MPI_INT, to(), salt, MPI_COMM_WORLD, &requests[1]);
  MPI_Status statuses[2];
  MPI_Waitall(2, requests, statuses);
  report_all(name, in, ITEMS);
  report("source", statuses[0].MPI_SOURCE);
}

static void probed(void) {
  int out[ITEMS], in[ITEMS], flag = 0;
  MPI_Message message;
  MPI_Status status;
  MPI_Request request;
  fill(out, 20);
  MPI_Isend(out, ITEMS, MPI_INT, to(), 20, MPI_COMM_WORLD, &request);
  MPI_Probe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
  while (!flag) MPI_Iprobe(from(), 20, MPI_COMM_WORLD, &flag, &status);
  MPI_Recv(in, ITEMS, MPI_INT, status.MPI_SOURCE, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report_all("probe", in, ITEMS);
  MPI_Isend(out, ITEMS, MPI_INT, to(), 21, MPI_COMM_WORLD, &request);
  MPI_Mprobe(from(), 21, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, ITEMS, MPI_INT, &message, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report("mprobe", status.MPI_SOURCE);
  MPI_Isend(out, ITEMS, MPI_INT, to(), 22, MPI_COMM_WORLD, &request);
  for (flag = 0; !flag;) MPI_Improbe(from(), 22, MPI_COMM_WORLD, &flag, &message, &status);
  MPI_Mrecv(in, ITEMS, MPI_INT, &message, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  report("improbe", status.MPI_SOURCE);
}

static void both(void) {
  int out[ITEMS], in[ITEMS];
  fill(out, 30);
  MPI_Sendrecv(out, ITEMS, MPI_INT, to(), 30, in, ITEMS, MPI_INT, from(), 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report_all("sendrecv", in, ITEMS);
  MPI_Sendrecv_replace(out, ITEMS, MPI_INT, from(), 31, to(), 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report_all("sendrecv_replace", out, ITEMS);
  MPI_Sendrecv(out, ITEMS, MPI_INT, my_rank + 1 < ranks ? my_rank + 1 : MPI_PROC_NULL, 32, in, ITEMS, MPI_INT,
               my_rank > 0 ? my_rank - 1 : MPI_PROC_NULL, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  report_all("open ends", in, ITEMS);
}

static void persistent(void) {
  int out[ITEMS], in[ITEMS];
  MPI_Request requests[2];
  int (*const makers[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {
      MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
  for (int kind = 0; kind < 4; ++kind) {
    MPI_Recv_init(in, ITEMS, MPI_INT, from(), 40 + kind, MPI_COMM_WORLD, &requests[0]);
    makers[kind](out, ITEMS, MPI_INT, to(), 40 + kind, MPI_COMM_WORLD, &requests[1]);
    for (int turn = 0; turn < 2; ++turn) {
      fill(out, 40 + 2 * kind + turn);
      MPI_Start(&requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Startall(1, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      report_all("persistent", in, ITEMS);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
}

/* Packed data holds the rank that packed it. */
static void packed(void) {
  int size, position = 0, value = 7 * my_rank, other = 0;
  MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size);
  char* buffer = malloc((size_t)size);
  MPI_Pack(&value, 1, MPI_INT, buffer, size, &position, MPI_COMM_WORLD);
  MPI_Sendrecv_replace(buffer, position, MPI_PACKED, to(), 50, from(), 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  position = 0;
  MPI_Unpack(buffer, size, &position, &other, 1, MPI_INT, MPI_COMM_WORLD);
  report("packed", other);
  free(buffer);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static char buffer[1 << 16];
  MPI_Buffer_attach(buffer, sizeof buffer);
  blocking("send", MPI_Send, 1);
  blocking("bsend", MPI_Bsend, 2);
  blocking("ssend", MPI_Ssend, 3);
  blocking("rsend", MPI_Rsend, 4);
  nonblocking("isend", MPI_Isend, 5);
  nonblocking("ibsend", MPI_Ibsend, 6);
  nonblocking("issend", MPI_Issend, 7);
  nonblocking("irsend", MPI_Irsend, 8);
  probed();
  both();
  persistent();
  packed();
  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  return end();
}
