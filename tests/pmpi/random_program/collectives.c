/* Collectives with random roots, counts and datatypes, blocking and not. */
#include <string.h>

#include "program.h"

enum Movement {
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kMovements
};
enum Reduction { kReduce, kAllreduce, kScan, kExscan, kReduceScatterBlock, kReduceScatter, kReductions };
enum { kNoOp, kSum, kProd, kMax, kMin, kBand, kBor, kBxor, kOps };

/* CALL(Bcast, bcast, ...): MPI_Bcast(...), or MPI_Ibcast(..., request) where `later`. */
#define CALL(now, name, ...) (later ? MPI_I##name(__VA_ARGS__, &call->requests[0]) : MPI_##now(__VA_ARGS__))

static const char* const movements[] = {"bcast",     "gather",     "gatherv",  "scatter",  "scatterv",
                                        "allgather", "allgatherv", "alltoall", "alltoallv"};
static const char* const reductions[] = {"reduce",        "allreduce", "scan", "exscan", "reduce_scatter_block",
                                         "reduce_scatter"};

/* A movement of data among the ranks of a group. */
typedef struct {
  enum Movement movement;
  const Group* group;
  const Kind* kind;
  Numbers numbers;
  int count, root, later, in_place;
} Move;

static int is_vector(const Move* move) {
  return move->movement == kGatherv || move->movement == kScatterv || move->movement == kAllgatherv ||
         move->movement == kAlltoallv;
}

/* How many elements rank `from` sends to rank `to`. */
static int block(const Move* move, int from, int to) {
  const int gathers = move->movement == kGather || move->movement == kGatherv;
  const int scatters = move->movement == kScatter || move->movement == kScatterv;
  if ((gathers && to != move->root) || (scatters && from != move->root)) return 0;
  if (!is_vector(move)) return move->count;
  const int one = scatters ? 0 : from, other = scatters || move->movement == kAlltoallv ? to : 0;
  return (int)(mixed(move->numbers.stamp + (uint64_t)(kRanks * one + other)) % (uint64_t)(move->count + 1));
}

/* Where these are among what `from` sends: one after the other, with a gap of an element in the forms with counts. */
static int start_in_sent(const Move* move, int from, int to) {
  if (move->movement < kScatter || move->movement == kAllgather || move->movement == kAllgatherv) return 0;
  int start = 0;
  for (int i = 0; i < to; ++i) start += block(move, from, i) + is_vector(move);
  return start;
}

static int start_in_received(const Move* move, int from, int to) {
  const int gap = is_vector(move) && move->movement != kScatterv;
  int start = 0;
  for (int i = 0; i < from; ++i) start += block(move, i, to) + gap;
  return start;
}

static void put_block(const Move* move, char* area, int from) {
  const int me = move->group->me;
  const int range[3] = {move->group->members[from], start_in_sent(move, from, me), block(move, from, me)};
  put_elements(area, move->kind, start_in_received(move, from, me), &move->numbers, range);
}

static void fill_move(const Move* move, Call* call) {
  const int me = move->group->me, size = move->group->size;
  int sent = 0;
  for (int i = 0; i < size; ++i) {
    call->send_counts[i] = block(move, me, i);
    call->send_starts[i] = start_in_sent(move, me, i);
    call->receive_counts[i] = block(move, i, me);
    call->receive_starts[i] = start_in_received(move, i, me);
    const int end = call->send_starts[i] + call->send_counts[i];
    sent = end > sent ? end : sent;
  }
  make_area(&call->sent, move->kind, sent);
  make_area(&call->received, move->kind, start_in_received(move, size, me));
  const int range[3] = {move->group->members[me], 0, sent};
  put_elements(call->sent.now, move->kind, 0, &move->numbers, range);
  memcpy(call->sent.then, call->sent.now, call->sent.bytes);
  for (int from = 0; from < size; ++from) put_block(move, call->received.then, from);
  if (move->in_place) put_block(move, call->received.now, me);
}

static void broadcast(const Move* move, Call* call) {
  const Group* const group = move->group;
  const MPI_Datatype type = move->kind->type;
  const int later = move->later, range[3] = {group->members[move->root], 0, move->count};
  make_area(&call->sent, move->kind, 0);
  make_area(&call->received, move->kind, move->count);
  put_elements(call->received.then, move->kind, 0, &move->numbers, range);
  if (group->me == move->root) memcpy(call->received.now, call->received.then, call->received.bytes);
  CALL(Bcast, bcast, call->received.now, move->count, type, move->root, group->comm);
}

