// Hierarchical vector processing (hsplit-2018 §7.4, Algorithm 5). On each level, from the smallest parts of the machine
// up to rank 0, the root of a communicator gathers the vectors of its members and combines them by `func`: their sum,
// with each element divided by that of the root's own local vector.
//
//   vectors [--values N] [--iterations I] [--levels 3,4,2]... [--json]
//
// Compares the hierarchy that Ranktree makes of the machine with manual hierarchies: --levels gives the number of parts
// of consecutive ranks on each level, the outermost first; without it there are four. All are timed in turn. Rank 0
// checks each hierarchy by repeating its sums; on a wrong element it calls MPI_Abort.
#include <mpi.h>
#include <ranktree/mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostLevels = 32, kMostHierarchies = 9, kNameBytes = 64, kMostRuns = 1000 };

typedef struct {
  int values;
  int iterations;
  int json;
  int count;  // of the hierarchies made by hand
  const char* levels[kMostHierarchies];
} Options;

// The communicators in which this rank gathers, in order: in all but the last one it is the root.
typedef struct {
  char name[kNameBytes];
  int count;
  MPI_Comm comms[kMostLevels + 1];
  double seconds[kMostRuns];
} Hierarchy;

typedef struct {
  double* mine;      // the initial vector of this rank
  double* local;     // Algorithm 5's lvec
  double* result;    // lresult
  double* gathered;  // temp: as many vectors as the largest communicator has ranks
} Vectors;

_Noreturn static void stop(const char* text) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "vectors: rank %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void* allocate(size_t bytes) {
  void* const memory = malloc(bytes > 0 ? bytes : 1);
  if (!memory) {
    stop("out of memory");
  }
  return memory;
}

static int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

static int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

// -- hierarchies --

// The levels from the smallest parts up. With ranktree_leftover=group all ranks of a smallest part have it as their
// last level, whatever the depth of others.
static void build_from_machine(Hierarchy* hierarchy) {
  MPI_Comm levels[kMostLevels];
  MPI_Comm roots[kMostLevels];
  MPI_Info info;
  int depth = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ranktree_leftover", "group");
  ranktree_Comm_hsplit_all(MPI_COMM_WORLD, info, kMostLevels, &depth, levels, roots);
  MPI_Info_free(&info);
  snprintf(hierarchy->name, sizeof hierarchy->name, "topology");
  hierarchy->count = 1;
  if (depth == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &hierarchy->comms[0]);
    return;
  }
  hierarchy->comms[0] = levels[depth - 1];
  for (int i = depth; i-- > 0;) {
    if (roots[i] != MPI_COMM_NULL) {
      hierarchy->comms[hierarchy->count++] = roots[i];
    }
  }
  for (int i = 0; i + 1 < depth; ++i) {
    MPI_Comm_free(&levels[i]);
  }
}

// Cuts `whole` into parts of consecutive ranks whose sizes differ by one at most: this rank's part, and the roots of
// all of them (MPI_COMM_NULL at others).
static void cut(MPI_Comm whole, int parts, MPI_Comm* part, MPI_Comm* roots) {
  const int rank = rank_in(whole);
  const int size = size_of(whole);
  MPI_Comm_split(whole, (int)((long)rank * (parts < size ? parts : size) / size), rank, part);
  MPI_Comm_split(whole, rank_in(*part) == 0 ? 0 : MPI_UNDEFINED, rank, roots);
}

static void build_by_hand(Hierarchy* hierarchy, const char* text) {
  MPI_Comm levels[kMostLevels + 1];
  MPI_Comm roots[kMostLevels];
  int depth = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &levels[0]);
  for (const char* word = text; depth < kMostLevels;) {
    char* end;
    const long parts = strtol(word, &end, 10);
    if (end == word || parts < 1 || parts > INT32_MAX || (*end != ',' && *end != '\0')) {
      stop("usage: vectors --levels: numbers of parts, the outermost level first, as in 3,4,2");
    }
    cut(levels[depth], (int)parts, &levels[depth + 1], &roots[depth]);
    ++depth;
    if (*end == '\0') {
      break;
    }
    word = end + 1;
  }
  snprintf(hierarchy->name, sizeof hierarchy->name, "%.63s", text);
  hierarchy->comms[0] = levels[depth];
  hierarchy->count = 1;
  for (int i = depth; i-- > 0;) {
    if (roots[i] != MPI_COMM_NULL) {
      hierarchy->comms[hierarchy->count++] = roots[i];
    }
    MPI_Comm_free(&levels[i]);
  }
}

