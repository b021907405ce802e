// Rings of ranks (reorder-2011 §4.1): in each ring a token travels from the leader through every member back to the
// leader; then the leaders exchange their tokens by MPI_Allgather. Rings consist of consecutive ranks, so with ranks
// placed round robin over the nodes every hop crosses the network.
//
//   rings [--rings R] [--bytes B] [--iterations I] [--turns T] [--json]
//
// Ring r has the ranks with rank * R / size == r: R rings of S = size / R ranks when R divides the size, else their
// sizes differ by one. Every token is checked where it arrives; on a wrong one the program calls MPI_Abort.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int rings;
  int bytes;
  int iterations;
  int turns;  // of the token before the leaders exchange it
  int json;
} Options;

// The first bytes of a token; the ring's number determines the rest.
typedef struct {
  int32_t ring;
  int32_t iteration;
  int32_t hops;
} Header;

typedef struct {
  MPI_Comm ring;
  MPI_Comm leaders;  // MPI_COMM_NULL at ranks that lead no ring
  int number;        // of this ring
  int position;      // in this ring
  int size;          // of this ring
  unsigned char* token;
  unsigned char* expected;  // the token's body in this ring
  unsigned char* gathered;  // one token a ring, at leaders
} Place;

_Noreturn static void stop(const char* text) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rings: rank %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void* allocate(size_t bytes) {
  void* const memory = malloc(bytes);
  if (!memory) {
    stop("out of memory");
  }
  return memory;
}

static void fill_body(unsigned char* token, int bytes, int ring) {
  for (int i = (int)sizeof(Header); i < bytes; ++i) {
    token[i] = (unsigned char)(7U * (unsigned)i + 13U * (unsigned)ring + 1U);
  }
}

static Header read_header(const unsigned char* token) {
  Header header;
  memcpy(&header, token, sizeof header);
  return header;
}

static void check_header(const unsigned char* token, Header expected) {
  const Header found = read_header(token);
  if (found.ring == expected.ring && found.iteration == expected.iteration && found.hops == expected.hops) {
    return;
  }
  char text[160];
  snprintf(text, sizeof text, "expected ring %d, iteration %d, hop %d; received ring %d, iteration %d, hop %d",
           expected.ring, expected.iteration, expected.hops, found.ring, found.iteration, found.hops);
  stop(text);
}

static void receive_token(const Place* place, const Options* options, int iteration, int hops) {
  const int before = (place->position + place->size - 1) % place->size;
  MPI_Recv(place->token, options->bytes, MPI_BYTE, before, iteration % 1000, place->ring, MPI_STATUS_IGNORE);
  check_header(place->token, (Header){place->number, iteration, hops});
  if (memcmp(place->token + sizeof(Header), place->expected + sizeof(Header), options->bytes - sizeof(Header)) != 0) {
    stop("the body of the token was changed in transit");
  }
}

static void send_token(const Place* place, const Options* options, int iteration, int hops) {
  const Header header = {place->number, iteration, hops};
  memcpy(place->token, &header, sizeof header);
  const int after = (place->position + 1) % place->size;
  MPI_Send(place->token, options->bytes, MPI_BYTE, after, iteration % 1000, place->ring);
}

// In each turn the token takes as many hops as the ring has ranks; a ring of one has no hop.
static void circulate(const Place* place, const Options* options, int iteration) {
  for (int turn = 0; turn < options->turns && place->size > 1; ++turn) {
    const int start = turn * place->size;
    if (place->position == 0) {
      send_token(place, options, iteration, start + 1);
      receive_token(place, options, iteration, start + place->size);
    } else {
      receive_token(place, options, iteration, start + place->position);
      send_token(place, options, iteration, start + place->position + 1);
    }
  }
}

static void exchange(const Place* place, const Options* options, int iteration) {
  if (place->leaders == MPI_COMM_NULL) {
    return;
  }
  const Header header = {place->number, iteration, -1};
  memcpy(place->token, &header, sizeof header);
  MPI_Allgather(place->token, options->bytes, MPI_BYTE, place->gathered, options->bytes, MPI_BYTE, place->leaders);
  for (int ring = 0; ring < options->rings; ++ring) {
    check_header(place->gathered + (size_t)ring * options->bytes, (Header){ring, iteration, -1});
  }
}

