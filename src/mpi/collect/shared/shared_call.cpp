#include "mpi/collect/shared/shared_call.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "core/predict/choice.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execute/buffers.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/shared/node_team.h"

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
  const auto& algorithms = choice_.composition.algorithms;
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
  const std::int64_t segment = choice_.composition.segment;
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
// sizes. Not for blocks from several ranks.
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

using core::shared::Allgather;
using core::shared::Barrier;
using core::shared::Blocks;
using core::shared::Broadcast;
using core::shared::Gather;
using core::shared::Scatter;

void SharedCall::prepare_barrier() {
  if (one_node()) {
    down<Barrier>();
    return;
  }
  up<Gather>(local_leader(), std::span<const std::byte>(), nullptr);
  if (leads()) go_across(task(0));
  down<Broadcast>(local_leader(), std::span<std::byte>());
}

void SharedCall::prepare_broadcast() {
  const std::int64_t bytes = buffers_.request().count;
  if (!one_node() && leads()) {
    Across::Task across = task(bytes);
    across.output = output();
    go_across(std::move(across));
    overlaps_ = true;
  }
  down<Broadcast>(local_leader(), std::span(output(), static_cast<std::size_t>(bytes)));
}

SharedCall::Places SharedCall::places_of(std::size_t block) {
  const bool gathers = buffers_.request().collective == core::schedule::Collective::kGather;
  Places places;
  places.own = gathers ? input() : output();
  if (is_root()) {
    places.all = by_node(gathers ? output() : input(), block, !gathers || in_place(), gathers);
    places.here = places.all + first_here() * block;
    if (in_place()) places.own = places.all + position(context_->rank()) * block;
  } else if (leads()) {
    places.here = temporary(local_ranks() * block);
  }
  return places;
}

void SharedCall::prepare_gather() {
  const auto block = static_cast<std::size_t>(buffers_.request().count);
  const Places places = places_of(block);
  const std::span<const std::byte> own(places.own, block);
  if (one_node()) {
    down<Gather>(buffers_.request().root, own, places.here);
    return;
  }
  up<Gather>(local_leader(), own, places.here);
  if (!leads()) return;
  Across::Task across = task_of_blocks(static_cast<std::int64_t>(block));
  across.request.in_place = is_root();
  across.input = places.here;
  across.output = places.all;
  go_across(std::move(across));
}

void SharedCall::prepare_scatter() {
  const auto block = static_cast<std::size_t>(buffers_.request().count);
  const Places places = places_of(block);
  if (!one_node() && leads()) {
    Across::Task across = task_of_blocks(static_cast<std::int64_t>(block));
    across.request.in_place = is_root();
    across.input = places.all;
    across.output = places.here;
    go_across(std::move(across));
  }
  down<Scatter>(local_leader(), places.here, std::span(places.own, block));
}

void SharedCall::prepare_allgather() {
  const auto block = static_cast<std::size_t>(buffers_.request().count);
  std::byte* const all = by_node(output(), block, in_place(), true);
  const std::byte* const own = in_place() ? all + position(context_->rank()) * block : input();
  const std::span<const std::byte> given(own, block);
  if (one_node()) {
    down<Allgather>(given, Blocks{all, block, {}});
    return;
  }
  up<Gather>(local_leader(), given, all + first_here() * block);
  if (leads()) {
    Across::Task across = task_of_blocks(static_cast<std::int64_t>(block));
    across.request.in_place = true;
    across.output = all;
    go_across(std::move(across));
  }
  down<Broadcast>(local_leader(), std::span(all, block * static_cast<std::size_t>(context_->size())));
}

// On one node only. All ranks know all sizes.
void SharedCall::prepare_allgather_of_different() {
  std::byte* first = output();
  std::size_t most = 0;
  for (const std::int64_t count : buffers_.request().counts) {
    const auto bytes = static_cast<std::size_t>(count);
    blocks_.push_back({first, bytes});
    most = std::max(most, bytes);
    first += bytes;
  }
  const Blocks::Block& mine = blocks_[static_cast<std::size_t>(context_->rank())];
  const std::byte* const own = in_place() ? mine.data : input();
  down<Allgather>(std::span(own, mine.bytes), Blocks{nullptr, most, blocks_});
}

std::byte* SharedCall::by_node(std::byte* blocks, std::size_t block, bool load, bool store) {
  if (team_.in_rank_order()) return blocks;
  std::byte* const ordered = temporary(block * static_cast<std::size_t>(context_->size()));
  for (int rank = 0; block > 0 && rank < context_->size(); ++rank) {
    std::byte* const place = blocks + static_cast<std::size_t>(rank) * block;
    std::byte* const moved = ordered + position(rank) * block;
    if (load) std::memcpy(moved, place, block);
    if (store) moves_.push_back({place, moved, block});
  }
  return ordered;
}

