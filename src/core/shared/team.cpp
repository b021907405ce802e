#include "core/shared/team.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ranktree::core::shared {
namespace {

constexpr std::size_t kLargestCell = std::size_t{128} << 10U;
// Behind the counters, in the same cache line: the sizes published in the last rounds, as many as there are cells. For
// large cells the first list holds only kIsLarge.
constexpr std::size_t kSmallSizes = 12;  // in 2 bytes
constexpr std::size_t kLargeSizes = 5;   // in 8 bytes
constexpr std::uint16_t kIsLarge = UINT16_MAX;
static_assert(kSmallSizes * sizeof(std::uint16_t) == 3 * sizeof(std::uint64_t));
static_assert((kSmallSizes + kSmallDepth) * sizeof(std::uint16_t) == kLargeSizes * sizeof(std::uint64_t));
static_assert(kSmallCell < kIsLarge);
// In the line's second half, which others write: for each counter, in 4 bytes, whether a rank sleeps until it changes.
constexpr std::size_t kSleepers = 16;
static_assert(kSleepers * sizeof(std::uint32_t) >= (kLargeSizes + kLargeDepth) * sizeof(std::uint64_t));

// What changes with each count: the kernel compares 4 bytes.
const std::uint32_t* low_half(const std::uint64_t* counter) {
  return reinterpret_cast<const std::uint32_t*>(counter) + (std::endian::native == std::endian::little ? 0 : 1);
}

std::size_t small_bytes(int ranks) {
  return kSmallDepth * static_cast<std::size_t>(ranks) * (kSmallCell + Team::kAlignment);
}

}  // namespace

std::size_t Team::cell_within(std::size_t budget, int ranks) {
  const std::size_t fixed = bytes_for(ranks, 0);
  const std::size_t left = budget > fixed ? budget - fixed : 0;
  const std::size_t cell = left / (kLargeDepth * (static_cast<std::size_t>(ranks) + 1));
  return std::clamp(cell / kSmallCell * kSmallCell, kSmallCell, kLargestCell);
}

std::size_t Team::bytes_for(int ranks, std::size_t cell) {
  const auto count = static_cast<std::size_t>(ranks);
  return count * kLine + small_bytes(ranks) + kLargeDepth * (count + 1) * stride(cell);
}

Team::Team(std::span<std::byte> memory, int rank, int ranks, std::size_t cell)
    : lines_(memory.data()),
      small_(lines_ + static_cast<std::size_t>(ranks) * kLine),
      large_(small_ + small_bytes(ranks)),
      rank_(rank),
      ranks_(ranks),
      cell_(cell) {}

std::uint32_t* Team::sleepers_of(int rank, Counter counter) const {
  return reinterpret_cast<std::uint32_t*>(line_of(rank)) + kSleepers + static_cast<std::size_t>(counter);
}

// A rank that sleeps sets its flag first and sleeps only while the counter is unchanged; a rank that counts looks for
// sleepers afterwards. In one order of these four at least one sees the other.
void Team::count_and_wake(Counter counter, std::uint64_t value) {
  std::uint64_t& word = line_of(rank_)[static_cast<std::size_t>(counter)];
  std::atomic_ref(word).store(value, std::memory_order_seq_cst);
  const std::atomic_ref sleepers(*sleepers_of(rank_, counter));
  if (sleepers.load(std::memory_order_seq_cst) == 0) return;
  sleepers.store(0, std::memory_order_seq_cst);
  wake_(low_half(&word));
}

void Team::read_finished_rounds() {
  ended_ = round_;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank != rank_) ended_ = std::min(ended_, read(rank, Counter::kEnded) >> kPartBits);
  }
}

Team::Word Team::announce_sleep(const Awaited& awaited) {
  std::atomic_ref(*sleepers_of(awaited.rank, awaited.counter)).store(1, std::memory_order_seq_cst);
  const std::uint64_t* const word = line_of(awaited.rank) + static_cast<std::size_t>(awaited.counter);
  return {low_half(word), static_cast<std::uint32_t>(awaited.value)};
}

std::uint16_t* Team::small_size(int rank) const {
  return reinterpret_cast<std::uint16_t*>(line_of(rank)) + kSmallSizes + round_ % kSmallDepth;
}

std::uint64_t* Team::large_size(int rank) const { return line_of(rank) + kLargeSizes + round_ % kLargeDepth; }

Call::Call(Team& team, std::size_t bytes) : team_(team), small_(bytes <= kSmallCell) {}

std::size_t Call::round_bytes() const {
  return small_ ? kSmallCell : (static_cast<std::size_t>(ranks()) + 1) * Team::stride(team_.cell());
}

std::byte* Call::cell(int index, bool small) const {
  const std::uint64_t turn = team_.round_ % (small ? kSmallDepth : kLargeDepth);
  const std::size_t cells = static_cast<std::size_t>(ranks()) + (small ? 0 : 1);
  std::byte* const set = small ? team_.small_ : team_.large_;
  return set + (turn * cells + static_cast<std::size_t>(index)) * Team::stride(cell_bytes(small));
}

// A rank that publishes owns the cells of the round, so no rank still reads what was published `depth` rounds before.
// The counter that is written next publishes it.
void Call::publish_bytes(std::size_t bytes) {
  if (!small_) std::atomic_ref(*team_.large_size(rank())).store(bytes, std::memory_order_relaxed);
  const std::uint16_t size = small_ ? static_cast<std::uint16_t>(bytes) : kIsLarge;
  std::atomic_ref(*team_.small_size(rank())).store(size, std::memory_order_relaxed);
}

Call::Published Call::published(int rank) const {
  const std::uint16_t size = std::atomic_ref(*team_.small_size(rank)).load(std::memory_order_relaxed);
  if (size != kIsLarge) return {size, true};
  return {std::atomic_ref(*team_.large_size(rank)).load(std::memory_order_relaxed), false};
}

// In each small operation that combines: few instructions.
bool Call::all_published_the_same() const {
  const std::uint16_t size = std::atomic_ref(*team_.small_size(rank())).load(std::memory_order_relaxed);
  constexpr std::size_t kToNextRank = kLine / sizeof(std::uint16_t);
  std::uint16_t* other = team_.small_size(0);
  for (int left = ranks(); left > 0; --left, other += kToNextRank) {
    if (std::atomic_ref(*other).load(std::memory_order_relaxed) != size) return false;
  }
  if (size != kIsLarge) return true;
  const std::size_t own = published(rank()).bytes;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (published(rank).bytes != own) return false;
  }
  return true;
}

std::uint64_t Call::parts_done(int rank, Counter counter) const {
  const std::uint64_t value = team_.read(rank, counter);
  const std::uint64_t begun = team_.round_ << kPartBits;
  return value <= begun ? 0 : std::min(value - begun, kAll);
}

}  // namespace ranktree::core::shared
