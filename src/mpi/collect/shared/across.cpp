#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/execute/execution.h"
#include "mpi/collect/execute/messages.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/shared/shared_call.h"

namespace ranktree::mpi::collect {

using core::schedule::Collective;

Across::Across(Context& context, Task task, const std::array<int, kSegmentsAtOnce>& tags)
    : context_(context), task_(std::move(task)), tags_(tags) {
  if (!has_segments()) return;
  const std::int64_t count = task_.request.count;
  task_.segment = core::schedule::segment_of(count, task_.segment);
  segments_ = (count + task_.segment - 1) / task_.segment;
}

bool Across::has_segments() const { return takes_segments(task_.request.collective); }

std::int64_t Across::end_of(std::int64_t segment) const {
  if (!has_segments()) return std::numeric_limits<std::int64_t>::max();
  return std::min((segment + 1) * task_.segment, task_.request.count);
}

// The root of a broadcast has everything from the beginning.
std::int64_t Across::completed() const {
  const bool has_all = task_.request.collective == Collective::kBroadcast && task_.leading == context_.rank();
  return has_all ? task_.request.count : std::min(done_ * task_.segment, task_.request.count);
}

bool Across::progress() {
  while (done_ < segments_) {
    while (begun_ < segments_ && running_.size() < kSegmentsAtOnce && end_of(begun_) <= allowed_) begin(begun_++);
    for (Execution& execution : running_) execution.progress();
    if (running_.empty() || !running_.front().progress()) return false;
    errors_.note(running_.front().errors());
    running_.pop_front();
    ++done_;
  }
  return true;
}

void Across::begin(std::int64_t segment) {
  const std::int64_t first = has_segments() ? segment * task_.segment : 0;
  const std::int64_t count = has_segments() ? end_of(segment) - first : task_.request.count;
  std::shared_ptr<const Prepared> prepared = whole_segment_;
  if (!prepared || count != task_.segment) prepared = program_of(count);
  if (count == task_.segment) whole_segment_ = prepared;
  const std::int64_t bytes = first * task_.elements.layout.extent - task_.elements.layout.true_lower;
  // Programs do not write their input.
  auto* const input = task_.input == nullptr ? nullptr : const_cast<std::byte*>(task_.input) + bytes;
  auto* const output = task_.output == nullptr ? nullptr : task_.output + bytes;
  running_.emplace_back(context_, std::move(prepared), task_.elements, std::array{input, output},
                        tags_[static_cast<std::size_t>(segment) % kSegmentsAtOnce]);
}

bool Across::has_messages() const {
  return std::any_of(running_.begin(), running_.end(), [](const Execution& each) { return each.has_messages(); });
}

std::shared_ptr<const Prepared> Across::program_of(std::int64_t count) const {
  core::schedule::Request request = task_.request;
  request.count = count;
  return prepared_program(context_, {.request = request,
                                     .algorithms = std::span(&task_.algorithm, 1),
                                     .element = task_.elements.layout.size,
                                     .leading = task_.leading});
}

}  // namespace ranktree::mpi::collect
