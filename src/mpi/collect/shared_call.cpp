#include "mpi/collect/shared_call.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>
#include <variant>

#include "core/predict/choice.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "mpi/collect/across.h"
#include "mpi/collect/context.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::collect {

using core::schedule::Algorithm;
using core::schedule::Collective;

SharedCall::SharedCall(std::shared_ptr<Context> context, const Operation& operation,
                       const core::predict::Choice& choice)
    : context_(std::move(context)),
      team_(*context_->node_team()),
      tags_(next_tags()),
      choice_(choice),
      buffers_(operation, context_->rank(), context_->size()),
      reducer_{operation.receive.type, operation.op, 0, {}} {
  switch (operation.collective) {
    case Collective::kBarrier:
      prepare_barrier();
      break;
    case Collective::kBroadcast:
      prepare_broadcast();
      break;
    case Collective::kGather:
      prepare_gather();
      break;
    case Collective::kScatter:
      prepare_scatter();
      break;
    case Collective::kAllgather:
      operation.vector ? prepare_allgather_of_different() : prepare_allgather();
      break;
    case Collective::kReduce:
      prepare_reduce();
      break;
    case Collective::kAllreduce:
      prepare_allreduce();
      break;
    default:
      prepare_reduce_scatter();
  }
  up_done_ = upward_ == nullptr;
  across_done_ = across_ == nullptr;
  team_.enter(*this);
}

// First of all, on all ranks, whatever fails on one.
std::array<int, kSegmentsAtOnce> SharedCall::next_tags() {
  std::array<int, kSegmentsAtOnce> tags{};
  if (!one_node()) {
    for (int& tag : tags) tag = context_->next_tag();
  }
  return tags;
}

SharedCall::~SharedCall() {
  team_.leave(*this);
  if (!across_ || !across_->has_messages()) return;
  for (Memory& memory : temporaries_) context_->keep(std::move(memory));
  for (Memory& memory : buffers_.release()) context_->keep(std::move(memory));
}

std::byte* SharedCall::temporary(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::size_t ahead = bytes_ahead(buffers_.layout().true_lower);
  temporaries_.push_back(allocate(ahead + bytes));
  return temporaries_.back().get() + ahead;
}

Across::Task SharedCall::task(std::int64_t count) const {
  Across::Task task;
  task.request.collective = buffers_.request().collective;
  task.request.ranks = context_->node_count();
  task.request.root = context_->node_of()[static_cast<std::size_t>(buffers_.request().root)];
  task.request.count = count;
  const auto& algorithms = choice_.plan.algorithms;
  task.algorithm =
      core::schedule::fitting(task.request.collective, algorithms.empty() ? Algorithm::kBinomial : algorithms.front());
  task.leading = buffers_.request().root;
  return task;
}

Across::Task SharedCall::task_of_blocks(std::int64_t block) const {
  Across::Task made = task(0);
  for (int one = 0; one < context_->node_count(); ++one) {
    made.request.counts.push_back(static_cast<std::int64_t>(team_.members(one).size()) * block);
  }
  return made;
}

void SharedCall::go_across(Across::Task task) {
  element_ = static_cast<std::size_t>(task.elements.layout.extent);
  const std::int64_t segment = choice_.plan.segment;
  if (segment > 0) task.segment = std::max<std::int64_t>(segment / task.elements.layout.extent, 1);
  across_ = std::make_unique<Across>(*context_, std::move(task), tags_);
}

bool SharedCall::advance() {
  if (!up_done_) up_done_ = upward_->progress();
  if (!across_done_) across_done_ = advance_across();
  if (!up_done_ || !advance_down() || !across_done_) return false;
  conclude();
  return true;
}

bool SharedCall::advance_across() {
  if (up_done_) {
    across_->allow_all();
  } else if (const auto* reduce = std::get_if<core::shared::Reduce>(&up_)) {
    across_->allow(static_cast<std::int64_t>(reduce->completed()));
  }
  try {
    return across_->progress();
  } catch (...) {
    failure_ = std::current_exception();
    return true;  // the node waits for what comes down, whatever it is
  }
}

bool SharedCall::advance_down() {
  if (downward_ == nullptr) return true;
  if (across_ && overlaps_) {
    const auto bytes = static_cast<std::size_t>(across_->completed()) * element_;
    std::get<core::shared::Broadcast>(down_).make_available(across_done_ ? SIZE_MAX : bytes);
  }
  if (!across_done_ && !overlaps_) return false;
  return downward_->progress();
}

// Bytes, at the beginning of what the last part gives: fewer than are expected where ranks have called with different
// sizes. Of blocks from several ranks nothing is said.
std::int64_t SharedCall::arrived() const {
  const auto bytes = std::visit(
      [this](const auto& part) -> std::size_t {
        if constexpr (requires { part.sent(); }) {
          return part.sent();
        } else if constexpr (requires { part.completed(); }) {
          return part.completed() * element_;
        } else {
          return SIZE_MAX;
        }
      },
      down_);
  return static_cast<std::int64_t>(std::min<std::size_t>(bytes, INT64_MAX));
}

bool SharedCall::truncated() const {
  return (upward_ != nullptr && upward_->truncated()) || (downward_ != nullptr && downward_->truncated());
}

// Where less has come the rest of the program's buffer stays as it is.
void SharedCall::put_results() {
  for (const Move& move : moves_) std::memcpy(move.into, move.from, move.bytes);
  if (result_ != nullptr) put_result(std::min(results_, arrived() / static_cast<std::int64_t>(element_)));
  const Collective collective = buffers_.request().collective;
  if (collective == Collective::kBroadcast || collective == Collective::kScatter) {
    const std::int64_t fewer = buffers_.request().count - arrived();
    if (fewer > 0) buffers_.shorten(fewer);
  }
  buffers_.unpack();
}

void SharedCall::conclude() {
  put_results();
  if (failure_) std::rethrow_exception(failure_);
  check_sizes(truncated());
  reducer_.errors.check();
  if (across_) across_->errors().check();
}

}  // namespace ranktree::mpi::collect
