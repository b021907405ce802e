// A pattern that changes midway, and ranks that follow it (ranktree_Comm_rebalance): ranks form a matrix; in the first
// phase each row is a ring, in the second one each column.
//
//   phases [--rows R] [--bytes B] [--state S] [--iterations I] [--intervals N] [--fixed] [--json]
//
// A phase has N intervals of I iterations; in an iteration each rank exchanges B bytes with both neighbours in its
// ring. After each interval but the last one the program requests a better order. When there is one, each rank's state
// of S bytes moves to the process that becomes this rank. --fixed disables this. Ranktree must record the traffic: run
// with `ranktree trace -o phases.npz -- mpirun ...`, or with the preload library and RANKTREE_TRACE=-. The program
// checks messages and state; on a wrong byte it calls MPI_Abort.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranktree/mpi.h"

enum { kPhases = 2 };

typedef struct {
  int rows;
  int bytes;
  int state;
  int iterations;
  int intervals;
  int fixed;
  int json;
} Options;

// What this process does now: `rank` and `comm` change when ranks move.
typedef struct {
  MPI_Comm comm;
  int rank;
  int ranks;
  int node;  // the lowest world rank on its node
  unsigned char* state;
  unsigned char* sent;
  unsigned char* received;
} Worker;

// One interval of one phase.
typedef struct {
  double seconds;     // an iteration, of the slowest rank
  double node_bytes;  // between nodes, an iteration
} Figures;

typedef struct {
  Figures before;
  Figures after;
  int moved;
  double reordering;  // seconds, moving ranks included
  char message[RANKTREE_MAX_ERROR_TEXT];
} Phase;

_Noreturn static void stop(const char* text) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "phases: process %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static unsigned char state_byte(int rank, int i) {
  return (unsigned char)((unsigned)rank * 37U + (unsigned)i * 11U + 5U);
}

static unsigned char message_byte(int from, int to, int i) {
  return (unsigned char)((unsigned)from * 31U + (unsigned)to * 7U + (unsigned)i);
}

static void check_state(const Worker* worker, const Options* options) {
  for (int i = 0; i < options->state; ++i) {
    if (worker->state[i] != state_byte(worker->rank, i)) stop("the state is another rank's");
  }
}

// The neighbour up or down the ring of this rank: its row in the first phase, its column in the second. The last row
// may be short.
static int neighbour(const Worker* worker, const Options* options, int phase, int step) {
  const int columns = (worker->ranks + options->rows - 1) / options->rows;
  const int row = worker->rank / columns;
  const int column = worker->rank % columns;
  if (phase == 0) {
    const int left = worker->ranks - row * columns;
    const int length = left < columns ? left : columns;
    return row * columns + (column + step + length) % length;
  }
  const int length = (worker->ranks - column + columns - 1) / columns;
  return (row + step + length) % length * columns + column;
}

static void exchange(Worker* worker, const Options* options, int phase, int step) {
  const int to = neighbour(worker, options, phase, step);
  const int from = neighbour(worker, options, phase, -step);
  for (int i = 0; i < options->bytes; i += 256) worker->sent[i] = message_byte(worker->rank, to, i);
  MPI_Sendrecv(worker->sent, options->bytes, MPI_BYTE, to, step + 1, worker->received, options->bytes, MPI_BYTE, from,
               step + 1, worker->comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < options->bytes; i += 256) {
    if (worker->received[i] != message_byte(from, worker->rank, i)) stop("a message is not for this rank");
  }
}

// The bytes that this rank sends to other nodes in an iteration.
static double bytes_between_nodes(const Worker* worker, const Options* options, int phase) {
  int* nodes = malloc((size_t)worker->ranks * sizeof *nodes);
  double bytes = 0;
  if (nodes == NULL) stop("out of memory");
  MPI_Allgather(&worker->node, 1, MPI_INT, nodes, 1, MPI_INT, worker->comm);
  for (int step = -1; step <= 1; step += 2) {
    if (nodes[neighbour(worker, options, phase, step)] != worker->node) bytes += options->bytes;
  }
  free(nodes);
  return bytes;
}

