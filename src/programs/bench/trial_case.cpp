#include "programs/bench/trial_case.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/schedule/makers.h"
#include "mpi/check.h"

namespace ranktree::mpi::bench {
namespace {

using core::schedule::Collective;

constexpr std::int64_t kDouble = sizeof(double);
constexpr double kSpoilt = -1;

// Element i of a rank's input.
double value_of(int rank, std::int64_t i) { return static_cast<double>((3 * std::int64_t{rank} + i) % 17); }

double sum_of(int ranks, std::int64_t i) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value_of(rank, i);
  return sum;
}

bool has_blocks(Collective collective) {
  return collective == Collective::kGather || collective == Collective::kScatter ||
         collective == Collective::kAllgather || collective == Collective::kReduceScatter ||
         collective == Collective::kAlltoall;
}

}  // namespace

TrialCase::TrialCase(Collective collective, std::int64_t bytes, int root, MPI_Comm comm) {
  check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
  operation_.collective = collective;
  operation_.comm = comm;
  operation_.root = root;
  if (collective == Collective::kBarrier) return;
  count_ = std::max<std::int64_t>(1, bytes / kDouble / (has_blocks(collective) ? ranks_ : 1));
  input_.resize(static_cast<std::size_t>(input_count()));
  output_.resize(static_cast<std::size_t>(output_count()));
  if (reduces()) operation_.op = MPI_SUM;
  if (collective != Collective::kBroadcast) {
    operation_.send = {.buffer = input_.data(), .count = count_, .type = MPI_DOUBLE};
  }
  operation_.receive = {.buffer = output_.data(), .count = count_, .type = MPI_DOUBLE};
}

std::int64_t TrialCase::bytes() const { return kDouble * count_ * (has_blocks(operation_.collective) ? ranks_ : 1); }

bool TrialCase::reduces() const { return core::schedule::reduces(operation_.collective); }

bool TrialCase::has_input() const {
  return operation_.collective != Collective::kBroadcast &&
         (operation_.collective != Collective::kScatter || at_root());
}

std::int64_t TrialCase::input_count() const {
  if (!has_input()) return 0;
  const bool blocks = operation_.collective == Collective::kScatter ||
                      operation_.collective == Collective::kReduceScatter ||
                      operation_.collective == Collective::kAlltoall;
  return blocks ? count_ * ranks_ : count_;
}

std::int64_t TrialCase::output_count() const {
  switch (operation_.collective) {
    case Collective::kReduce:
      return at_root() ? count_ : 0;
    case Collective::kGather:
      return at_root() ? count_ * ranks_ : 0;
    case Collective::kAllgather:
    case Collective::kAlltoall:
      return count_ * ranks_;
    default:
      return count_;
  }
}

void TrialCase::fill() {
  for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = value_of(rank_, static_cast<std::int64_t>(i));
  std::fill(output_.begin(), output_.end(), kSpoilt);
  if (operation_.collective != Collective::kBroadcast || !at_root()) return;
  for (std::size_t i = 0; i < output_.size(); ++i) output_[i] = value_of(rank_, static_cast<std::int64_t>(i));
}

void TrialCase::renew() {
  const bool gives_output = operation_.collective == Collective::kBroadcast && at_root();
  std::vector<double>& given = gives_output ? output_ : input_;
  std::transform(given.begin(), given.end(), given.begin(), std::negate<>());
}

double TrialCase::expected(std::int64_t i) const {
  switch (operation_.collective) {
    case Collective::kBroadcast:
      return value_of(operation_.root, i);
    case Collective::kReduce:
    case Collective::kAllreduce:
      return sum_of(ranks_, i);
    case Collective::kReduceScatter:
      return sum_of(ranks_, rank_ * count_ + i);
    case Collective::kGather:
    case Collective::kAllgather:
      return value_of(static_cast<int>(i / count_), i % count_);
    case Collective::kScatter:
      return value_of(operation_.root, rank_ * count_ + i);
    case Collective::kAlltoall:
      return value_of(static_cast<int>(i / count_), rank_ * count_ + i % count_);
    case Collective::kBarrier:
      break;
  }
  return 0;
}

bool TrialCase::right() const {
  for (std::size_t i = 0; i < output_.size(); ++i) {
    if (output_[i] != expected(static_cast<std::int64_t>(i))) return false;
  }
  return true;
}

}  // namespace ranktree::mpi::bench
