#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/bits.h"
#include "core/schedule/builder.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

std::int64_t largest(const Blocks& blocks, Rank size) {
  std::int64_t most = 0;
  for (Rank member = 0; member < size; ++member) most = std::max(most, blocks(member).count);
  return most;
}

// Consecutive blocks first .. first+count-1 as one range.
Range joined(const Blocks& blocks, Rank first, Rank count) {
  const Range begin = blocks(first);
  const Range last = blocks(first + count - 1);
  return within(begin, 0, last.first + last.count - begin.first);
}

// Three scratch buffers, used one after another.
class ScratchRing {
 public:
  ScratchRing(Builder& builder, std::int64_t count) : builder_(builder), count_(count) {}
  Range next(std::int64_t count) {
    std::optional<Range>& buffer = buffers_[next_];
    next_ = (next_ + 1) % buffers_.size();
    if (!buffer) buffer = builder_.scratch(count_);
    return within(*buffer, 0, count);
  }

 private:
  Builder& builder_;
  std::int64_t count_;
  std::array<std::optional<Range>, 3> buffers_;
  std::size_t next_ = 0;
};

void doubling_of_power_of_two(Builder& builder, const Team& team, const Blocks& blocks) {
  for (Rank distance = 1; distance < team.size(); distance *= 2) {
    const Rank first = team.me() - team.me() % distance;
    const Rank peer = team.rank(across(team.me(), distance));
    builder.send(peer, joined(blocks, first, distance));
    builder.receive(peer, joined(blocks, across(first, distance), distance));
  }
}

void pairwise_commutative(Builder& builder, const Team& team, const Blocks& operand, const Range& target) {
  const Rank size = team.size();
  const Range own = operand(team.me());
  ScratchRing buffers(builder, own.count);
  bool begun = overlap(own, target);
  for (Rank step = 1; step < size; ++step) {
    const Rank to = (team.me() + step) % size;
    const Range arrived = begun ? buffers.next(own.count) : target;
    builder.send(team.rank(to), operand(to));
    builder.receive(team.rank((team.me() - step + size) % size), arrived);
    builder.reduce(begun ? arrived : own, target);
    begun = true;
  }
}

// Step k sends to member me+k and receives from member me-k, so operands arrive from the next lower rank downwards,
// then from the last rank downwards. Each is prepended to the partial result of its run, and the two runs are combined
// at the end.
void pairwise_in_order(Builder& builder, const Team& team, const Blocks& operand, const Range& target) {
  const Rank size = team.size();
  const Rank me = team.me();
  const Range own = operand(me);
  const bool last = me + 1 == size;
  ScratchRing buffers(builder, own.count);
  Range low = own;
  if (me > 0) {
    low = last ? target : builder.scratch(own.count);
    builder.copy(own, low);
  }
  const Range high = !last && overlap(low, target) ? builder.scratch(own.count) : target;
  for (Rank step = 1; step < size; ++step) {
    const Rank from = (me - step + size) % size;
    builder.send(team.rank((me + step) % size), operand((me + step) % size));
    const bool first = from + 1 == size;  // the first operand of a higher rank
    const Range arrived = first ? high : buffers.next(own.count);
    builder.receive(team.rank(from), arrived);
    if (!first) builder.reduce(arrived, from < me ? low : high);
  }
  if (!last) builder.reduce(low, high);
  builder.copy(last ? low : high, target);
}

}  // namespace

void allgather_flat(Builder& builder, const Team& team, const Blocks& blocks) {
  for (Rank step = 1; step < team.size(); ++step) {
    const Rank from = (team.me() - step + team.size()) % team.size();
    builder.send(team.rank((team.me() + step) % team.size()), blocks(team.me()));
    builder.receive(team.rank(from), blocks(from));
  }
}

void allgather_ring(Builder& builder, const Team& team, const Blocks& blocks) {
  const Rank size = team.size();
  if (size == 1) return;
  const Rank right = team.rank((team.me() + 1) % size);
  const Rank left = team.rank((team.me() - 1 + size) % size);
  for (Rank step = 0; step + 1 < size; ++step) {
    builder.send_in_turn(right, blocks((team.me() - step + size) % size));
    builder.receive(left, blocks((team.me() - step - 1 + size) % size));
  }
}

