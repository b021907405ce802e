// SUMMA and hierarchical SUMMA (hsplit-2018 §7.3): C = A B, with the matrices in blocks on a grid of ranks. For each
// panel, the owners of A's columns broadcast them along the rows of the grid, the owners of B's rows along its columns;
// then every rank multiplies. In the hierarchical form a broadcast goes between the groups of a row or column, then
// inside each group.
//
//   summa [--size N] [--block B] [--grid RxC] [--groups G]... [--iterations I] [--check] [--json]
//
// The program compares in turn: simple (MPI_Bcast along the whole row or column), groups-G for each --groups (G runs of
// ranks of each row and column), topology (the groups are the parts that ranktree_Comm_hsplit finds), and collect
// (ranktree_Bcast, which chooses the algorithm). N may have any divisors. --check compares every form's product with a
// serial one, which is exact because the entries are small whole numbers.
#include <cblas.h>
#include <mpi.h>
#include <ranktree/mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostForms = 12, kNameBytes = 32, kMostRuns = 1000, kMostSize = 32768 };

typedef struct {
  int size;
  int block;
  int grid[2];
  int iterations;
  int check;
  int json;
  int count;  // of groups given by hand
  int groups[kMostForms];
} Options;

// A row or a column of the grid; its ranks broadcast to each other.
typedef struct {
  MPI_Comm comm;
  int rank;
  int size;
  MPI_Comm inside;  // this rank's group; MPI_COMM_NULL where there is only one
  int groups;
  int* group;        // of each rank of comm
  int* index;        // in its group
  int* lengths;      // ranks of each group
  int most;          // ranks of the largest group
  MPI_Comm* across;  // by index: a rank of each group, that with the index or the group's last one
} Line;

typedef struct {
  char name[kNameBytes];
  int chosen;     // by ranktree_Bcast
  Line lines[2];  // the row of this rank, where A's columns go; the column, where B's rows go
  double seconds[kMostRuns];
  double communication[kMostRuns];
} Form;

typedef struct {
  int size;
  int block;
  int grid[2];
  int place[2];  // this rank's row and column of the grid
  int first[2];  // row and column where its part of C begins
  int extent[2];
  double* a;  // rows of C's part, the columns that this column of the grid owns; all row by row
  double* b;
  double* c;
  double* panel_a;
  double* panel_b;
} Work;

_Noreturn static void stop(const char* text) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "summa: rank %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void* allocate(size_t bytes) {
  void* const memory = calloc(bytes > 0 ? bytes : 1, 1);
  if (!memory) {
    stop("out of memory");
  }
  return memory;
}

static int smaller(int a, int b) { return a < b ? a : b; }

// The first of n things in part `index` of `parts`; sizes differ by one at most.
static int begin_of(int n, int parts, int index) { return (int)((long)n * index / parts); }

// The part that contains thing i.
static int owner_of(int n, int parts, int i) {
  int part = (int)((long)i * parts / n);
  while (begin_of(n, parts, part + 1) <= i) {
    ++part;
  }
  return part;
}

// -- groups of a row or column --

// Sets the groups from a colour: the group of each rank, and the communicators across groups.
static void take_groups(Line* line, int colour) {
  int index = 0;
  const size_t bytes = sizeof(int) * (size_t)line->size;
  int* const colours = allocate(bytes);
  line->group = allocate(bytes);
  line->index = allocate(bytes);
  line->lengths = allocate(bytes);
  MPI_Allgather(&colour, 1, MPI_INT, colours, 1, MPI_INT, line->comm);
  for (int rank = 0; rank < line->size; ++rank) {
    int group = 0;
    int other = 0;
    while (colours[other] != colours[rank]) {
      ++other;
    }
    group = other < rank ? line->group[other] : line->groups++;
    line->group[rank] = group;
    line->index[rank] = line->lengths[group]++;
    line->most = line->lengths[group] > line->most ? line->lengths[group] : line->most;
  }
  line->across = allocate(sizeof(MPI_Comm) * (size_t)line->most);
  const int length = line->lengths[line->group[line->rank]];
  MPI_Comm_split(line->comm, line->group[line->rank], line->rank, &line->inside);
  for (index = 0; index < line->most; ++index) {
    const int member = line->index[line->rank] == smaller(index, length - 1);
    MPI_Comm_split(line->comm, member ? 0 : MPI_UNDEFINED, line->group[line->rank], &line->across[index]);
  }
  free(colours);
}

