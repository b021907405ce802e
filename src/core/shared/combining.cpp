#include "core/shared/combining.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/shared/copy.h"
#include "core/shared/team.h"

namespace ranktree::core::shared {
namespace {

// What is combined at once, so that the result stays in the fastest cache while operand after operand joins it.
constexpr std::size_t kBlock = std::size_t{16} << 10U;
constexpr std::size_t kCacheLine = 64;

// into = operand(0) (op) ... (op) operand(ranks - 1), where operand(r) tells where rank r's begins.
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

}  // namespace

Reduction::Reduction(Team& team, const Operand& operand, const Combine& combine)
    : Call(team, operand.elements * combine.element),
      operand_(operand),
      combine_(combine),
      per_round_(cell_bytes() / combine.element) {}

std::size_t Reduction::elements_now() const { return std::min(per_round_, operand_.elements - before_); }

bool Reduction::put() {
  copy_bytes(operand_in(rank()), operand_.input + before_ * combine_.element, elements_now() * combine_.element);
  did_all(Counter::kPut);
  return true;
}

bool Reduction::merge() {
  if (small()) return true;
  if (!all_did(Counter::kPut)) return false;
  const Slice slice = slice_of(elements_now(), combine_.element, rank(), ranks());
  const std::size_t at = slice.first * combine_.element;
  fold(combine_, operand_in(ranks()) + at, slice.count, ranks(), [&](int from) { return operand_in(from) + at; });
  did_all(Counter::kMerged);
  return true;
}

bool Reduction::take() {
  if (!wants()) return true;
  if (!all_did(small() ? Counter::kPut : Counter::kMerged)) return false;
  std::byte* const into = operand_.output + before_ * combine_.element;
  if (small()) {
    fold(combine_, into, elements_now(), ranks(), [this](int from) { return operand_in(from); });
  } else {
    copy_bytes(into, operand_in(ranks()), elements_now() * combine_.element);
  }
  completed_ = before_ + elements_now();
  return true;
}

bool Reduction::last() {
  before_ += elements_now();
  return before_ >= operand_.elements;
}

ReduceScatter::ReduceScatter(Team& team, const Operand& operand, std::span<const std::size_t> starts,
                             const Combine& combine)
    : Call(team, std::max(operand.elements, static_cast<std::size_t>(team.ranks())) * combine.element),
      operand_(operand),
      starts_(starts),
      combine_(combine),
      per_round_(cell_bytes() / combine.element / static_cast<std::size_t>(team.ranks())) {
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) largest_ = std::max(largest_, starts[i + 1] - starts[i]);
}

std::size_t ReduceScatter::elements_now(int rank) const {
  const std::size_t block = starts_[static_cast<std::size_t>(rank) + 1] - starts_[static_cast<std::size_t>(rank)];
  return block > before_ ? std::min(block - before_, per_round_) : 0;
}

bool ReduceScatter::put() {
  const std::size_t stride = per_round_ * combine_.element;
  for (int to = 0; to < ranks(); ++to) {
    const std::size_t first = starts_[static_cast<std::size_t>(to)] + before_;
    copy_bytes(operand_in(rank()) + static_cast<std::size_t>(to) * stride, operand_.input + first * combine_.element,
               elements_now(to) * combine_.element);
  }
  did_all(Counter::kPut);
  return true;
}

bool ReduceScatter::take() {
  if (!all_did(Counter::kPut)) return false;
  const std::size_t at = static_cast<std::size_t>(rank()) * per_round_ * combine_.element;
  fold(combine_, operand_.output + before_ * combine_.element, elements_now(rank()), ranks(),
       [&](int from) { return operand_in(from) + at; });
  return true;
}

bool ReduceScatter::last() {
  before_ += per_round_;
  return before_ >= largest_;
}

}  // namespace ranktree::core::shared
