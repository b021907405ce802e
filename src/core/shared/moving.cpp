#include "core/shared/moving.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/shared/copy.h"
#include "core/shared/team.h"

namespace ranktree::core::shared {
namespace {

// Bytes of a block that are moved in a round that begins at its byte `before`.
std::size_t piece(std::size_t block, std::size_t before, std::size_t most) {
  return block > before ? std::min(block - before, most) : 0;
}

// Copies from a block into a cell; nothing where the block is shorter than `before`.
void put_piece(std::byte* cell, std::span<const std::byte> block, std::size_t before, std::size_t most) {
  const auto rest = block.subspan(std::min(before, block.size()));
  copy_bytes(cell, rest.data(), std::min(rest.size(), most));
}

// Copies from a cell into the place of a block: the block is `sent` bytes long, its place has `space` bytes.
void copy_piece(std::byte* into, std::size_t space, std::size_t sent, const std::byte* cell, std::size_t before,
                std::size_t most) {
  const std::size_t bytes = piece(std::min(space, sent), before, most);
  if (bytes > 0) copy_bytes(into + before, cell, bytes);
}

}  // namespace

bool Barrier::progress() { return go_on(*this); }

bool Barrier::put() {
  did_all(Counter::kPut);
  return true;
}

bool Barrier::take() { return all_did(Counter::kPut); }

void FromRoot::publish_size() {
  if (before_ == 0) publish_bytes(sent_);
}

// This rank uses the root's cells and rounds, whatever size it expected.
void FromRoot::learn() {
  if (knows_) return;
  sent_ = published(root_).bytes;
  use_cells_for(sent_);
  if (sent_ > capacity_) truncate();
  knows_ = true;
}

Broadcast::Broadcast(Team& team, int root, std::span<std::byte> data)
    : FromRoot(team, root, data.size()), data_(data), available_(data.size()) {}

bool Broadcast::progress() { return go_on(*this); }

std::size_t Broadcast::bytes_now() const { return piece(sent_, before_, round_bytes()); }

bool Broadcast::put() {
  if (!is_root()) return true;
  if (parts_ == 0) publish_size();
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
  if (is_root()) return true;
  const std::uint64_t there = parts_done(root_, Counter::kPut);
  if (there == 0) return false;
  learn();
  const std::size_t bytes = bytes_now();
  const std::size_t until = there == kAll ? bytes : std::min<std::size_t>(there * part(), bytes);
  if (const std::size_t from = parts_ * part(); from < until) {
    const std::size_t first = before_ + from;
    if (const std::size_t space = piece(data_.size(), first, until - from); space > 0) {
      copy_bytes(data_.data() + first, cell(0) + from, space);
    }
    parts_ = there;
  }
  return there == kAll;
}

bool Broadcast::last() {
  before_ += round_bytes();
  parts_ = 0;
  return before_ >= sent_;
}

Scatter::Scatter(Team& team, int root, const std::byte* blocks, std::span<std::byte> own)
    : FromRoot(team, root, own.size()), blocks_(blocks), own_(own) {}

bool Scatter::progress() { return go_on(*this); }

bool Scatter::put() {
  if (!is_root()) return true;
  publish_size();
  const std::size_t bytes = piece(sent_, before_, cell_bytes());
  for (int to = 0; to < ranks(); ++to) {
    const std::byte* const from = blocks_ + static_cast<std::size_t>(to) * sent_ + before_;
    if (bytes > 0) copy_bytes(to == root_ ? own_.data() + before_ : cell(to), from, bytes);
    did_part(Counter::kPut, static_cast<std::uint64_t>(to) + 1);
  }
  did_all(Counter::kPut);
  return true;
}

bool Scatter::take() {
  if (is_root()) return true;
  if (parts_done(root_, Counter::kPut) <= static_cast<std::uint64_t>(rank())) return false;
  learn();
  copy_piece(own_.data(), own_.size(), sent_, cell(rank()), before_, cell_bytes());
  return true;
}

bool Scatter::last() {
  before_ += cell_bytes();
  return before_ >= sent_;
}

Gather::Gather(Team& team, int root, std::span<const std::byte> own, std::byte* blocks)
    : Call(team, own.size()),
      root_(root),
      own_(own),
      blocks_(blocks),
      shortest_(team.rank() == root && team.ranks() > 1 ? SIZE_MAX : own.size()) {}

bool Gather::progress() { return go_on(*this); }

bool Gather::put() {
  if (rank() == root_) {
    if (before_ == 0) copy_bytes(blocks_ + static_cast<std::size_t>(root_) * own_.size(), own_.data(), own_.size());
    return true;
  }
  put_piece(cell(rank()), own_, before_, cell_bytes());
  publish_bytes(own_.size());
  did_all(Counter::kPut);
  return true;
}

// A rank goes on to a second round only with all others that send: a rank with less has left after the first one, and
// does not know of another. A rank whose own data needs one round does not wait for that.
bool Gather::take() {
  if (rank() != root_ && (own_.size() <= cell_bytes() || before_ > 0)) return true;
  for (int& from = seen(); from < ranks(); ++from) {
    if (from == root_ || from == rank()) continue;
    if (!did(from, Counter::kPut)) return false;
    const Published one = published(from);
    shortest_ = std::min(shortest_, one.bytes);
    if (rank() == root_) take_from(from, one);
  }
  return true;
}

void Gather::take_from(int from, Published other) {
  longest_ = std::max(longest_, other.bytes);
  if (other.bytes > own_.size()) truncate();
  std::byte* const block = blocks_ + static_cast<std::size_t>(from) * own_.size();
  copy_piece(block, own_.size(), other.bytes, cell(from, other.small), before_, cell_bytes(other.small));
}

bool Gather::last() {
  use_cells_for(shortest_);
  before_ += cell_bytes();
  if (before_ < shortest_) return false;
  if (longest_ > std::max(before_, cell_bytes(false))) truncate();
  return true;
}

Allgather::Allgather(Team& team, std::span<const std::byte> own, const Blocks& blocks)
    : Call(team, blocks.bytes), own_(own), blocks_(blocks), longest_(own.size()) {}

bool Allgather::progress() { return go_on(*this); }

bool Allgather::put() {
  put_piece(cell(rank()), own_, before_, cell_bytes());
  publish_bytes(own_.size());
  did_all(Counter::kPut);
  if (before_ == 0) copy_bytes(blocks_[rank()].data, own_.data(), own_.size());
  return true;
}

bool Allgather::take() {
  for (int& from = seen(); from < ranks(); ++from) {
    if (from == rank()) continue;
    if (!did(from, Counter::kPut)) return false;
    take_from(from, published(from));
  }
  return true;
}

void Allgather::take_from(int from, Published other) {
  const Blocks::Block block = blocks_[from];
  longest_ = std::max(longest_, other.bytes);
  if (other.bytes > block.bytes) truncate();
  copy_piece(block.data, block.bytes, other.bytes, cell(from, other.small), before_, cell_bytes(other.small));
}

// All ranks know by now the longest block that any has.
bool Allgather::last() {
  use_cells_for(longest_);
  before_ += cell_bytes();
  return before_ >= longest_;
}

}  // namespace ranktree::core::shared