static Line whole_line(MPI_Comm comm) {
  Line line = {.comm = comm, .inside = MPI_COMM_NULL};
  MPI_Comm_rank(comm, &line.rank);
  MPI_Comm_size(comm, &line.size);
  return line;
}

static Line line_by_hand(MPI_Comm comm, int groups) {
  Line line = whole_line(comm);
  const int parts = smaller(groups, line.size);
  if (parts > 1 && parts < line.size) {
    take_groups(&line, owner_of(line.size, parts, line.rank));
  }
  return line;
}

// The groups are those Ranktree finds: nodes where the ranks are on several, else parts of the node.
static Line line_from_machine(MPI_Comm comm) {
  Line line = whole_line(comm);
  MPI_Comm part;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", "group");
  ranktree_Comm_hsplit(comm, 0, info, &part);
  MPI_Info_free(&info);
  int colour = 0;  // the lowest rank of the part in comm
  if (part != MPI_COMM_NULL) {
    MPI_Allreduce(&line.rank, &colour, 1, MPI_INT, MPI_MIN, part);
    MPI_Comm_free(&part);
  }
  take_groups(&line, colour);
  return line;
}

static void release_line(Line* line) {
  for (int index = 0; index < line->most; ++index) {
    if (line->across[index] != MPI_COMM_NULL) {
      MPI_Comm_free(&line->across[index]);
    }
  }
  if (line->inside != MPI_COMM_NULL) {
    MPI_Comm_free(&line->inside);
  }
  free(line->across);
  free(line->group);
  free(line->index);
  free(line->lengths);
}

// Broadcasts between groups, among the ranks with the root's index in them, then inside each group from that rank.
static void broadcast(const Line* line, int chosen, double* values, int count, int root) {
  if (line->inside == MPI_COMM_NULL) {
    (chosen ? ranktree_Bcast : MPI_Bcast)(values, count, MPI_DOUBLE, root, line->comm);
    return;
  }
  const int index = line->index[root];
  const int leader = smaller(index, line->lengths[line->group[line->rank]] - 1);
  if (line->across[index] != MPI_COMM_NULL) {
    MPI_Bcast(values, count, MPI_DOUBLE, line->group[root], line->across[index]);
  }
  MPI_Bcast(values, count, MPI_DOUBLE, leader, line->inside);
}

// -- the product --

static double entry_a(int i, int j) { return (double)((i * 7 + j * 13) % 11 - 5); }

static double entry_b(int i, int j) { return (double)((i * 5 + j * 3) % 13 - 6); }

static Work take_place(const Options* options, int rank) {
  Work work = {.size = options->size, .block = options->block, .grid = {options->grid[0], options->grid[1]}};
  work.place[0] = rank / work.grid[1];
  work.place[1] = rank % work.grid[1];
  for (int i = 0; i < 2; ++i) {
    work.first[i] = begin_of(work.size, work.grid[i], work.place[i]);
    work.extent[i] = begin_of(work.size, work.grid[i], work.place[i] + 1) - work.first[i];
  }
  const size_t rows = (size_t)work.extent[0];
  const size_t columns = (size_t)work.extent[1];
  work.a = allocate(sizeof(double) * rows * columns);
  work.b = allocate(sizeof(double) * rows * columns);
  work.c = allocate(sizeof(double) * rows * columns);
  work.panel_a = allocate(sizeof(double) * rows * (size_t)work.block);
  work.panel_b = allocate(sizeof(double) * columns * (size_t)work.block);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      work.a[i * columns + j] = entry_a(work.first[0] + (int)i, work.first[1] + (int)j);
      work.b[i * columns + j] = entry_b(work.first[0] + (int)i, work.first[1] + (int)j);
    }
  }
  return work;
}

static void leave(Work* work) {
  free(work->a);
  free(work->b);
  free(work->c);
  free(work->panel_a);
  free(work->panel_b);
}

// A's columns k .. k+width-1, packed at their owner.
static void pack_columns(const Work* work, int k, int width) {
  for (int i = 0; i < work->extent[0]; ++i) {
    const double* const row = work->a + (size_t)i * (size_t)work->extent[1] + (k - work->first[1]);
    memcpy(work->panel_a + (size_t)i * (size_t)width, row, sizeof(double) * (size_t)width);
  }
}