static Figures run_interval(Worker* worker, const Options* options, int phase) {
  double own[2];
  double all[2];
  MPI_Barrier(worker->comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < options->iterations; ++i) {
    exchange(worker, options, phase, 1);
    exchange(worker, options, phase, -1);
  }
  own[0] = (MPI_Wtime() - begin) / options->iterations;
  own[1] = bytes_between_nodes(worker, options, phase);
  MPI_Allreduce(&own[0], &all[0], 1, MPI_DOUBLE, MPI_MAX, worker->comm);
  MPI_Allreduce(&own[1], &all[1], 1, MPI_DOUBLE, MPI_SUM, worker->comm);
  return (Figures){all[0], all[1]};
}

// Process i becomes rank newranks[i] and receives that rank's state from its former process; it sends its own state to
// the process that becomes rank i.
static int migrate(Worker* worker, const Options* options, const int* newranks, MPI_Comm newcomm) {
  int heir = 0;
  int moved = 0;
  while (newranks[heir] != worker->rank) ++heir;
  for (int i = 0; i < worker->ranks; ++i) moved += newranks[i] != i;
  unsigned char* state = malloc((size_t)options->state + 1);
  if (state == NULL) stop("out of memory");
  MPI_Sendrecv(worker->state, options->state, MPI_BYTE, heir, 9, state, options->state, MPI_BYTE,
               newranks[worker->rank], 9, worker->comm, MPI_STATUS_IGNORE);
  free(worker->state);
  worker->state = state;
  if (worker->comm != MPI_COMM_WORLD) MPI_Comm_free(&worker->comm);
  worker->comm = newcomm;
  MPI_Comm_set_errhandler(newcomm, MPI_ERRORS_ARE_FATAL);  // made of one whose errors are returned
  MPI_Comm_rank(newcomm, &worker->rank);
  check_state(worker, options);
  return moved;
}

// Requests a better order for the traffic of the last interval, if `horizon` further intervals repay its cost.
static void rebalance(Worker* worker, const Options* options, int horizon, Phase* phase) {
  char text[32];
  int length;
  MPI_Info info;
  MPI_Comm newcomm = MPI_COMM_NULL;
  int* newranks = malloc((size_t)worker->ranks * sizeof *newranks);
  const double begin = MPI_Wtime();
  if (newranks == NULL) stop("out of memory");
  MPI_Info_create(&info);
  snprintf(text, sizeof text, "%d", horizon);
  MPI_Info_set(info, "ranktree_horizon", text);
  snprintf(text, sizeof text, "%d", options->state);
  MPI_Info_set(info, "ranktree_state_bytes", text);
  MPI_Comm_set_errhandler(worker->comm, MPI_ERRORS_RETURN);
  const int code = ranktree_Comm_rebalance(worker->comm, info, newranks, &newcomm);
  if (code != MPI_SUCCESS || newcomm != MPI_COMM_NULL || phase->message[0] == '\0') {
    ranktree_Comm_get_message(worker->comm, phase->message, sizeof phase->message, &length);
  }
  MPI_Comm_set_errhandler(worker->comm, MPI_ERRORS_ARE_FATAL);
  if (code == MPI_SUCCESS && newcomm != MPI_COMM_NULL) phase->moved += migrate(worker, options, newranks, newcomm);
  MPI_Info_free(&info);
  free(newranks);
  phase->reordering += MPI_Wtime() - begin;
}

static Phase run_phase(Worker* worker, const Options* options, int phase) {
  Phase result = {{0, 0}, {0, 0}, 0, 0, ""};
  for (int i = 0; i < options->intervals; ++i) {
    result.after = run_interval(worker, options, phase);
    if (i == 0) result.before = result.after;
    const int last = i == options->intervals - 1;
    if (!options->fixed && !(last && phase == kPhases - 1)) rebalance(worker, options, options->intervals - 1, &result);
  }
  return result;
}