static void release(Hierarchy* hierarchy) {
  for (int i = 0; i < hierarchy->count; ++i) {
    MPI_Comm_free(&hierarchy->comms[i]);
  }
}

// -- Algorithm 5 --

// Algorithm 5's func, of `count` vectors one after the other.
static void combine(const double* vectors, int count, const double* local, int values, double* result) {
  for (int i = 0; i < values; ++i) {
    double sum = 0;
    for (int vector = 0; vector < count; ++vector) {
      sum += vectors[(size_t)vector * (size_t)values + (size_t)i];
    }
    result[i] = sum / local[i];
  }
}

static void process(const Hierarchy* hierarchy, const Vectors* vectors, int values) {
  memcpy(vectors->result, vectors->mine, sizeof(double) * (size_t)values);
  for (int level = 0; level < hierarchy->count; ++level) {
    const MPI_Comm comm = hierarchy->comms[level];
    MPI_Gather(vectors->result, values, MPI_DOUBLE, vectors->gathered, values, MPI_DOUBLE, 0, comm);
    if (rank_in(comm) == 0) {
      combine(vectors->gathered, size_of(comm), vectors->local, values, vectors->result);
    }
  }
}

static void fill(int rank, int values, double* mine, double* local) {
  for (int i = 0; i < values; ++i) {
    mine[i] = 1.0 + (rank * 31 + i * 7) % 101;
    local[i] = 1.0 + (rank * 13 + i * 3) % 17;
  }
}

// -- the check --

// The rank that gathers this rank's vector (-1 for rank 0's, which no rank gathers), the level of that rank on which it
// does, and the number of levels on which this rank gathers.
typedef struct {
  int parent;
  int level;
  int rooted;
} Edge;

static Edge edge_of(const Hierarchy* hierarchy) {
  Edge edge = {-1, -1, 0};
  for (int level = 0; level < hierarchy->count; ++level) {
    int sent[2] = {rank_in(MPI_COMM_WORLD), level};
    MPI_Bcast(sent, 2, MPI_INT, 0, hierarchy->comms[level]);
    if (rank_in(hierarchy->comms[level]) == 0) {
      ++edge.rooted;
    } else {
      edge.parent = sent[0];
      edge.level = sent[1];
    }
  }
  return edge;
}

// The vector of a rank after all of its levels, from the edges of all ranks.
static void repeat(int rank, const Edge* edges, int ranks, int values, double* result) {
  const size_t bytes = sizeof(double) * (size_t)values;
  double* const vectors = allocate(bytes * (size_t)ranks);
  double* const local = allocate(bytes);
  fill(rank, values, result, local);
  for (int level = 0; level < edges[rank].rooted; ++level) {
    int count = 1;
    memcpy(vectors, result, bytes);
    for (int other = 0; other < ranks; ++other) {
      if (edges[other].parent == rank && edges[other].level == level) {
        repeat(other, edges, ranks, values, vectors + (size_t)values * (size_t)count++);
      }
    }
    combine(vectors, count, local, values, result);
  }
  free(vectors);
  free(local);
}

static void check(const Hierarchy* hierarchy, const Vectors* vectors, int values) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const Edge own = edge_of(hierarchy);
  Edge* const edges = allocate(sizeof(Edge) * (size_t)ranks);
  MPI_Gather(&own, 3, MPI_INT, edges, 3, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) {
    double* const expected = allocate(sizeof(double) * (size_t)values);
    repeat(0, edges, ranks, values, expected);
    for (int i = 0; i < values; ++i) {
      if (vectors->result[i] != expected[i]) {
        char text[160];
        snprintf(text, sizeof text, "hierarchy %.63s, element %d: expected %.17g, found %.17g", hierarchy->name, i,
                 expected[i], vectors->result[i]);
        stop(text);
      }
    }
    free(expected);
  }
  free(edges);
}

