#include "mpi/collect/across.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {

using core::schedule::Collective;

Across::Across(Task task, MPI_Comm comm, const std::array<int, kSegmentsAtOnce>& tags)
    : task_(std::move(task)), comm_(comm), tags_(tags) {
  if (!has_segments()) return;
  const std::int64_t count = task_.request.count;
  if (task_.segment <= 0) task_.segment = std::max<std::int64_t>(count, 1);
  segments_ = (count + task_.segment - 1) / task_.segment;
}

bool Across::has_segments() const {
  const Collective collective = task_.request.collective;
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kAllreduce;
}

std::int64_t Across::end_of(std::int64_t segment) const {
  if (!has_segments()) return std::numeric_limits<std::int64_t>::max();
  return std::min((segment + 1) * task_.segment, task_.request.count);
}

// The root of a broadcast has everything from the beginning.
std::int64_t Across::completed() const {
  const bool has_all = task_.request.collective == Collective::kBroadcast && task_.request.root == task_.node;
  return has_all ? task_.request.count : std::min(done_ * task_.segment, task_.request.count);
}

bool Across::progress() {
  while (done_ < segments_) {
    while (begun_ < segments_ && running_.size() < kSegmentsAtOnce && end_of(begun_) <= allowed_) begin(begun_++);
    for (LeaderProgram& program : running_) program.progress();
    if (running_.empty() || !running_.front().progress()) return false;
    running_.pop_front();
    ++done_;
  }
  return true;
}

void Across::begin(std::int64_t segment) {
  const std::int64_t first = has_segments() ? segment * task_.segment : 0;
  const std::int64_t count = has_segments() ? end_of(segment) - first : task_.request.count;
  std::shared_ptr<const Prepared> prepared = whole_segment_;
  if (!prepared || count != task_.segment) prepared = prepare(count);
  if (count == task_.segment) whole_segment_ = prepared;
  const std::int64_t bytes = first * task_.elements.extent;
  // Programs do not write their input.
  auto* const input = task_.input == nullptr ? nullptr : const_cast<std::byte*>(task_.input) + bytes;
  auto* const output = task_.output == nullptr ? nullptr : task_.output + bytes;
  running_.emplace_back(std::move(prepared), task_.elements, std::array{input, output}, comm_,
                        tags_[static_cast<std::size_t>(segment) % kSegmentsAtOnce]);
}

std::shared_ptr<const Prepared> Across::prepare(std::int64_t count) const {
  core::schedule::Request request = task_.request;
  request.count = count;
  core::schedule::Program program = core::schedule::make(request, {task_.algorithm, 0}, task_.node);
  for (core::schedule::Step& step : program.steps) {
    if (step.peer >= 0) step.peer = task_.leaders[static_cast<std::size_t>(step.peer)];
  }
  return std::make_shared<const Prepared>(std::move(program));
}

}  // namespace ranktree::mpi::collect