// Sends both panels to all ranks that need them; returns the seconds it took.
static double exchange(const Work* work, const Form* form, int k, int width) {
  const int owners[2] = {owner_of(work->size, work->grid[1], k), owner_of(work->size, work->grid[0], k)};
  if (work->place[1] == owners[0]) {
    pack_columns(work, k, width);
  }
  if (work->place[0] == owners[1]) {
    const double* const rows = work->b + (size_t)(k - work->first[0]) * (size_t)work->extent[1];
    memcpy(work->panel_b, rows, sizeof(double) * (size_t)width * (size_t)work->extent[1]);
  }
  const double start = MPI_Wtime();
  broadcast(&form->lines[0], form->chosen, work->panel_a, work->extent[0] * width, owners[0]);
  broadcast(&form->lines[1], form->chosen, work->panel_b, width * work->extent[1], owners[1]);
  return MPI_Wtime() - start;
}

// Computes one product; returns the seconds of communication.
static double multiply(const Work* work, const Form* form) {
  double communication = 0;
  const int n = work->size;
  memset(work->c, 0, sizeof(double) * (size_t)work->extent[0] * (size_t)work->extent[1]);
  for (int k = 0; k < n;) {
    const int end_a = begin_of(n, work->grid[1], owner_of(n, work->grid[1], k) + 1);
    const int end_b = begin_of(n, work->grid[0], owner_of(n, work->grid[0], k) + 1);
    const int width = smaller(work->block, smaller(end_a, end_b) - k);
    communication += exchange(work, form, k, width);
    if (work->extent[0] > 0 && work->extent[1] > 0) {
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, work->extent[0], work->extent[1], width, 1.0,
                  work->panel_a, width, work->panel_b, work->extent[1], 1.0, work->c, work->extent[1]);
    }
    k += width;
  }
  return communication;
}

// Each rank recomputes its part of C from the definition.
static void check(const Work* work, const char* name) {
  for (int i = 0; i < work->extent[0]; ++i) {
    for (int j = 0; j < work->extent[1]; ++j) {
      double expected = 0;
      for (int k = 0; k < work->size; ++k) {
        expected += entry_a(work->first[0] + i, k) * entry_b(k, work->first[1] + j);
      }
      const double found = work->c[(size_t)i * (size_t)work->extent[1] + (size_t)j];
      if (found != expected) {
        char text[160];
        snprintf(text, sizeof text, "%.31s: row %d, column %d: expected %.17g, found %.17g", name, work->first[0] + i,
                 work->first[1] + j, expected, found);
        stop(text);
      }
    }
  }
}

// -- the run --

static int make_forms(const Options* options, MPI_Comm row, MPI_Comm column, Form* forms) {
  const MPI_Comm comms[2] = {row, column};
  int count = 0;
  snprintf(forms[count].name, kNameBytes, "simple");
  for (int i = 0; i < options->count; ++i) {
    snprintf(forms[++count].name, kNameBytes, "groups-%d", options->groups[i]);
  }
  snprintf(forms[++count].name, kNameBytes, "topology");
  snprintf(forms[++count].name, kNameBytes, "collect");
  forms[count++].chosen = 1;
  for (int line = 0; line < 2; ++line) {
    for (int i = 0; i < count; ++i) {
      forms[i].lines[line] = whole_line(comms[line]);
    }
    for (int i = 0; i < options->count; ++i) {
      forms[1 + i].lines[line] = line_by_hand(comms[line], options->groups[i]);
    }
    forms[count - 2].lines[line] = line_from_machine(comms[line]);
  }
  return count;
}

