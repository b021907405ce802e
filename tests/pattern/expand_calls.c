/* Makes collective calls one by one and writes what every rank sent during each, as the MPI library itself counts it.
 *
 *   expand_calls CASES OUT [FIRST]   CASES: lines "operation root bytes element", OUT.RANK: lines "case to messages
 * bytes"
 *
 * With FIRST the calls are made on the intercommunicator between the first FIRST ranks, the root's group, and the
 * others.
 *
 * Link with -rdynamic: the functions below must come before those of the libraries. Open MPI: its monitoring component
 * (run with --mca pml_monitoring_enable 2) reports every message of the messaging layer, the parts of collectives
 * included. MPICH, device ch4:ucx: every message goes through ucp_tag_send_nbx (run with MPIR_CVAR_NOLOCAL=1, or
 * messages within a node take another path). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ranks, rank;
static size_t *messages, *bytes;

static void fail(const char* text) {
  fprintf(stderr, "expand_calls: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#ifdef OPEN_MPI
/* Called for every message by the monitoring component, in place of the function of its common library. */
void mca_common_monitoring_record_pml(int to, size_t size, int tag);
void mca_common_monitoring_record_pml(int to, size_t size, int tag) {
  (void)tag;
  if (messages == NULL) return;
  ++messages[to];
  bytes[to] += size;
}

/* In 4.1.4 the original fails unless whole collectives are counted, which in turn fails on intercommunicators. */
void mca_common_monitoring_coll_cache_name(void* comm);
void mca_common_monitoring_coll_cache_name(void* comm) { (void)comm; }

static void start_counting(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  size_t seen = 0;
  for (int i = 0; i < ranks; ++i) seen += messages[i];
  if (seen == 0) fail("no monitoring");
}

static void read_counters(void) {}
#else
static void* endpoints[4096];
static size_t endpoint_messages[4096], endpoint_bytes[4096];
static int endpoint_of[4096];
static int known;

/* The parts of UCX's interface that matter here: the functions that pack a derived datatype. */
typedef struct {
  void* (*start_pack)(void* context, const void* buffer, size_t count);
  void* (*start_unpack)(void* context, void* buffer, size_t count);
  size_t (*packed_size)(void* state);
  size_t (*pack)(void* state, size_t offset, void* to, size_t length);
  int (*unpack)(void* state, size_t offset, const void* from, size_t length);
  void (*finish)(void* state);
} Functions;

static Functions original;
static size_t packed; /* bytes of a derived datatype in the pending send */

static void* start_pack(void* context, const void* buffer, size_t count) {
  void* state = original.start_pack(context, buffer, count);
  packed = original.packed_size(state);
  return state;
}

int ucp_dt_create_generic(const Functions* functions, void* context, uint64_t* datatype);
int ucp_dt_create_generic(const Functions* functions, void* context, uint64_t* datatype) {
  int (*real)(const Functions*, void*, uint64_t*);
  *(void**)&real = dlsym(RTLD_NEXT, "ucp_dt_create_generic");
  original = *functions;
  Functions counting = original;
  counting.start_pack = start_pack;
  return real(&counting, context, datatype);
}

void* ucp_tag_send_nbx(void* endpoint, const void* buffer, size_t count, uint64_t tag, const void* parameters);
void* ucp_tag_send_nbx(void* endpoint, const void* buffer, size_t count, uint64_t tag, const void* parameters) {
  static void* (*real)(void*, const void*, size_t, uint64_t, const void*);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
  int i = 0;
  while (i < known && endpoints[i] != endpoint) ++i;
  if (i == known) endpoints[known++] = endpoint;
  packed = 0;
  void* request = real(endpoint, buffer, count, tag, parameters);
  ++endpoint_messages[i];
  endpoint_bytes[i] += packed > 0 ? packed : count;
  return request;
}

/* One message to each rank shows which endpoint leads to it. */
static void start_counting(void) {
  static size_t before[4096];
  for (int shift = 1; shift < ranks; ++shift) {
    const int to = (rank + shift) % ranks;
    memcpy(before, endpoint_messages, sizeof before);
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 7, &(int){0}, 1, MPI_INT, (rank - shift + ranks) % ranks, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int used = -1;
    for (int i = 0; i < known; ++i) {
      if (endpoint_messages[i] != before[i]) used = i;
    }
    if (used < 0) fail("messages do not go through UCX");
    endpoint_of[to] = used;
  }
}

static void read_counters(void) {
  for (int i = 0; i < ranks; ++i) {
    messages[i] = i == rank ? 0 : endpoint_messages[endpoint_of[i]];
    bytes[i] = i == rank ? 0 : endpoint_bytes[endpoint_of[i]];
  }
}
#endif

