/* Messages around a ring of ranks, and windows. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* MPICH 4.0.2 puts past the memory of MPI_Win_allocate by some bytes where its size is no multiple of 16. */
enum { kWindow = kRanks + 2 };

/* Open MPI 4.1.4: MPI_ERR_WIN for windows of one rank, and for those of the parts of a split at the same time. */
#ifdef OPEN_MPI
enum { kPartsHaveWindows = 0 };
#else
enum { kPartsHaveWindows = 1 };
#endif

/* A message to the rank so many places on, and one from as far before. */
typedef struct {
  MPI_Comm comm;
  MPI_Datatype type;
  int count, tag, to, from;
} Ring;

static void expect_status(Program* program, const Ring* ring, const MPI_Status* status) {
  int count;
  MPI_Get_count(status, ring->type, &count);
  count_result(program, "status: source", status->MPI_SOURCE == ring->from, status->MPI_SOURCE);
  count_result(program, "status: count", count == ring->count, count);
}

static void send_persistently(const Ring* ring, Call* call) {
  MPI_Request both[2];
  MPI_Status statuses[2];
  MPI_Recv_init(call->received.now, ring->count, ring->type, ring->from, ring->tag, ring->comm, &both[0]);
  MPI_Send_init(call->sent.now, ring->count, ring->type, ring->to, ring->tag, ring->comm, &both[1]);
  for (int repetition = 0; repetition < 3; ++repetition) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, statuses);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

static void send_and_receive(Program* program, const Ring* ring, Call* call, int how) {
  void *const out = call->sent.now, *const in = call->received.now;
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  switch (how) {
    case 0:
      MPI_Sendrecv(out, ring->count, ring->type, ring->to, ring->tag, in, ring->count, ring->type, ring->from,
                   ring->tag, ring->comm, &status);
      expect_status(program, ring, &status);
      break;
    case 1: /* from any rank: the tag is this step's alone */
      MPI_Irecv(in, ring->count, ring->type, MPI_ANY_SOURCE, ring->tag, ring->comm, &request);
      MPI_Ssend(out, ring->count, ring->type, ring->to, ring->tag, ring->comm);
      MPI_Wait(&request, &status);
      expect_status(program, ring, &status);
      break;
    case 2:
      MPI_Isend(out, ring->count, ring->type, ring->to, ring->tag, ring->comm, &request);
      MPI_Mprobe(ring->from, ring->tag, ring->comm, &message, &status);
      expect_status(program, ring, &status);
      MPI_Mrecv(in, ring->count, ring->type, &message, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 3:
      send_persistently(ring, call);
      break;
    default: /* left pending */
      MPI_Irecv(in, ring->count, ring->type, ring->from, ring->tag, ring->comm, &call->requests[0]);
      MPI_Isend(out, ring->count, ring->type, ring->to, ring->tag, ring->comm, &call->requests[1]);
  }
}

void send_around(Program* program, const Group* group) {
  const Kind* const kind = &kinds[draw(program, kKinds)];
  const Numbers numbers = numbers_for(program, kind);
  const int count = draw_count(program), distance = draw(program, group->size), how = draw(program, 6);
  const int to = (group->me + distance) % group->size, from = (group->me + group->size - distance) % group->size;
  const Ring ring = {group->comm, kind->type, count, (int)(program->step % 30000), to, from};
  const int out[3] = {group->members[group->me], 0, count}, in[3] = {group->members[from], 0, count};
  Call* const call = new_call(program, "message");
  make_area(&call->sent, kind, count);
  make_area(&call->received, kind, count);
  put_elements(call->sent.now, kind, 0, &numbers, out);
  memcpy(call->sent.then, call->sent.now, call->sent.bytes);
  put_elements(call->received.then, kind, 0, &numbers, in);
  send_and_receive(program, &ring, call, how);
  finish_or_leave(program, call);
}

/* A window of one long for each rank's put, and one for the sum of all. */
typedef struct {
  MPI_Win win;
  long* memory;
  int to, root;
  long mine, one, before; /* what this rank puts and adds, and the sum that it found */
} Window;

static void put_and_add(Window* window, const Group* group, int fetches) {
  MPI_Put(&window->mine, 1, MPI_LONG, window->to, group->me, 1, MPI_LONG, window->win);
  if (fetches) {
    MPI_Fetch_and_op(&window->one, &window->before, MPI_LONG, window->root, group->size, MPI_SUM, window->win);
  } else {
    MPI_Accumulate(&window->one, 1, MPI_LONG, window->root, group->size, 1, MPI_LONG, MPI_SUM, window->win);
  }
}

static void access_in_epoch(Window* window, const Group* group, int epoch) {
  MPI_Group all;
  switch (epoch) {
    case 0:
      MPI_Win_fence(0, window->win);
      put_and_add(window, group, 0);
      MPI_Win_fence(0, window->win);
      break;
    case 1:
      MPI_Comm_group(group->comm, &all);
      MPI_Win_post(all, 0, window->win);
      MPI_Win_start(all, 0, window->win);
      put_and_add(window, group, 0);
      MPI_Win_complete(window->win);
      MPI_Win_wait(window->win);
      MPI_Group_free(&all);
      break;
    case 2:
      MPI_Win_lock_all(0, window->win);
      put_and_add(window, group, 1);
      MPI_Win_flush_all(window->win);
      MPI_Win_unlock_all(window->win);
      break;
    default:
      for (int rank = 0; rank < group->size; ++rank) MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window->win);
      put_and_add(window, group, 1);
      for (int rank = 0; rank < group->size; ++rank) MPI_Win_unlock(rank, window->win);
  }
  MPI_Barrier(group->comm);
}