static void print_text(const Phase* phases, double seconds) {
  static const char* const names[kPhases] = {"rings are rows", "rings are columns"};
  for (int i = 0; i < kPhases; ++i) {
    const Phase* phase = &phases[i];
    printf("phase %d, %s\n", i + 1, names[i]);
    printf("  first interval: %9.3f ms and %8.3f MB between nodes an iteration\n", phase->before.seconds * 1e3,
           phase->before.node_bytes / 1e6);
    if (phase->message[0] != '\0')
      printf("  %s\n  %d ranks moved; %.3f s of reordering\n", phase->message, phase->moved, phase->reordering);
    printf("  last interval:  %9.3f ms and %8.3f MB between nodes an iteration\n", phase->after.seconds * 1e3,
           phase->after.node_bytes / 1e6);
  }
  printf("both phases, reordering included: %.3f s\n", seconds);
}

static void print_json(const Worker* worker, const Phase* phases, double seconds) {
  printf("{\"ranks\": %d, \"seconds\": %.9g, \"phases\": [", worker->ranks, seconds);
  for (int i = 0; i < kPhases; ++i) {
    const Phase* phase = &phases[i];
    printf(
        "%s{\"moved\": %d, \"seconds_reordering\": %.9g, \"seconds_before\": %.9g, \"seconds_after\": %.9g, "
        "\"node_bytes_before\": %.0f, "
        "\"node_bytes_after\": %.0f, \"message\": \"%s\"}",
        i == 0 ? "" : ", ", phase->moved, phase->reordering, phase->before.seconds, phase->after.seconds,
        phase->before.node_bytes, phase->after.node_bytes, phase->message);
  }
  printf("]}\n");
}

static int number(const char* text, int least) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > 1 << 28) stop("an option's number is out of range");
  return (int)value;
}

static Options read_options(int argc, char** argv) {
  Options options = {4, 65536, 65536, 10, 3, 0, 0};
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--fixed") == 0) {
      options.fixed = 1;
    } else if (strcmp(argv[i], "--json") == 0) {
      options.json = 1;
    } else if (strcmp(argv[i], "--rows") == 0) {
      options.rows = number(value, 1), ++i;
    } else if (strcmp(argv[i], "--bytes") == 0) {
      options.bytes = number(value, 1), ++i;
    } else if (strcmp(argv[i], "--state") == 0) {
      options.state = number(value, 0), ++i;
    } else if (strcmp(argv[i], "--iterations") == 0) {
      options.iterations = number(value, 1), ++i;
    } else if (strcmp(argv[i], "--intervals") == 0) {
      options.intervals = number(value, 2), ++i;
    } else {
      stop("usage: phases [--rows R] [--bytes B] [--state S] [--iterations I] [--intervals N] [--fixed] [--json]");
    }
  }
  return options;
}

static Worker make_worker(const Options* options) {
  Worker worker = {MPI_COMM_WORLD, 0, 0, 0, NULL, NULL, NULL};
  MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &worker.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &worker.ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Allreduce(&worker.rank, &worker.node, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_free(&node);
  worker.state = malloc((size_t)options->state + 1);
  worker.sent = calloc((size_t)options->bytes, 1);
  worker.received = calloc((size_t)options->bytes, 1);
  if (worker.state == NULL || worker.sent == NULL || worker.received == NULL) stop("out of memory");
  for (int i = 0; i < options->state; ++i) worker.state[i] = state_byte(worker.rank, i);
  return worker;
}

int main(int argc, char** argv) {
  Phase phases[kPhases];
  MPI_Init(&argc, &argv);
  const Options options = read_options(argc, argv);
  Worker worker = make_worker(&options);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kPhases; ++i) phases[i] = run_phase(&worker, &options, i);
  const double seconds = MPI_Wtime() - begin;
  check_state(&worker, &options);
  if (worker.rank == 0 && options.json) print_json(&worker, phases, seconds);
  if (worker.rank == 0 && !options.json) print_text(phases, seconds);
  if (worker.comm != MPI_COMM_WORLD) MPI_Comm_free(&worker.comm);
  free(worker.state);
  free(worker.sent);
  free(worker.received);
  MPI_Finalize();
  return 0;
}
