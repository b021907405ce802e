// Rank 0 hears of all ranks, computes, and answers each.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/split/chains.h"

namespace ranktree::mpi {

// The message of a rank to the root. No byte without a value leaves the process.
struct RankReport {
  std::int64_t word = 0;   // LocalSteps::word()
  std::int64_t edges = 0;  // of its vertex
  ChainRow chain{};
};

// The message of the root to a rank.
struct RankAnswer {
  double before = 0;
  double after = 0;
  std::int32_t vertex = 0;  // it shall own
  std::int32_t word = 0;    // the largest of all ranks
  std::int64_t kind = 0;    // of the answer, as the caller has it
};

// The root's memory for both, by rank; nothing elsewhere.
struct RootBuffers {
  std::vector<RankReport> reports;
  std::vector<RankAnswer> answers;

  // Throws std::bad_alloc.
  explicit RootBuffers(int ranks = 0) : reports(static_cast<std::size_t>(ranks)), answers(reports.size()) {}
};

inline constexpr int kRoot = 0;

// Collective: fills buffers.reports. Returns the largest word at the root, 0 elsewhere.
int gather_reports(MPI_Comm comm, const LocalSteps& steps, const core::split::Chain& chain, std::size_t edges,
                   RootBuffers& buffers);

// At the root, O(ranks x depth): by rank.
std::vector<core::split::Chain> chains_of(const RootBuffers& buffers);

// Collective: the answer for this rank, or AgreedError on all ranks where one had failed, the root's last step
// included: `merged` is the root's. Others than the root wait asleep.
RankAnswer receive_answer(MPI_Comm comm, const LocalSteps& steps, int merged, RootBuffers& buffers);

}  // namespace ranktree::mpi