static void* allocate(size_t size) {
  void* memory = calloc(1, size + 64);
  if (memory == NULL) fail("out of memory");
  return memory;
}

static void make_call(const char* name, int root, int count, MPI_Datatype type, size_t element, MPI_Comm comm) {
  int members; /* of the group that the blocks of a vector go to */
  MPI_Comm_size(comm, &members);
  const size_t all = (size_t)count * element * (size_t)ranks;
  void* send = allocate(all);
  void* receive = allocate(all);
  int* counts = allocate(sizeof(int) * (size_t)ranks);
  int* offsets = allocate(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < ranks; ++i) {
    counts[i] = strcmp(name, "Reduce_scatter") ? count : count / members + (i < count % members);
  }
  for (int i = 1; i < ranks; ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
  if (!strcmp(name, "Barrier"))
    MPI_Barrier(comm);
  else if (!strcmp(name, "Bcast"))
    MPI_Bcast(send, count, type, root, comm);
  else if (!strcmp(name, "Reduce"))
    MPI_Reduce(send, receive, count, type, MPI_SUM, root, comm);
  else if (!strcmp(name, "Allreduce"))
    MPI_Allreduce(send, receive, count, type, MPI_SUM, comm);
  else if (!strcmp(name, "Scan"))
    MPI_Scan(send, receive, count, type, MPI_SUM, comm);
  else if (!strcmp(name, "Exscan"))
    MPI_Exscan(send, receive, count, type, MPI_SUM, comm);
  else if (!strcmp(name, "Gather"))
    MPI_Gather(send, count, type, receive, count, type, root, comm);
  else if (!strcmp(name, "Scatter"))
    MPI_Scatter(send, count, type, receive, count, type, root, comm);
  else if (!strcmp(name, "Allgather"))
    MPI_Allgather(send, count, type, receive, count, type, comm);
  else if (!strcmp(name, "Allgatherv"))
    MPI_Allgatherv(send, count, type, receive, counts, offsets, type, comm);
  else if (!strcmp(name, "Alltoall"))
    MPI_Alltoall(send, count, type, receive, count, type, comm);
  else if (!strcmp(name, "Reduce_scatter"))
    MPI_Reduce_scatter(send, receive, counts, type, MPI_SUM, comm);
  else if (!strcmp(name, "Reduce_scatter_block"))
    MPI_Reduce_scatter_block(send, receive, count / members, type, MPI_SUM, comm);
  else
    fail("unknown operation");
  free(send);
  free(receive);
  free(counts);
  free(offsets);
}

/* Between the first `first` ranks and the others. */
static MPI_Comm intercommunicator(int first) {
  MPI_Comm local, comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank < first, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank < first ? first : 0, 8, &comm);
  MPI_Comm_free(&local);
  return comm;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3 && argc != 4) fail("expected CASES OUT [FIRST]");
  const int first = argc == 4 ? atoi(argv[3]) : ranks;
  const MPI_Comm comm = argc == 4 ? intercommunicator(first) : MPI_COMM_WORLD;
  messages = allocate(sizeof(size_t) * (size_t)ranks);
  bytes = allocate(sizeof(size_t) * (size_t)ranks);
  size_t* messages_before = allocate(sizeof(size_t) * (size_t)ranks);
  size_t* bytes_before = allocate(sizeof(size_t) * (size_t)ranks);
  char path[4096], name[64];
  snprintf(path, sizeof path, "%s.%d", argv[2], rank);
  FILE* cases = fopen(argv[1], "r");
  FILE* out = fopen(path, "w");
  if (cases == NULL || out == NULL) fail("cannot open files");
  start_counting();
  int root;
  long size, element;
  for (int i = 0; fscanf(cases, "%63s %d %ld %ld", name, &root, &size, &element) == 4; ++i) {
    const MPI_Datatype type = element == 8 ? MPI_DOUBLE : element == 4 ? MPI_INT : MPI_SIGNED_CHAR;
    read_counters();
    memcpy(messages_before, messages, sizeof(size_t) * (size_t)ranks);
    memcpy(bytes_before, bytes, sizeof(size_t) * (size_t)ranks);
    if (argc == 4 && rank < first) root = rank == root ? MPI_ROOT : MPI_PROC_NULL;
    make_call(name, root, (int)(size / element), type, (size_t)element, comm);
    read_counters();
    for (int to = 0; to < ranks; ++to) {
      if (messages[to] == messages_before[to]) continue;
      fprintf(out, "%d %d %zu %zu\n", i, to, messages[to] - messages_before[to], bytes[to] - bytes_before[to]);
    }
  }
  fclose(cases);
  fclose(out);
  MPI_Finalize();
  return 0;
}
