#include "core/shared/combining.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/shared/copy.h"
#include "core/shared/team.h"

namespace ranktree::core::shared {
namespace {

// Bytes combined at once, so that the result stays in the fastest cache while operand after operand is combined into
// it.
constexpr std::size_t kBlock = std::size_t{16} << 10U;
constexpr std::size_t kCacheLine = 64;

// into = operand(0) (op) ... (op) operand(ranks - 1), where operand(r) returns where rank r's begins.
template <class Operands>
void fold(const Combine& combine, std::byte* into, std::size_t elements, int ranks, const Operands& operand) {
  const std::size_t most = std::max<std::size_t>(kBlock / combine.element, 1);
  for (std::size_t first = 0; first < elements; first += most) {
    const std::size_t count = std::min(most, elements - first);
    const std::size_t at = first * combine.element;
    copy_bytes(into + at, operand(ranks - 1) + at, count * combine.element);
    for (int rank = ranks - 2; rank >= 0; --rank) combine.call(combine.caller, operand(rank) + at, into + at, count);
  }
}

struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};

// The share of a rank: whole cache lines, where elements fill lines.
Slice slice_of(std::size_t elements, std::size_t element, int rank, int ranks) {
  const std::size_t grain = element < kCacheLine && kCacheLine % element == 0 ? kCacheLine / element : 1;
  const std::size_t grains = (elements + grain - 1) / grain;
  const auto count = static_cast<std::size_t>(ranks);
  const std::size_t share = (grains + count - 1) / count * grain;
  const std::size_t first = std::min(share * static_cast<std::size_t>(rank), elements);
  return {first, std::min(share, elements - first)};
}

std::size_t largest_block(std::span<const std::size_t> starts) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) largest = std::max(largest, starts[i + 1] - starts[i]);
  return largest;
}

}  // namespace

Reduction::Reduction(Team& team, const Operand& operand, const Combine& combine, bool wants)
    : Call(team, operand.elements * combine.element),
      operand_(operand),
      combine_(combine),
      wants_(wants),
      elements_(operand.elements),
      per_round_(cell_bytes() / combine.element) {}

bool Reduction::progress() { return go_on(*this); }

std::size_t Reduction::elements_now() const { return std::min(per_round_, elements_ - before_); }

bool Reduction::put() {
  copy_bytes(operand_in(rank()), operand_.input + before_ * combine_.element, elements_now() * combine_.element);
  if (before_ == 0) publish_bytes(operand_.elements * combine_.element);
  did_all(Counter::kPut);
  return true;
}

// In the first round, when all have put. Where one rank's operand is small so is the operation: that rank expects no
// merge.
void Reduction::learn() {
  if (all_published_the_same()) return;
  const std::size_t own = operand_.elements * combine_.element;
  std::size_t fewest = own;
  std::size_t most = own;
  for (int from = 0; from < ranks(); ++from) {
    fewest = std::min(fewest, published(from).bytes);
    most = std::max(most, published(from).bytes);
  }
  mixed_ = true;
  elements_ = fewest / combine_.element;
  use_cells_for(fewest);
  if (wants_ && most > own) truncate();
}

bool Reduction::merge() {
  if (small()) return true;
  if (!all_did(Counter::kPut)) return false;
  if (before_ == 0) learn();
  if (small()) return true;
  const Slice slice = slice_of(elements_now(), combine_.element, rank(), ranks());
  const std::size_t at = slice.first * combine_.element;
  fold(combine_, operand_in(ranks()) + at, slice.count, ranks(), [&](int from) { return operand_in(from) + at; });
  did_all(Counter::kMerged);
  return true;
}

bool Reduction::take() {
  if (!wants_) return true;
  if (!all_did(small() ? Counter::kPut : Counter::kMerged)) return false;
  std::byte* const into = operand_.output + before_ * combine_.element;
  if (small()) {
    learn();
    fold(combine_, into, elements_now(), ranks(),
         [this](int from) { return mixed_ ? cell(from, published(from).small) + combine_.ahead : operand_in(from); });
  } else {
    copy_bytes(into, operand_in(ranks()), elements_now() * combine_.element);
  }
  completed_ = before_ + elements_now();
  return true;
}

bool Reduction::last() {
  before_ += elements_now();
  return before_ >= elements_;
}

// Small where one round of small cells is enough.
ReduceScatter::ReduceScatter(Team& team, const Operand& operand, std::span<const std::size_t> starts,
                             const Combine& combine)
    : Call(team,
           std::max<std::size_t>(largest_block(starts), 1) * static_cast<std::size_t>(team.ranks()) * combine.element),
      operand_(operand),
      starts_(starts),
      combine_(combine),
      largest_(largest_block(starts)),
      per_round_(cell_bytes() / combine.element / static_cast<std::size_t>(team.ranks())) {}

bool ReduceScatter::progress() { return go_on(*this); }

std::size_t ReduceScatter::elements_now(int rank) const {
  const std::size_t block = starts_[static_cast<std::size_t>(rank) + 1] - starts_[static_cast<std::size_t>(rank)];
  return block > before_ ? std::min(block - before_, per_round_) : 0;
}

// Published in place of a number of bytes: for equal blocks that number, for others a hash. Where two lists of small
// blocks have the same hash ranks still do one round, in the same cells.
std::size_t ReduceScatter::signature() const {
  const std::size_t count = starts_.size() - 1;
  std::uint64_t hash = 0;
  bool equal = true;
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ starts_[i + 1]) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
    equal = equal && starts_[i + 1] == (i + 1) * largest_;
  }
  if (equal) return largest_ * count * combine_.element;
  return small() ? kSmallCell + 1 + hash % (kMaxPublished - kSmallCell) : hash | std::uint64_t{1} << 63U;
}

bool ReduceScatter::put() {
  const std::size_t stride = per_round_ * combine_.element;
  for (int to = 0; to < ranks(); ++to) {
    const std::size_t first = starts_[static_cast<std::size_t>(to)] + before_;
    copy_bytes(operand_in(rank()) + static_cast<std::size_t>(to) * stride, operand_.input + first * combine_.element,
               elements_now(to) * combine_.element);
  }
  if (before_ == 0) publish_bytes(signature());
  did_all(Counter::kPut);
  return true;
}

bool ReduceScatter::take() {
  if (!all_did(Counter::kPut)) return false;
  if (before_ == 0 && !all_published_the_same()) {
    truncate();
    return true;
  }
  const std::size_t at = static_cast<std::size_t>(rank()) * per_round_ * combine_.element;
  const std::size_t elements = elements_now(rank());
  fold(combine_, operand_.output + before_ * combine_.element, elements, ranks(),
       [&](int from) { return operand_in(from) + at; });
  completed_ += elements;
  return true;
}

bool ReduceScatter::last() {
  before_ += per_round_;
  return truncated() || before_ >= largest_;
}

}  // namespace ranktree::core::shared