static void start_move(const Move* move, Call* call) {
  const MPI_Comm comm = move->group->comm;
  const MPI_Datatype type = move->kind->type;
  const void* const out = move->in_place ? MPI_IN_PLACE : call->sent.now;
  void* const in = call->received.now;
  const int n = move->count, root = move->root, later = move->later, me = move->group->me;
  const int *const outs = call->send_counts, *const out_at = call->send_starts;
  const int *const ins = call->receive_counts, *const in_at = call->receive_starts;
  switch (move->movement) {
    case kGather:
      CALL(Gather, gather, out, n, type, in, n, type, root, comm);
      break;
    case kGatherv:
      CALL(Gatherv, gatherv, out, outs[root], type, in, ins, in_at, type, root, comm);
      break;
    case kScatter:
      CALL(Scatter, scatter, out, n, type, in, n, type, root, comm);
      break;
    case kScatterv:
      CALL(Scatterv, scatterv, out, outs, out_at, type, in, ins[root], type, root, comm);
      break;
    case kAllgather:
      CALL(Allgather, allgather, out, n, type, in, n, type, comm);
      break;
    case kAllgatherv:
      CALL(Allgatherv, allgatherv, out, outs[me], type, in, ins, in_at, type, comm);
      break;
    case kAlltoall:
      CALL(Alltoall, alltoall, out, n, type, in, n, type, comm);
      break;
    default:
      CALL(Alltoallv, alltoallv, out, outs, out_at, type, in, ins, in_at, type, comm);
  }
}

void move_data(Program* program, const Group* group) {
  Move move = {.movement = (enum Movement)draw(program, kMovements), .group = group};
  move.kind = &kinds[draw(program, kKinds)];
  move.numbers = numbers_for(program, move.kind);
  move.count = draw_count(program);
  move.root = draw(program, group->size);
  move.later = draw(program, 3) == 0;
  const int gathers = move.movement == kGather || move.movement == kGatherv;
  const int may = move.movement == kAllgather || move.movement == kAllgatherv || (gathers && group->me == move.root);
  move.in_place = draw(program, 4) == 0 && may;
  Call* const call = new_call(program, movements[move.movement]);
  if (move.movement == kBcast) {
    broadcast(&move, call);
  } else {
    fill_move(&move, call);
    start_move(&move, call);
  }
  finish_or_leave(program, call);
}

/* A reduction among the ranks of a group. */
typedef struct {
  enum Reduction reduction;
  const Group* group;
  const Kind* kind;
  Numbers numbers;
  int op, count, root, later, in_place; /* op: of the list above, or kNoOp for the composition */
} Fold;

static int64_t combined(int op, int64_t left, int64_t right) {
  switch (op) {
    case kSum:
      return left + right;
    case kProd:
      return left * right;
    case kMax:
      return left > right ? left : right;
    case kMin:
      return left < right ? left : right;
    case kBand:
      return left & right;
    case kBor:
      return left | right;
    default:
      return left ^ right;
  }
}

/* Element `element` combined over the ranks up to `last`, in their order. */
static void fold_element(const Fold* fold, int element, int last, int64_t items[]) {
  for (int rank = 0; rank <= last; ++rank) {
    int64_t next[kItems];
    for (int item = 0; item < fold->kind->items; ++item) {
      next[item] = item_of(&fold->numbers, fold->group->members[rank], element, item);
    }
    if (rank == 0) {
      memcpy(items, next, sizeof next);
    } else if (fold->op == kNoOp) {
      items[1] = (items[0] * next[1] + items[1]) % kModulus;
      items[0] = items[0] * next[0] % kModulus;
    } else {
      items[0] = combined(fold->op, items[0], next[0]);
    }
  }
}

/* How many elements of the result rank `rank` receives. */
static int received_by(const Fold* fold, int rank) {
  if (fold->reduction == kReduce && rank != fold->root) return 0;
  if (fold->reduction != kReduceScatter) return fold->count;
  return (int)(mixed(fold->numbers.stamp + (uint64_t)rank) % (uint64_t)(fold->count + 1));
}

static void fill_fold(const Fold* fold, Call* call) {
  const int me = fold->group->me, size = fold->group->size, count = received_by(fold, me);
  const int scatters = fold->reduction >= kReduceScatterBlock;
  int sent = 0, first = 0;
  for (int i = 0; i < size; ++i) {
    call->receive_counts[i] = received_by(fold, i);
    if (i == me && scatters) first = sent;
    sent += call->receive_counts[i];
  }
  if (!scatters) sent = fold->count;
  make_area(&call->sent, fold->kind, sent);
  make_area(&call->received, fold->kind, count);
  const int range[3] = {fold->group->members[me], 0, sent};
  put_elements(call->sent.now, fold->kind, 0, &fold->numbers, range);
  memcpy(call->sent.then, call->sent.now, call->sent.bytes);
  if (fold->in_place) put_elements(call->received.now, fold->kind, 0, &fold->numbers, range);
  const int partial = fold->reduction == kScan || fold->reduction == kExscan;
  const int last = partial ? me - (fold->reduction == kExscan) : size - 1;
  for (int i = 0; i < count && last >= 0; ++i) {
    int64_t items[kItems] = {0};
    fold_element(fold, first + i, last, items);
    put_items(call->received.then, fold->kind, i, items);
  }
}