// For other numbers of ranks: the blocks of this member and those that follow cyclically, so that a run of blocks is
// two ranges where it passes the last member (J. Bruck et al., Efficient algorithms for all-to-all communications, IEEE
// TPDS 1997).
void allgather_doubling(Builder& builder, const Team& team, const Blocks& blocks) {
  const Rank size = team.size();
  if (power_of_two_in(size) == size) {
    doubling_of_power_of_two(builder, team, blocks);
    return;
  }
  const auto each_run = [&](Rank first, Rank count, const auto& act) {
    const Rank before_end = std::min(count, size - first);
    act(joined(blocks, first, before_end));
    if (count > before_end) act(joined(blocks, 0, count - before_end));
  };
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    const auto count = static_cast<Rank>(std::min(distance, size - distance));
    const auto from = static_cast<Rank>((team.me() + distance) % size);
    const Rank to = team.rank(static_cast<Rank>((team.me() - distance + size) % size));
    each_run(team.me(), count, [&](const Range& run) { builder.send(to, run); });
    each_run(from, count, [&](const Range& run) { builder.receive(team.rank(from), run); });
  }
}

void reduce_scatter_ring(Builder& builder, const Team& team, const Blocks& operand, const Range& target) {
  const Rank size = team.size();
  const Rank me = team.me();
  if (size == 1) {
    builder.copy(operand(0), target);
    return;
  }
  const Rank right = team.rank((me + 1) % size);
  const Rank left = team.rank((me - 1 + size) % size);
  ScratchRing buffers(builder, largest(operand, size));
  Range partial = operand((me - 1 + size) % size);
  for (Rank step = 0; step + 1 < size; ++step) {
    const Range own = operand((2 * size + me - step - 2) % size);
    const bool last = step + 2 == size;
    const Range arrived = last && !overlap(own, target) ? target : buffers.next(own.count);
    builder.send_in_turn(right, partial);
    builder.receive(left, arrived);
    if (last && overlap(own, target)) {
      builder.reduce(arrived, target);
    } else {
      builder.reduce(own, arrived);
    }
    partial = arrived;
  }
}

void reduce_scatter_pairwise(Builder& builder, const Team& team, bool in_order, const Blocks& operand,
                             const Range& target) {
  if (team.size() == 1) {
    builder.copy(operand(0), target);
  } else if (in_order) {
    pairwise_in_order(builder, team, operand, target);
  } else {
    pairwise_commutative(builder, team, operand, target);
  }
}

void alltoall_pairwise(Builder& builder, const Team& team, const Blocks& from, const Blocks& into) {
  const Rank size = team.size();
  builder.copy(from(team.me()), into(team.me()));
  for (Rank step = 1; step < size; ++step) {
    const Rank to = (team.me() + step) % size;
    const Rank source = (team.me() - step + size) % size;
    builder.send(team.rank(to), from(to));
    builder.receive(team.rank(source), into(source));
  }
}

// Block j of the work buffer goes to member me+j. In round k the blocks whose j has bit k go 2^k members on, all in one
// message; when all bits of j are done the block has arrived, and came from me-j.
void alltoall_bruck(Builder& builder, const Team& team, const Blocks& from, const Blocks& into) {
  const Rank size = team.size();
  const Rank me = team.me();
  const std::int64_t count = from(0).count;
  const Range work = builder.scratch(count * size);
  const auto place = [&](const Range& whole, std::int64_t index) { return within(whole, index * count, count); };
  for (Rank j = 0; j < size; ++j) builder.copy(from((me + j) % size), place(work, j));
  const Range packed = builder.scratch(count * (size / 2 + 1));
  const Range arrived = builder.scratch(count * (size / 2 + 1));
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    std::vector<Rank> moved;
    for (Rank j = 1; j < size; ++j) {
      if (has_bit(j, distance)) moved.push_back(j);
    }
    const auto blocks = static_cast<std::int64_t>(moved.size());
    for (std::int64_t i = 0; i < blocks; ++i)
      builder.copy(place(work, moved[static_cast<std::size_t>(i)]), place(packed, i));
    builder.send(team.rank(static_cast<Rank>((me + distance) % size)), within(packed, 0, blocks * count));
    builder.receive(team.rank(static_cast<Rank>((me - distance + size) % size)), within(arrived, 0, blocks * count));
    for (std::int64_t i = 0; i < blocks; ++i)
      builder.copy(place(arrived, i), place(work, moved[static_cast<std::size_t>(i)]));
  }
  for (Rank j = 0; j < size; ++j) builder.copy(place(work, j), into((me - j + size) % size));
}

}  // namespace ranktree::core::schedule
