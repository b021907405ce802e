#include "core/shared/moving.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/shared/copy.h"
#include "core/shared/team.h"

namespace ranktree::core::shared {
namespace {

// Of a block, what is moved in a round that begins at its byte `before`.
std::size_t piece(std::size_t block, std::size_t before, std::size_t most) {
  return block > before ? std::min(block - before, most) : 0;
}

// From a cell into the place of a block.
void copy_piece(const Blocks::Block& into, const std::byte* cell, std::size_t before, std::size_t most) {
  if (const std::size_t bytes = piece(into.bytes, before, most); bytes > 0) copy_bytes(into.data + before, cell, bytes);
}

}  // namespace

bool Barrier::put() {
  did_all(Counter::kPut);
  return true;
}

bool Barrier::take() { return all_did(Counter::kPut); }

Broadcast::Broadcast(Team& team, int root, std::span<std::byte> data)
    : Call(team, data.size()),
      root_(root),
      data_(data),
      available_(data.size()),
      sent_(data.size()),
      knows_(team.rank() == root) {}

std::size_t Broadcast::bytes_now() const { return piece(sent_, before_, round_bytes()); }

bool Broadcast::put() {
  if (rank() != root_) return true;
  if (before_ == 0 && parts_ == 0) tell_bytes(sent_);
  const std::size_t bytes = bytes_now();
  while (parts_ * part() < bytes) {
    const std::size_t from = parts_ * part();
    const std::size_t size = std::min(part(), bytes - from);
    if (before_ + from + size > available_) return false;
    copy_bytes(cell(0) + from, data_.data() + before_ + from, size);
    if (++parts_ * part() < bytes) did_part(Counter::kPut, parts_);
  }
  did_all(Counter::kPut);
  return true;
}

bool Broadcast::take() {
  if (rank() == root_) return true;
  const std::uint64_t there = parts_done(root_, Counter::kPut);
  if (there == 0) return false;
  if (!knows_) learn();
  const std::size_t bytes = bytes_now();
  const std::size_t until = there == kAll ? bytes : std::min<std::size_t>(there * part(), bytes);
  if (const std::size_t from = parts_ * part(); from < until) {
    const std::size_t first = before_ + from;
    if (const std::size_t room = piece(data_.size(), first, until - from); room > 0) {
      copy_bytes(data_.data() + first, cell(0) + from, room);
    }
    parts_ = there;
  }
  return there == kAll;
}

// The root's cells and rounds, whatever this rank has expected.
void Broadcast::learn() {
  sent_ = told_bytes(root_);
  use_cells_for(sent_);
  knows_ = true;
}

bool Broadcast::last() {
  before_ += round_bytes();
  parts_ = 0;
  return before_ >= sent_;
}

Gather::Gather(Team& team, int root, std::span<const std::byte> own, const Blocks& blocks)
    : Call(team, blocks.bytes), root_(root), own_(own), blocks_(blocks) {}

bool Gather::put() {
  if (rank() == root_) {
    if (before_ == 0) copy_bytes(blocks_[root_].data, own_.data(), own_.size());
    return true;
  }
  copy_bytes(cell(rank()), own_.data() + before_, piece(own_.size(), before_, cell_bytes()));
  did_all(Counter::kPut);
  return true;
}

bool Gather::take() {
  if (rank() != root_) return true;
  for (int& from = seen(); from < ranks(); ++from) {
    if (from == root_) continue;
    if (!did(from, Counter::kPut)) return false;
    copy_piece(blocks_[from], cell(from), before_, cell_bytes());
  }
  return true;
}

bool Gather::last() {
  before_ += cell_bytes();
  return before_ >= blocks_.bytes;
}

Scatter::Scatter(Team& team, int root, const Blocks& blocks, std::span<std::byte> own)
    : Call(team, blocks.bytes), root_(root), blocks_(blocks), own_(own) {}

bool Scatter::put() {
  if (rank() != root_) return true;
  for (int to = 0; to < ranks(); ++to) {
    const Blocks::Block block = blocks_[to];
    const std::size_t bytes = piece(block.bytes, before_, cell_bytes());
    if (bytes > 0) copy_bytes(to == root_ ? own_.data() + before_ : cell(to), block.data + before_, bytes);
    did_part(Counter::kPut, static_cast<std::uint64_t>(to) + 1);
  }
  did_all(Counter::kPut);
  return true;
}

bool Scatter::take() {
  if (rank() == root_) return true;
  if (parts_done(root_, Counter::kPut) <= static_cast<std::uint64_t>(rank())) return false;
  copy_piece({own_.data(), own_.size()}, cell(rank()), before_, cell_bytes());
  return true;
}

bool Scatter::last() {
  before_ += cell_bytes();
  return before_ >= blocks_.bytes;
}

Allgather::Allgather(Team& team, std::span<const std::byte> own, const Blocks& blocks)
    : Call(team, blocks.bytes), own_(own), blocks_(blocks) {}

bool Allgather::put() {
  copy_bytes(cell(rank()), own_.data() + before_, piece(own_.size(), before_, cell_bytes()));
  did_all(Counter::kPut);
  if (before_ == 0) copy_bytes(blocks_[rank()].data, own_.data(), own_.size());
  return true;
}

bool Allgather::take() {
  for (int& from = seen(); from < ranks(); ++from) {
    if (from == rank()) continue;
    if (!did(from, Counter::kPut)) return false;
    copy_piece(blocks_[from], cell(from), before_, cell_bytes());
  }
  return true;
}

bool Allgather::last() {
  before_ += cell_bytes();
  return before_ >= blocks_.bytes;
}

}  // namespace ranktree::core::shared
