// One-sided calls: the origin knows both ends. A Get moves data from the target to the caller.
#include <mpi.h>

#include "core/pattern/pattern.h"
#include "preload/communicator.h"
#include "preload/hooks.h"
#include "preload/receipt.h"

namespace ranktree::preload {
namespace {

void move(const Scene& scene, const Buffer& buffer, int target, MPI_Win win, bool pulled) {
  if (target == MPI_PROC_NULL) return;
  const WorldRanks* ranks = find_window(win);
  if (ranks == nullptr || target < 0 || target >= ranks->size()) return;
  scene.receipt.add((*ranks)[target], core::pattern::Class::kRma, buffer.bytes(scene.thread), pulled);
}

}  // namespace

void put(const Scene& scene, Buffer origin, int target, MPI_Win win) { move(scene, origin, target, win, false); }

void get(const Scene& scene, Buffer result, int target, MPI_Win win) { move(scene, result, target, win, true); }

// With MPI_NO_OP the origin buffer is not read: nothing travels to the target.
void get_and_put(const Scene& scene, MPI_Op op, Buffer origin, Buffer result, const Target& target) {
  if (op != MPI_NO_OP) move(scene, origin, target.rank, target.win, false);
  move(scene, result, target.rank, target.win, true);
}

}  // namespace ranktree::preload