/* Reads its own memory, and by MPI_Get that of the rank it has put into. */
static void check_window(Program* program, Window* window, const Group* group, const Numbers* numbers, int fetches) {
  const int size = group->size, from = (2 * group->me + size - window->to) % size;
  long got = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, group->me, 0, window->win);
  for (int i = 0; i < size; ++i) {
    const long expected = i == from ? item_of(numbers, group->members[i], 0, 0) : -1;
    count_result(program, "window", window->memory[i] == expected, window->memory[i]);
  }
  const long sum = group->me == window->root ? size : 0;
  count_result(program, "sum in a window", window->memory[size] == sum, window->memory[size]);
  MPI_Win_unlock(group->me, window->win);
  MPI_Win_lock(MPI_LOCK_SHARED, window->to, 0, window->win);
  MPI_Get(&got, 1, MPI_LONG, window->to, group->me, 1, MPI_LONG, window->win);
  MPI_Win_unlock(window->to, window->win);
  count_result(program, "get", got == window->mine, got);
  const int fetched = window->before >= 0 && window->before < size;
  count_result(program, "fetch_and_op", !fetches || fetched, window->before);
}

void access_windows(Program* program, const Group* group) {
  const int size = group->size, distance = draw(program, size), root = draw(program, size), epoch = draw(program, 4),
            allocates = draw(program, 2);
  if (!program->with_windows || size < (kPartsHaveWindows ? 2 : program->groups[0].size)) return;
  const Numbers numbers = numbers_for(program, &kinds[kLong]);
  Window window = {.to = (group->me + distance) % size, .root = root, .one = 1, .before = -1};
  window.mine = item_of(&numbers, group->members[group->me], 0, 0);
  long own[kWindow];
  if (allocates) {
    MPI_Win_allocate(sizeof own, sizeof(long), MPI_INFO_NULL, group->comm, &window.memory, &window.win);
  } else {
    window.memory = own;
    MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, group->comm, &window.win);
  }
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, group->me, 0, window.win);
  for (int i = 0; i < size; ++i) window.memory[i] = -1;
  window.memory[size] = 0;
  MPI_Win_unlock(group->me, window.win);
  MPI_Barrier(group->comm);
  access_in_epoch(&window, group, epoch);
  check_window(program, &window, group, &numbers, epoch > 1);
  MPI_Win_free(&window.win);
}