// -- the run --

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double timed(const Hierarchy* hierarchy, const Vectors* vectors, int values) {
  double slowest;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  process(hierarchy, vectors, values);
  const double own = MPI_Wtime() - start;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static void print_json(const Options* options, const Hierarchy* hierarchies, int count) {
  printf("{\"program\": \"vectors\", \"ranks\": %d, \"values\": %d, \"iterations\": %d, \"hierarchies\": [",
         size_of(MPI_COMM_WORLD), options->values, options->iterations);
  for (int i = 0; i < count; ++i) {
    const double* const seconds = hierarchies[i].seconds;
    printf("%s{\"name\": \"%s\", \"seconds_median\": %.9f, \"seconds_min\": %.9f}", i > 0 ? ", " : "",
           hierarchies[i].name, seconds[options->iterations / 2], seconds[0]);
  }
  printf("]}\n");
}

static void print_text(const Options* options, const Hierarchy* hierarchies, int count) {
  printf("vectors: %d ranks, %d values each, seconds of the slowest rank: median (least) of %d\n",
         size_of(MPI_COMM_WORLD), options->values, options->iterations);
  for (int i = 0; i < count; ++i) {
    const double* const seconds = hierarchies[i].seconds;
    printf("  %-24s %.6f (%.6f)\n", hierarchies[i].name, seconds[options->iterations / 2], seconds[0]);
  }
}

_Noreturn static void usage(const char* argument) {
  char text[160];
  snprintf(text, sizeof text, "%s: usage: vectors [--values N] [--iterations I] [--levels 3,4,2]... [--json]",
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

static Options read_options(int count, char** arguments) {
  Options options = {.values = 16384, .iterations = 5};
  for (int i = 1; i < count; ++i) {
    const char* const name = arguments[i];
    if (strcmp(name, "--json") == 0) {
      options.json = 1;
    } else if (strcmp(name, "--values") == 0) {
      options.values = number(name, arguments[++i], 1L << 27);
    } else if (strcmp(name, "--iterations") == 0) {
      options.iterations = number(name, arguments[++i], kMostRuns);
    } else if (strcmp(name, "--levels") == 0 && i + 1 < count && options.count + 1 < kMostHierarchies) {
      options.levels[options.count++] = arguments[++i];
    } else {
      usage(name);
    }
  }
  if (options.count == 0) {
    options.count = 4;
    memcpy(options.levels, (const char* [4]){"2,2,2", "3,2", "2,4", "4,2"}, sizeof(const char* [4]));
  }
  return options;
}

int main(int count, char** arguments) {
  static Hierarchy hierarchies[kMostHierarchies];
  MPI_Init(&count, &arguments);
  const Options options = read_options(count, arguments);
  const int all = options.count + 1;
  const size_t bytes = sizeof(double) * (size_t)options.values;
  Vectors vectors = {allocate(bytes), allocate(bytes), allocate(bytes), NULL};
  vectors.gathered = allocate(bytes * (size_t)size_of(MPI_COMM_WORLD));
  fill(rank_in(MPI_COMM_WORLD), options.values, vectors.mine, vectors.local);
  build_from_machine(&hierarchies[0]);
  for (int i = 1; i < all; ++i) {
    build_by_hand(&hierarchies[i], options.levels[i - 1]);
  }
  for (int i = 0; i < all; ++i) {
    process(&hierarchies[i], &vectors, options.values);
    check(&hierarchies[i], &vectors, options.values);
  }
  for (int run = 0; run < options.iterations; ++run) {
    for (int i = 0; i < all; ++i) {
      hierarchies[i].seconds[run] = timed(&hierarchies[i], &vectors, options.values);
    }
  }
  for (int i = 0; i < all; ++i) {
    qsort(hierarchies[i].seconds, (size_t)options.iterations, sizeof(double), ascending);
    release(&hierarchies[i]);
  }
  if (rank_in(MPI_COMM_WORLD) == 0) {
    (options.json ? print_json : print_text)(&options, hierarchies, all);
  }
  free(vectors.mine);
  free(vectors.local);
  free(vectors.result);
  free(vectors.gathered);
  MPI_Finalize();
  return 0;
}
