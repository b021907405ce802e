/* A random program of MPI calls, the same for the same seed. All ranks draw the same numbers for a step, so that each
 * knows what the others send; everything that arrives is compared with what is computed here without MPI. */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { kRanks = 6, kSlots = 6, kPending = 8, kItems = 3, kLongest = 64 };

/* A communicator and what is known of it without MPI. */
typedef struct {
  MPI_Comm comm; /* MPI_COMM_NULL: this rank has no part in it */
  int size, me;
  int members[kRanks]; /* their ranks in MPI_COMM_WORLD */
  int neighbors;       /* 0: no topology; 1: a graph, each receives from the rank before it; 2: a periodic grid */
} Group;

enum Base { kChar, kInt, kLong, kFloat, kDouble, kBases };
enum { kTriple = kBases, kStrided, kPair, kKinds };

/* A datatype: so many items of a basic type, `step` apart. */
typedef struct {
  MPI_Datatype type;
  enum Base base;
  int items, step;
} Kind;

/* Where the items of a call come from: least..least + range - 1. */
typedef struct {
  uint64_t stamp;
  int64_t least, range;
} Numbers;

/* A buffer and what it must hold in the end. */
typedef struct {
  char *now, *then;
  size_t bytes;
} Area;

/* A call and its buffers and arguments, which live until it is complete. */
typedef struct {
  char name[kLongest];
  long step;
  MPI_Request requests[2];
  Area sent, received;
  int send_counts[kRanks], send_starts[kRanks], receive_counts[kRanks], receive_starts[kRanks];
} Call;

typedef struct {
  uint64_t seed, dice, print; /* print: of all numbers drawn on this rank */
  long step, results, resident;
  int with_windows, with_hardware, makes; /* makes: communicators */
  Group groups[kSlots];                   /* the first lives from beginning to end */
  Call calls[kPending];
  int pending;
} Program;

/* data.c */
extern Kind kinds[kKinds];
extern MPI_Op composition; /* of functions a x + b, on kPair: not commutative */
enum { kModulus = 97 };
void make_kinds(void);
void free_kinds(void);
uint64_t mixed(uint64_t value);
int draw(Program* program, int bound);
int draw_count(Program* program);
Numbers numbers_for(const Program* program, const Kind* kind);
int64_t item_of(const Numbers* numbers, int origin, int element, int item);
void make_area(Area* area, const Kind* kind, int elements);
void put_items(char* area, const Kind* kind, int place, const int64_t items[]);
/* Elements first.. of what rank `origin` of MPI_COMM_WORLD sends, from `place` on. */
void put_elements(char* area, const Kind* kind, int place, const Numbers* numbers, const int range[3]);
Call* new_call(Program* program, const char* name);
void finish_or_leave(Program* program, Call* call);
void complete_all(Program* program);
void wrong(const Program* program, const char* name, const char* what, long found);
void count_result(Program* program, const char* name, int right, long found);

/* collectives.c */
void move_data(Program* program, const Group* group);
void reduce_data(Program* program, const Group* group);
void synchronize(Program* program, const Group* group);
void gather_from_neighbors(Program* program, const Group* group);

/* messages.c */
void send_around(Program* program, const Group* group);
void access_windows(Program* program, const Group* group);

/* communicators.c */
void change_communicators(Program* program);
void begin_with(Program* program, MPI_Comm comm);
void free_group(Program* program, int slot);
#endif