static void start_fold(const Fold* fold, Call* call) {
  static const MPI_Op ops_of[kOps] = {MPI_OP_NULL, MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR};
  const MPI_Op op = fold->op == kNoOp ? composition : ops_of[fold->op];
  const MPI_Comm comm = fold->group->comm;
  const MPI_Datatype type = fold->kind->type;
  const void* const out = fold->in_place ? MPI_IN_PLACE : call->sent.now;
  void* const in = call->received.now;
  const int n = fold->count, later = fold->later;
  switch (fold->reduction) {
    case kReduce:
      CALL(Reduce, reduce, out, in, n, type, op, fold->root, comm);
      break;
    case kAllreduce:
      CALL(Allreduce, allreduce, out, in, n, type, op, comm);
      break;
    case kScan:
      CALL(Scan, scan, out, in, n, type, op, comm);
      break;
    case kExscan:
      CALL(Exscan, exscan, out, in, n, type, op, comm);
      break;
    case kReduceScatterBlock:
      CALL(Reduce_scatter_block, reduce_scatter_block, out, in, n, type, op, comm);
      break;
    default:
      CALL(Reduce_scatter, reduce_scatter, out, in, call->receive_counts, type, op, comm);
  }
}

/* Sums and products fit into the smallest type for kRanks ranks. */
static void draw_operand(Program* program, Fold* fold) {
  fold->kind = &kinds[draw(program, kBases)];
  fold->op = draw(program, kOps);
  const int real = fold->kind->base == kFloat || fold->kind->base == kDouble;
  if (real && fold->op >= kBand) fold->op = kMax;
  if (fold->op == kNoOp) fold->kind = &kinds[kPair];
  fold->numbers = numbers_for(program, fold->kind);
  if (fold->op == kNoOp) fold->numbers.range = kModulus;
  if (fold->op == kSum) fold->numbers.range = 16;
  if (fold->op == kProd) fold->numbers.least = 1, fold->numbers.range = 2;
}

void reduce_data(Program* program, const Group* group) {
  Fold fold = {.reduction = (enum Reduction)draw(program, kReductions), .group = group};
  draw_operand(program, &fold);
  fold.count = draw_count(program);
  fold.root = draw(program, group->size);
  fold.later = draw(program, 3) == 0;
  fold.in_place = draw(program, 4) == 0 && (fold.reduction == kAllreduce || fold.reduction == kScan);
  Call* const call = new_call(program, reductions[fold.reduction]);
  fill_fold(&fold, call);
  start_fold(&fold, call);
  finish_or_leave(program, call);
}

void synchronize(Program* program, const Group* group) {
  const int later = draw(program, 3) == 0;
  Call* const call = new_call(program, "barrier");
  make_area(&call->sent, &kinds[kChar], 0);
  make_area(&call->received, &kinds[kChar], 0);
  CALL(Barrier, barrier, group->comm);
  finish_or_leave(program, call);
}

/* Each receives from the ranks that its topology has before it, in MPI's order. */
void gather_from_neighbors(Program* program, const Group* group) {
  const Kind* const kind = &kinds[draw(program, kKinds)];
  const Numbers numbers = numbers_for(program, kind);
  const int count = draw_count(program), later = draw(program, 3) == 0, size = group->size;
  if (group->neighbors == 0) return;
  const int from[2] = {(group->me + size - 1) % size, (group->me + 1) % size};
  Call* const call = new_call(program, "neighbor_allgather");
  make_area(&call->sent, kind, count);
  make_area(&call->received, kind, count * group->neighbors);
  const int mine[3] = {group->members[group->me], 0, count};
  put_elements(call->sent.now, kind, 0, &numbers, mine);
  memcpy(call->sent.then, call->sent.now, call->sent.bytes);
  for (int i = 0; i < group->neighbors; ++i) {
    const int range[3] = {group->members[from[i]], 0, count};
    put_elements(call->received.then, kind, i * count, &numbers, range);
  }
  CALL(Neighbor_allgather, neighbor_allgather, call->sent.now, count, kind->type, call->received.now, count, kind->type,
       group->comm);
  finish_or_leave(program, call);
}