static void time_forms(const Options* options, const Work* work, Form* forms, int count) {
  for (int run = 0; run < options->iterations; ++run) {
    for (int i = 0; i < count; ++i) {
      double slowest[2];
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      const double communication = multiply(work, &forms[i]);
      const double own[2] = {MPI_Wtime() - start, communication};
      MPI_Allreduce(own, slowest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      forms[i].seconds[run] = slowest[0];
      forms[i].communication[run] = slowest[1];
    }
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static void print_json(const Options* options, const Form* forms, int count) {
  printf(
      "{\"program\": \"summa\", \"ranks\": %d, \"grid\": [%d, %d], \"size\": %d, \"block\": %d, \"iterations\": %d, "
      "\"checked\": %s, \"forms\": [",
      options->grid[0] * options->grid[1], options->grid[0], options->grid[1], options->size, options->block,
      options->iterations, options->check ? "true" : "false");
  for (int i = 0; i < count; ++i) {
    printf("%s{\"name\": \"%s\", \"seconds_median\": %.9f, \"seconds_min\": %.9f, \"communication_median\": %.9f}",
           i > 0 ? ", " : "", forms[i].name, forms[i].seconds[options->iterations / 2], forms[i].seconds[0],
           forms[i].communication[options->iterations / 2]);
  }
  printf("]}\n");
}

static void print_text(const Options* options, const Form* forms, int count) {
  printf("summa: %d x %d ranks, size %d, panels of %d, seconds of the slowest rank, medians (least) of %d%s\n",
         options->grid[0], options->grid[1], options->size, options->block, options->iterations,
         options->check ? ", products checked" : "");
  for (int i = 0; i < count; ++i) {
    printf("  %-12s %.6f (%.6f), of which communication %.6f\n", forms[i].name,
           forms[i].seconds[options->iterations / 2], forms[i].seconds[0],
           forms[i].communication[options->iterations / 2]);
  }
}

_Noreturn static void usage(const char* argument) {
  char text[200];
  snprintf(text, sizeof text,
           "%s: usage: summa [--size N] [--block B] [--grid RxC] [--groups G]... [--iterations I] [--check] [--json]",
           argument);
  stop(text);
}

static int number(const char* name, const char* text, long most) {
  char* end;
  const long value = text ? strtol(text, &end, 10) : 0;
  if (!text || *end || value < 1 || value > most) {
    usage(name);
  }
  return (int)value;
}

static void read_grid(const char* text, int grid[2]) {
  char after = 0;
  if (!text || sscanf(text, "%dx%d%c", &grid[0], &grid[1], &after) != 2 || grid[0] < 1 || grid[1] < 1) {
    usage("--grid");
  }
}

static Options read_options(int count, char** arguments) {
  Options options = {.size = 512, .block = 64, .iterations = 3};
  for (int i = 1; i < count; ++i) {
    const char* const name = arguments[i];
    if (strcmp(name, "--json") == 0) {
      options.json = 1;
    } else if (strcmp(name, "--check") == 0) {
      options.check = 1;
    } else if (strcmp(name, "--size") == 0) {
      options.size = number(name, arguments[++i], kMostSize);
    } else if (strcmp(name, "--block") == 0) {
      options.block = number(name, arguments[++i], kMostSize);
    } else if (strcmp(name, "--iterations") == 0) {
      options.iterations = number(name, arguments[++i], kMostRuns);
    } else if (strcmp(name, "--groups") == 0 && options.count + 3 < kMostForms) {
      options.groups[options.count++] = number(name, arguments[++i], INT32_MAX);
    } else if (strcmp(name, "--grid") == 0) {
      read_grid(arguments[++i], options.grid);
    } else {
      usage(name);
    }
  }
  return options;
}

int main(int count, char** arguments) {
  static Form forms[kMostForms];
  int rank;
  int ranks;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Options options = read_options(count, arguments);
  const int given = options.grid[0] > 0;
  if (given && (long)options.grid[0] * options.grid[1] != ranks) {
    stop("the grid and the communicator differ in size");
  }
  if (!given) {
    MPI_Dims_create(ranks, 2, options.grid);
  }
  Work work = take_place(&options, rank);
  MPI_Comm row;
  MPI_Comm column;
  MPI_Comm_split(MPI_COMM_WORLD, work.place[0], rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, work.place[1], rank, &column);
  const int all = make_forms(&options, row, column, forms);
  for (int i = 0; i < all; ++i) {
    multiply(&work, &forms[i]);  // the first one warms up
    if (options.check) {
      check(&work, forms[i].name);
    }
  }
  time_forms(&options, &work, forms, all);
  for (int i = 0; i < all; ++i) {
    qsort(forms[i].seconds, (size_t)options.iterations, sizeof(double), ascending);
    qsort(forms[i].communication, (size_t)options.iterations, sizeof(double), ascending);
    release_line(&forms[i].lines[0]);
    release_line(&forms[i].lines[1]);
  }
  if (rank == 0) {
    (options.json ? print_json : print_text)(&options, forms, all);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  leave(&work);
  MPI_Finalize();
  return 0;
}
