#include "mpi/collect/execute/execution.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/schedule/channels.h"
#include "core/schedule/schedule.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execute/posted.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/execute/workspace.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/process.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Action;
using core::schedule::Buffer;
using core::schedule::Range;
using core::schedule::Step;

// MPI counts elements in ints, and moves 2 GiB at a time less well than half of that: both ends cut messages alike.
constexpr std::int64_t kMostAtOnce = 1073741824;

void push(std::vector<std::int32_t>& heap, std::int32_t step) {
  heap.push_back(step);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

std::int32_t pop(std::vector<std::int32_t>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const std::int32_t first = heap.back();
  heap.pop_back();
  return first;
}

}  // namespace

Execution::Execution(Context& context, std::shared_ptr<const Prepared> prepared, const Elements& elements,
                     const std::array<std::byte*, 2>& bases, int tag)
    : context_(context),
      prepared_(std::move(prepared)),
      elements_(elements),
      bases_{bases[0], bases[1], nullptr},
      tag_(tag),
      work_(context.workspaces().take()),
      left_(prepared_->waits().size()) {
  work_->waits = prepared_->waits();
  work_->requests.clear();
  work_->owners.clear();
  work_->messages.clear();
  work_->local.clear();
  take_scratch();
  for (std::size_t index = 0; index < left_; ++index) {
    if (work_->waits[index] == 0) ready(static_cast<std::int32_t>(index));
  }
}

Execution::~Execution() {
  if (has_messages()) {
    abandon();
  } else {
    context_.workspaces().give(std::move(work_));
  }
}

void Execution::take_scratch() {
  const std::int64_t elements = prepared_->program().scratch;
  if (elements == 0) return;
  const TypeLayout& layout = elements_.layout;
  const std::size_t ahead = bytes_ahead(layout.true_lower);
  const std::size_t bytes = ahead + static_cast<std::size_t>((elements - 1) * layout.extent + layout.true_extent);
  bases_[static_cast<std::size_t>(Buffer::kScratch)] = work_->scratch_of(bytes) + ahead - layout.true_lower;
}

bool Execution::progress() {
  advance();
  while (left_ != 0 && test()) advance();
  return left_ == 0;
}

void Execution::ready(std::int32_t index) {
  push(core::schedule::is_message(prepared_->step(index)) ? work_->messages : work_->local, index);
}

// Messages first: they travel while this rank combines.
void Execution::advance() {
  for (;;) {
    if (!work_->messages.empty()) {
      post(pop(work_->messages));
    } else if (!work_->local.empty()) {
      const std::int32_t index = pop(work_->local);
      do_locally(prepared_->step(index));
      complete(index);
    } else {
      return;
    }
  }
}

void Execution::post(std::int32_t index) {
  const Step& step = prepared_->step(index);
  const bool sends = step.action == Action::kSend;
  const Range& range = sends ? step.from : step.into;
  std::int64_t done = 0;
  do {  // messages of barriers are empty
    const auto count = static_cast<int>(std::min(range.count - done, kMostAtOnce));
    MPI_Request* const request = post_for(*work_, index);
    check_own(sends ? PMPI_Isend(at(range, done), count, elements_.type, step.peer, tag_, context_.comm(), request)
                    : PMPI_Irecv(at(range, done), count, elements_.type, step.peer, tag_, context_.comm(), request),
              sends ? "MPI_Isend" : "MPI_Irecv");
    ++work_->waits[static_cast<std::size_t>(index)];
    done += count;
  } while (done < range.count);
  const std::int32_t next = prepared_->next_in_channel(index);
  if (next >= 0 && --work_->waits[static_cast<std::size_t>(next)] == 0) ready(next);
}

void Execution::do_locally(const Step& step) {
  if (step.action == Action::kCopy) {
    copy(at(step.from, 0), at(step.into, 0), step.from.count, elements_.type, elements_.layout);
    return;
  }
  for (std::int64_t done = 0; done < step.from.count; done += kMostAtOnce) {
    const auto count = static_cast<int>(std::min(step.from.count - done, kMostAtOnce));
    errors_.note(PMPI_Reduce_local(at(step.from, done), at(step.into, done), count, elements_.type, elements_.op),
                 "MPI_Reduce_local");
  }
}

void Execution::complete(std::int32_t index) {
  --left_;
  for (const std::int32_t follower : prepared_->followers(index)) {
    if (--work_->waits[static_cast<std::size_t>(follower)] == 0) ready(follower);
  }
}

// True when a message has completed.
bool Execution::test() {
  return test_posted(*work_, context_.process().in_flight.may_wait(), errors_, [&](std::int32_t step) {
    if (--work_->waits[static_cast<std::size_t>(step)] == 0) complete(step);
  });
}

// After an error: messages that others may yet send must find their memory.
void Execution::abandon() noexcept {
  abandon_posted(*work_, [&](std::int32_t step) { return prepared_->step(step).action == Action::kReceive; });
  context_.keep(std::move(work_->scratch));
}

}  // namespace ranktree::mpi::collect
