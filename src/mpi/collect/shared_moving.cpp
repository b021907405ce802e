// Operations that move data, of any datatype: as bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "core/schedule/makers.h"
#include "core/shared/moving.h"
#include "mpi/collect/across.h"
#include "mpi/collect/buffers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/node_team.h"
#include "mpi/collect/shared_call.h"

namespace ranktree::mpi::collect {

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

}  // namespace ranktree::mpi::collect