using core::shared::Allreduce;
using core::shared::Broadcast;
using core::shared::Operand;
using core::shared::Reduce;
using core::shared::ReduceScatter;
using core::shared::Scatter;

// Elements that have gaps are copied with them, to memory of our own: the program's gaps are left alone.
Operand SharedCall::operand_of(std::size_t elements, std::size_t results, bool wanted) {
  const TypeLayout& layout = buffers_.layout();
  const std::byte* const from = in_place() ? output() : input();
  element_ = static_cast<std::size_t>(layout.extent);
  if (layout.plain) return {from, wanted ? output() : nullptr, elements};
  reducer_.shift = layout.true_lower;
  std::byte* const copied = temporary(elements * element_);
  if (elements > 0) {
    std::memcpy(copied, from + layout.true_lower,
                (elements - 1) * element_ + static_cast<std::size_t>(layout.true_extent));
  }
  Operand operand{copied, nullptr, elements};
  if (wanted) {
    operand.output = temporary(results * element_);
    result_ = operand.output;
    results_ = static_cast<std::int64_t>(results);
  }
  return operand;
}

void SharedCall::put_result(std::int64_t elements) const {
  copy(result_ - reducer_.shift, output(), elements, reducer_.type, buffers_.layout());
}

Across::Task SharedCall::reducing(Across::Task task) const {
  task.request.commutative = buffers_.request().commutative;
  task.elements = {reducer_.type, buffers_.layout(), reducer_.op};
  return task;
}

void SharedCall::prepare_reduce() {
  const std::int64_t count = buffers_.request().count;
  const auto elements = static_cast<std::size_t>(count);
  Operand operand = operand_of(elements, elements, is_root());
  if (one_node()) {
    down<Reduce>(buffers_.request().root, operand, combine());
    return;
  }
  if (leads() && !is_root()) operand.output = temporary(elements * element_);
  up<Reduce>(local_leader(), operand, combine());
  if (!leads()) return;
  Across::Task across = reducing(task(count));
  across.request.in_place = is_root();
  across.input = operand.output;
  across.output = is_root() ? operand.output : nullptr;
  go_across(std::move(across));
}

void SharedCall::prepare_allreduce() {
  const std::int64_t count = buffers_.request().count;
  const auto elements = static_cast<std::size_t>(count);
  const Operand operand = operand_of(elements, elements, true);
  if (one_node()) {
    down<Allreduce>(operand, combine());
    return;
  }
  up<Reduce>(local_leader(), operand, combine());
  if (leads()) {
    Across::Task across = reducing(task(count));
    across.request.in_place = true;
    across.output = operand.output;
    go_across(std::move(across));
    overlaps_ = true;
  }
  down<Broadcast>(local_leader(), std::span(operand.output, elements * element_));
}

void SharedCall::prepare_reduce_scatter() {
  const auto& counts = buffers_.request().counts;
  starts_.push_back(0);
  for (int rank = 0; rank < context_->size(); ++rank) {
    const std::int64_t count = counts.empty() ? buffers_.request().count : counts[static_cast<std::size_t>(rank)];
    starts_.push_back(starts_.back() + static_cast<std::size_t>(count));
  }
  const auto me = static_cast<std::size_t>(context_->rank());
  const std::size_t block = starts_[me + 1] - starts_[me];
  const Operand operand = operand_of(starts_.back(), block, true);
  if (one_node()) {
    down<ReduceScatter>(operand, starts_, combine());
  } else {
    reduce_scatter_across(operand, block);
  }
}

// Of equal blocks: each leader gets the node's part of the whole vector, by node, and across nodes its ranks' blocks.
void SharedCall::reduce_scatter_across(const Operand& operand, std::size_t block) {
  const std::size_t bytes = block * element_;
  Operand ordered = operand;
  if (!team_.in_rank_order()) {
    std::byte* const blocks = temporary(operand.elements * element_);
    for (int rank = 0; bytes > 0 && rank < context_->size(); ++rank) {
      std::memcpy(blocks + position(rank) * bytes, operand.input + static_cast<std::size_t>(rank) * bytes, bytes);
    }
    ordered.input = blocks;
  }
  ordered.output = leads() ? temporary(operand.elements * element_) : nullptr;
  up<Reduce>(local_leader(), ordered, combine());
  std::byte* const here = leads() ? temporary(local_ranks() * bytes) : nullptr;
  if (leads()) {
    Across::Task across = reducing(task_of_blocks(static_cast<std::int64_t>(block)));
    across.input = ordered.output;
    across.output = here;
    go_across(std::move(across));
  }
  down<Scatter>(local_leader(), here, std::span(operand.output, bytes));
}

}  // namespace ranktree::mpi::collect
