/* Communicators come and go, each beside what is known of it without MPI. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum Maker { kDup, kIdup, kSplit, kShared, kHardware, kReversed, kPart, kGrid, kGraph, kMakers };

#ifdef OPEN_MPI /* the number of Open MPI 5, which `ranktree run --split` serves with 4.1 too */
enum { kUnguided = 12 };
#else
enum { kUnguided = MPI_COMM_TYPE_HW_UNGUIDED };
#endif

/* Sorts the members of a new communicator by key, and by their order in its parent. */
static void add_in_order(Group* made, int keys[], int member, int key) {
  int at = made->size++;
  for (; at > 0 && keys[at - 1] > key; --at) {
    keys[at] = keys[at - 1];
    made->members[at] = made->members[at - 1];
  }
  keys[at] = key;
  made->members[at] = member;
}

/* Its members as MPI has them. They are all of the parent's that were expected, and in that order, but of a split by
 * hardware any, and of a topology in any order. */
static void learn(Program* program, const Group* parent, Group* made, enum Maker maker) {
  MPI_Group world, group;
  int ranks[kRanks], found[kRanks], size, next = 0;
  unsigned seen = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(made->comm, &group);
  MPI_Group_size(group, &size);
  const int fits = maker == kHardware ? size <= parent->size : size == made->size;
  count_result(program, "size of a communicator", fits, size);
  for (int i = 0; i < size; ++i) ranks[i] = i;
  MPI_Group_translate_ranks(group, size, ranks, world, found);
  for (int i = 0; i < size; ++i) {
    int at = maker < kGrid ? next : 0;
    while (at < made->size && made->members[at] != found[i]) ++at;
    count_result(program, "member of a communicator", at < made->size && (seen >> at & 1U) == 0, found[i]);
    seen |= 1U << at;
    next = at + 1;
  }
  memcpy(made->members, found, sizeof(int) * (size_t)size);
  made->size = size;
  MPI_Comm_rank(made->comm, &made->me);
  const int own = parent->members[parent->me];
  count_result(program, "rank in a communicator", made->members[made->me] == own, made->me);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static int hashed(const Program* program, int member, int range) {
  return (int)(mixed(program->seed + (uint64_t)program->step + ((uint64_t)(member + 1) << 48U)) % (uint64_t)range);
}

/* Some ranks may have no color. */
static void split(Program* program, const Group* parent, Group* made, int colors) {
  int keys[kRanks];
  const int own = parent->members[parent->me], mine = hashed(program, own, colors + 1);
  const int color = mine == colors ? MPI_UNDEFINED : mine;
  MPI_Comm_split(parent->comm, color, hashed(program, own + kRanks, 3), &made->comm);
  made->size = 0;
  for (int i = 0; i < parent->size; ++i) {
    const int member = parent->members[i];
    if (hashed(program, member, colors + 1) != mine) continue;
    add_in_order(made, keys, member, hashed(program, member + kRanks, 3));
  }
  const int none = made->comm == MPI_COMM_NULL;
  count_result(program, "split without a color", none == (color == MPI_UNDEFINED), color);
}

/* All are on one node. */
static void split_by_type(Program* program, const Group* parent, Group* made, int type) {
  int keys[kRanks];
  const int own = parent->members[parent->me];
  MPI_Comm_split_type(parent->comm, type, hashed(program, own, 3), MPI_INFO_NULL, &made->comm);
  made->size = 0;
  for (int i = 0; i < parent->size; ++i) {
    add_in_order(made, keys, parent->members[i], hashed(program, parent->members[i], 3));
  }
}

/* All ranks in reverse, or those of even number in MPI_COMM_WORLD. */
static void make_of_group(const Group* parent, Group* made, int step) {
  MPI_Group all, some;
  int ranks[kRanks];
  made->size = 0;
  for (int i = parent->size - 1; i >= 0; --i) {
    if (parent->members[i] % step != 0) continue;
    ranks[made->size] = i;
    made->members[made->size++] = parent->members[i];
  }
  MPI_Comm_group(parent->comm, &all);
  MPI_Group_incl(all, made->size, ranks, &some);
  MPI_Comm_create(parent->comm, some, &made->comm);
  if (some != MPI_GROUP_EMPTY) MPI_Group_free(&some);
  MPI_Group_free(&all);
}

/* Of rank numbers in a circle, in any order of the processes. */
static void make_topology(const Group* parent, Group* made, int graph) {
  const int size = parent->size, periodic = 1, weight = 3;
  const int before = (parent->me + size - 1) % size, next = (parent->me + 1) % size;
  if (graph) {
    MPI_Dist_graph_create_adjacent(parent->comm, 1, &before, &weight, 1, &next, &weight, MPI_INFO_NULL, 1, &made->comm);
  } else {
    MPI_Cart_create(parent->comm, 1, &size, &periodic, 1, &made->comm);
  }
  made->neighbors = graph ? 1 : 2;
}

static void make(Program* program, const Group* parent, Group* made, enum Maker maker) {
  MPI_Request request;
  switch (maker) {
    case kDup:
      MPI_Comm_dup(parent->comm, &made->comm);
      break;
    case kIdup:
      MPI_Comm_idup(parent->comm, &made->comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case kSplit:
      split(program, parent, made, 1 + hashed(program, kRanks, 3));
      break;
    case kShared:
    case kHardware:
      split_by_type(program, parent, made, maker == kShared ? MPI_COMM_TYPE_SHARED : kUnguided);
      break;
    case kReversed:
    case kPart:
      make_of_group(parent, made, maker == kReversed ? 1 : 2);
      break;
    default:
      make_topology(parent, made, maker == kGraph);
  }
}

void free_group(Program* program, int slot) {
  Group* const group = &program->groups[slot];
  if (group->comm != MPI_COMM_NULL) MPI_Comm_free(&group->comm);
}

/* Replaces one communicator by one made of another, or of itself. */
void change_communicators(Program* program) {
  const int slot = 1 + draw(program, kSlots - 1), from = draw(program, kSlots);
  enum Maker maker = (enum Maker)draw(program, kMakers);
  complete_all(program);
  const Group parent = program->groups[from];
  Group made = parent;
  if (parent.comm != MPI_COMM_NULL) {
    if (maker == kHardware && !program->with_hardware) maker = kDup;
    if (maker != kDup && maker != kIdup) made.neighbors = 0;
    made.comm = MPI_COMM_NULL;
    make(program, &parent, &made, maker);
    if (made.comm != MPI_COMM_NULL) learn(program, &parent, &made, maker);
  }
  free_group(program, slot);
  program->groups[slot] = made;
}

void begin_with(Program* program, MPI_Comm comm) {
  Group* const first = &program->groups[0];
  for (int slot = 1; slot < kSlots; ++slot) program->groups[slot].comm = MPI_COMM_NULL;
  first->comm = comm;
  MPI_Comm_size(comm, &first->size);
  MPI_Comm_rank(comm, &first->me);
  for (int i = 0; i < first->size; ++i) first->members[i] = i;
}
