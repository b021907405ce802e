/* Numbers, datatypes, buffers, and the calls in flight. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { kGuard = 16, kUntouched = 0x5a };

Kind kinds[kKinds] = {{MPI_DATATYPE_NULL, kChar, 1, 1},   {MPI_DATATYPE_NULL, kInt, 1, 1},
                      {MPI_DATATYPE_NULL, kLong, 1, 1},   {MPI_DATATYPE_NULL, kFloat, 1, 1},
                      {MPI_DATATYPE_NULL, kDouble, 1, 1}, {MPI_DATATYPE_NULL, kInt, 3, 1},
                      {MPI_DATATYPE_NULL, kInt, 2, 2},    {MPI_DATATYPE_NULL, kInt, 2, 1}};
MPI_Op composition;

static const size_t sizes[kBases] = {1, sizeof(int), sizeof(long), sizeof(float), sizeof(double)};

static void compose(void* left, void* right, int* elements, MPI_Datatype* type) {
  (void)type;
  const int* in = left;
  int* out = right;
  for (int i = 0; i < 2 * *elements; i += 2) {
    out[i + 1] = (in[i] * out[i + 1] + in[i + 1]) % kModulus;
    out[i] = in[i] * out[i] % kModulus;
  }
}

void make_kinds(void) {
  kinds[kChar].type = MPI_SIGNED_CHAR;
  kinds[kInt].type = MPI_INT;
  kinds[kLong].type = MPI_LONG;
  kinds[kFloat].type = MPI_FLOAT;
  kinds[kDouble].type = MPI_DOUBLE;
  MPI_Type_contiguous(3, MPI_INT, &kinds[kTriple].type);
  MPI_Type_vector(2, 1, 2, MPI_INT, &kinds[kStrided].type);
  MPI_Type_contiguous(2, MPI_INT, &kinds[kPair].type);
  for (int kind = kTriple; kind < kKinds; ++kind) MPI_Type_commit(&kinds[kind].type);
  MPI_Op_create(compose, 0, &composition);
}

void free_kinds(void) {
  for (int kind = kTriple; kind < kKinds; ++kind) MPI_Type_free(&kinds[kind].type);
  MPI_Op_free(&composition);
}

/* SplitMix64's, as in src/core/base/random.h. */
uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

int draw(Program* program, int bound) {
  const int drawn = (int)(mixed(program->dice += 0x9e3779b97f4a7c15U) % (uint64_t)bound);
  program->print = mixed(program->print + (uint64_t)drawn + 1);
  return drawn;
}

/* Mostly few, sometimes none, rarely more than an MPI sends at once. */
int draw_count(Program* program) {
  const int choice = draw(program, 10);
  if (choice == 0) return 0;
  return 1 + draw(program, choice < 6 ? 9 : choice < 9 ? 300 : 6000);
}

/* Any that the type can hold exactly. */
Numbers numbers_for(const Program* program, const Kind* kind) {
  static const int64_t limits[kBases] = {128, 1 << 30, 1L << 40, 1 << 20, 1L << 40};
  const Numbers numbers = {mixed(program->seed + (uint64_t)program->step), 0, limits[kind->base]};
  return numbers;
}

int64_t item_of(const Numbers* numbers, int origin, int element, int item) {
  const uint64_t index = (uint64_t)element * kItems + (uint64_t)item + ((uint64_t)origin << 40U);
  return numbers->least + (int64_t)(mixed(numbers->stamp ^ mixed(index)) % (uint64_t)numbers->range);
}

static size_t extent_of(const Kind* kind) { return sizes[kind->base] * (size_t)((kind->items - 1) * kind->step + 1); }

void make_area(Area* area, const Kind* kind, int elements) {
  area->bytes = extent_of(kind) * (size_t)elements + kGuard;
  area->now = malloc(area->bytes);
  area->then = malloc(area->bytes);
  memset(area->now, kUntouched, area->bytes);
  memset(area->then, kUntouched, area->bytes);
}

