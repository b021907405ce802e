#include "preload/world/vote.h"

#include <mpi.h>

#include <array>
#include <string>

#include "preload/settings.h"

namespace ranktree::preload {
namespace {

Reason reason_from(int rank, const Ballot& own) noexcept {
  Reason reason;
  const Reason failed = reason_of([&] {
    const std::string why = own.wanted ? own.obstacle.c_str() : std::string(own.variable) + " is not set";
    reason = Reason("rank " + std::to_string(rank) + ": " + why);
  });
  return failed.empty() ? reason : failed;
}

}  // namespace

bool all_agree(MPI_Comm comm, const char* what, const Ballot& own) noexcept {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  const bool objects = !own.wanted || !own.obstacle.empty();
  // Of each kind the lowest rank, the number of ranks where there is none.
  const std::array<int, 3> mine{objects ? rank : size, own.wanted ? rank : size, is_verbose() ? rank : size};
  std::array<int, 3> lowest{};
  if (PMPI_Allreduce(mine.data(), lowest.data(), 3, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return false;
  const auto [culprit, wanting, speaker] = lowest;
  if (culprit == size) return true;
  if (wanting == size || speaker == size) return false;
  Reason reason = rank == culprit ? reason_from(rank, own) : Reason();
  if (PMPI_Bcast(&reason, static_cast<int>(sizeof reason), MPI_BYTE, culprit, comm) != MPI_SUCCESS) return false;
  if (rank == speaker) print_verbose(what, reason.c_str());
  return false;
}

}  // namespace ranktree::preload
