// shared_trap: rank 1 has begun to send a large message, and waits in shared memory for rank 0, which receives the
// message first. Without progress of the MPI in that wait both ranks would wait for ever.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/shared/node_team.h"
#include "mpi/collect/shared/shared_variant.h"
#include "mpi/collect/variant.h"

namespace {

using ranktree::core::predict::choice_from_text;
using ranktree::core::schedule::Collective;
using ranktree::mpi::collect::Context;
using ranktree::mpi::collect::Operation;

bool run(int rank) {
  const std::shared_ptr<Context> context = Context::of(MPI_COMM_WORLD);
  if (context->node_team() == nullptr) return false;
  std::vector<char> large(std::size_t{8} << 20U, 'x');
  int word = rank == 0 ? 4711 : 0;
  Operation broadcast;
  broadcast.collective = Collective::kBroadcast;
  broadcast.receive = {&word, 1, MPI_INT, {}, {}};
  broadcast.comm = MPI_COMM_WORLD;
  const int bytes = static_cast<int>(large.size());
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Isend(large.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    MPI_Recv(large.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  finish_shared(context, broadcast, choice_from_text("shared:binomial", Collective::kBroadcast));
  if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return word == 4711;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool right = run(rank);
  if (rank == 0) std::puts(right ? "no trap" : "wrong");
  MPI_Finalize();
  return right ? 0 : 1;
}
