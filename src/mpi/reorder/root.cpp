#include "mpi/reorder/root.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/split/chains.h"
#include "mpi/wait.h"

namespace ranktree::mpi {

int gather_reports(MPI_Comm comm, const LocalSteps& steps, const core::split::Chain& chain, std::size_t edges,
                   RootBuffers& buffers) {
  const RankReport own{steps.word(), static_cast<std::int64_t>(edges), packed(chain)};
  constexpr int kBytes = sizeof(RankReport);
  check(PMPI_Gather(&own, kBytes, MPI_BYTE, buffers.reports.data(), kBytes, MPI_BYTE, kRoot, comm), "MPI_Gather");
  std::int64_t largest = 0;
  for (const RankReport& report : buffers.reports) largest = std::max(largest, report.word);
  return static_cast<int>(largest);
}

std::vector<core::split::Chain> chains_of(const RootBuffers& buffers) {
  std::vector<core::split::Chain> chains;
  chains.reserve(buffers.reports.size());
  for (const RankReport& report : buffers.reports) chains.push_back(unpacked(report.chain));
  return chains;
}

RankAnswer receive_answer(MPI_Comm comm, const LocalSteps& steps, int merged, RootBuffers& buffers) {
  const int word = std::max(merged, steps.word());
  for (RankAnswer& answer : buffers.answers) answer.word = word;
  constexpr int kBytes = sizeof(RankAnswer);
  RankAnswer own;
  MPI_Request scatter = MPI_REQUEST_NULL;
  check(PMPI_Iscatter(buffers.answers.data(), kBytes, MPI_BYTE, &own, kBytes, MPI_BYTE, kRoot, comm, &scatter),
        "MPI_Iscatter");
  wait_asleep(scatter);  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): it tests until the scatter is complete
  steps.require(own.word);
  return own;
}

}  // namespace ranktree::mpi