// Checks the bodies of all tokens at the leaders; once, because it takes as long as a short exchange.
static void check_gathered(const Place* place, const Options* options) {
  for (int ring = 0; place->leaders != MPI_COMM_NULL && ring < options->rings; ++ring) {
    fill_body(place->expected, options->bytes, ring);
    const unsigned char* const body = place->gathered + (size_t)ring * options->bytes + sizeof(Header);
    if (memcmp(body, place->expected + sizeof(Header), options->bytes - sizeof(Header)) != 0) {
      stop("a leader received another token than was sent");
    }
  }
}

static Place take_place(Options* options) {
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (options->rings > size) {
    options->rings = size;
  }
  Place place = {.number = (int)((long)rank * options->rings / size)};
  MPI_Comm_split(MPI_COMM_WORLD, place.number, rank, &place.ring);
  MPI_Comm_rank(place.ring, &place.position);
  MPI_Comm_size(place.ring, &place.size);
  MPI_Comm_split(MPI_COMM_WORLD, place.position == 0 ? 0 : MPI_UNDEFINED, rank, &place.leaders);
  place.token = allocate(options->bytes);
  place.expected = allocate(options->bytes);
  place.gathered = place.position == 0 ? allocate((size_t)options->rings * options->bytes) : NULL;
  fill_body(place.token, options->bytes, place.number);
  fill_body(place.expected, options->bytes, place.number);
  return place;
}

static void leave(Place* place) {
  free(place->token);
  free(place->expected);
  free(place->gathered);
  if (place->leaders != MPI_COMM_NULL) {
    MPI_Comm_free(&place->leaders);
  }
  MPI_Comm_free(&place->ring);
}

_Noreturn static void usage(const char* argument) {
  char text[200];
  snprintf(text, sizeof text,
           "%s: usage: rings [--rings R] [--bytes B (at least %zu)] [--iterations I] [--turns T] [--json]", argument,
           sizeof(Header));
  stop(text);
}

static int number(const char* name, const char* text, int smallest) {
  char* end;
  const long value = text ? strtol(text, &end, 10) : -1;
  if (!text || *end || value < smallest || value > INT32_MAX) {
    usage(name);
  }
  return (int)value;
}

static Options read_options(int count, char** arguments) {
  Options options = {.rings = 4, .bytes = 131072, .iterations = 10, .turns = 1};
  for (int i = 1; i < count; ++i) {
    const char* const name = arguments[i];
    if (strcmp(name, "--json") == 0) {
      options.json = 1;
    } else if (strcmp(name, "--rings") == 0) {
      options.rings = number(name, arguments[++i], 1);
    } else if (strcmp(name, "--bytes") == 0) {
      options.bytes = number(name, arguments[++i], sizeof(Header));
    } else if (strcmp(name, "--iterations") == 0) {
      options.iterations = number(name, arguments[++i], 1);
    } else if (strcmp(name, "--turns") == 0) {
      options.turns = number(name, arguments[++i], 1);
    } else {
      usage(name);
    }
  }
  return options;
}

static void print_result(const Options* options, double seconds) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf(options->json ? "{\"program\": \"rings\", \"ranks\": %d, \"rings\": %d, \"bytes\": %d, \"iterations\": %d, "
                         "\"turns\": %d, \"seconds_per_iteration\": %.9f}\n"
                       : "rings: %d ranks, %d rings, %d bytes, %d iterations of %d turns: %.9f s an iteration\n",
         size, options->rings, options->bytes, options->iterations, options->turns, seconds);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  Options options = read_options(count, arguments);
  Place place = take_place(&options);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    circulate(&place, &options, iteration);
    exchange(&place, &options, iteration);
  }
  double seconds = (MPI_Wtime() - start) / options.iterations;
  double slowest;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  check_gathered(&place, &options);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    print_result(&options, slowest);
  }
  leave(&place);
  MPI_Finalize();
  return 0;
}
