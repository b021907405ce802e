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

// From a block, which may have ended before, into a cell.
void put_piece(std::byte* cell, std::span<const std::byte> block, std::size_t before, std::size_t most) {
  const auto rest = block.subspan(std::min(before, block.size()));
  copy_bytes(cell, rest.data(), std::min(rest.size(), most));
}

// From a cell into the place of a block that is `sent` bytes long and has `room` for as many.
void copy_piece(std::byte* into, std::size_t room, std::size_t sent, const std::byte* cell, std::size_t before,
                std::size_t most) {
  const std::size_t bytes = piece(std::min(room, sent), before, most);
  if (bytes > 0) copy_bytes(into + before, cell, bytes);
}

}  // namespace

bool Barrier::progress() { return go_on(*this); }

bool Barrier::put() {
  did_all(Counter::kPut);
  return true;
}

bool Barrier::take() { return all_did(Counter::kPut); }

void FromRoot::tell() {
  if (before_ == 0) tell_bytes(sent_);
}

// The root's cells and rounds, whatever this rank has expected.
void FromRoot::learn() {
  if (knows_) return;
  sent_ = told(root_).bytes;
  use_cells_for(sent_);
  if (sent_ > room_) truncate();
  knows_ = true;
}

Broadcast::Broadcast(Team& team, int root, std::span<std::byte> data)
    : FromRoot(team, root, data.size()), data_(data), available_(data.size()) {}

bool Broadcast::progress() { return go_on(*this); }

std::size_t Broadcast::bytes_now() const { return piece(sent_, before_, round_bytes()); }

bool Broadcast::put() {
  if (!is_root()) return true;
  if (parts_ == 0) tell();
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
    if (const std::size_t room = piece(data_.size(), first, until - from); room > 0) {
      copy_bytes(data_.data() + first, cell(0) + from, room);
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
  tell();
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
  tell_bytes(own_.size());
  did_all(Counter::kPut);
  return true;
}

// A rank goes on to a second round only with all others that send: who has less has left after the first one, and will
// not know of another. Nobody waits for that whose own data is of one round.
bool Gather::take() {
  if (rank() != root_ && (own_.size() <= cell_bytes() || before_ > 0)) return true;
  for (int& from = seen(); from < ranks(); ++from) {
    if (from == root_ || from == rank()) continue;
    if (!did(from, Counter::kPut)) return false;
    const Told one = told(from);
    shortest_ = std::min(shortest_, one.bytes);
    if (rank() == root_) take_from(from, one);
  }
  return true;
}

void Gather::take_from(int from, Told told) {
  longest_ = std::max(longest_, told.bytes);
  if (told.bytes > own_.size()) truncate();
  std::byte* const block = blocks_ + static_cast<std::size_t>(from) * own_.size();
  copy_piece(block, own_.size(), told.bytes, cell(from, told.small), before_, cell_bytes(told.small));
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
  tell_bytes(own_.size());
  did_all(Counter::kPut);
  if (before_ == 0) copy_bytes(blocks_[rank()].data, own_.data(), own_.size());
  return true;
}

bool Allgather::take() {
  for (int& from = seen(); from < ranks(); ++from) {
    if (from == rank()) continue;
    if (!did(from, Counter::kPut)) return false;
    take_from(from, told(from));
  }
  return true;
}

void Allgather::take_from(int from, Told told) {
  const Blocks::Block block = blocks_[from];
  longest_ = std::max(longest_, told.bytes);
  if (told.bytes > block.bytes) truncate();
  copy_piece(block.data, block.bytes, told.bytes, cell(from, told.small), before_, cell_bytes(told.small));
}

// All ranks know by now the longest block that any has.
bool Allgather::last() {
  use_cells_for(longest_);
  before_ += cell_bytes();
  return before_ >= longest_;
}

}  // namespace ranktree::core::shared