static void put_item(char* at, enum Base base, int64_t value) {
  const signed char as_char = (signed char)value;
  const int as_int = (int)value;
  const long as_long = value;
  const float as_float = (float)value;
  const double as_double = (double)value;
  const void* const forms[kBases] = {&as_char, &as_int, &as_long, &as_float, &as_double};
  memcpy(at, forms[base], sizes[base]);
}

void put_items(char* area, const Kind* kind, int place, const int64_t items[]) {
  char* const at = area + extent_of(kind) * (size_t)place;
  for (int item = 0; item < kind->items; ++item) {
    put_item(at + sizes[kind->base] * (size_t)(item * kind->step), kind->base, items[item]);
  }
}

void put_elements(char* area, const Kind* kind, int place, const Numbers* numbers, const int range[3]) {
  const int origin = range[0], first = range[1], count = range[2];
  for (int i = 0; i < count; ++i) {
    int64_t items[kItems];
    for (int item = 0; item < kind->items; ++item) items[item] = item_of(numbers, origin, first + i, item);
    put_items(area, kind, place + i, items);
  }
}

void wrong(const Program* program, const char* name, const char* what, long found) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d, seed %llu, step %ld: %s: %s %ld\n", rank, (unsigned long long)program->seed, program->step,
          name, what, found);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

void count_result(Program* program, const char* name, int right, long found) {
  if (!right) wrong(program, name, "wrong:", found);
  ++program->results;
}

static void check_and_free(Program* program, const Call* call, Area* area, const char* side) {
  size_t byte = 0;
  while (byte < area->bytes && area->now[byte] == area->then[byte]) ++byte;
  if (byte < area->bytes) {
    char what[kLongest];
    snprintf(what, sizeof what, "of step %ld, wrong %s byte of %zu:", call->step, side, area->bytes - kGuard);
    wrong(program, call->name, what, (long)byte);
  }
  ++program->results;
  free(area->now);
  free(area->then);
}

static void finish(Program* program, Call* call) {
  check_and_free(program, call, &call->sent, "sent");
  check_and_free(program, call, &call->received, "received");
}

/* The call to fill in; it is pending if finish_or_leave() finds requests in it. */
Call* new_call(Program* program, const char* name) {
  if (program->pending == kPending) complete_all(program);
  Call* const call = &program->calls[program->pending];
  snprintf(call->name, sizeof call->name, "%s", name);
  call->step = program->step;
  call->requests[0] = call->requests[1] = MPI_REQUEST_NULL;
  return call;
}

void finish_or_leave(Program* program, Call* call) {
  if (call->requests[0] == MPI_REQUEST_NULL && call->requests[1] == MPI_REQUEST_NULL) {
    finish(program, call);
  } else {
    ++program->pending;
  }
}

/* By one of MPI's calls. Ranks may do so at different steps: what they wait for began before, on all ranks. */
void complete_all(Program* program) {
  MPI_Request requests[2 * kPending];
  MPI_Status statuses[2 * kPending]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
  const int count = 2 * program->pending;
  const int how = (int)(mixed(program->seed ^ (uint64_t)program->step) % 4); /* not drawn: ranks draw on alike */
  for (int i = 0; i < count; ++i) requests[i] = program->calls[i / 2].requests[i % 2];
  int done = 0;
  switch (how) {
    case 0:
      MPI_Waitall(count, requests, statuses);
      break;
    case 1:
      for (int i = count; i > 0; --i) MPI_Wait(&requests[i - 1], MPI_STATUS_IGNORE);
      break;
    case 2:
      while (done != MPI_UNDEFINED) MPI_Waitany(count, requests, &done, MPI_STATUS_IGNORE);
      break;
    default:
      while (!done) {
        MPI_Testall(count, requests, &done, statuses);
        sched_yield();
      }
  }
  for (int i = 0; i < program->pending; ++i) finish(program, &program->calls[i]);
  program->pending = 0;
}
