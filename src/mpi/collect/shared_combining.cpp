// Operations that combine data.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "mpi/collect/across.h"
#include "mpi/collect/buffers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/packing.h"
#include "mpi/collect/shared_call.h"
#include "mpi/collect/types.h"

namespace ranktree::mpi::collect {

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
