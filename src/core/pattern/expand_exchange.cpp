#include "core/pattern/expand_exchange.h"

#include <algorithm>
#include <cstdint>

#include "core/pattern/expand_call.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

Rank neighbour(const Call& call, Rank rank, std::int64_t distance) {
  return static_cast<Rank>((rank + distance + call.ranks) % call.ranks);
}

// Of the first 2 * extra ranks the odd ones survive.
Rank odd_survivor(Rank survivor, Rank extra) { return survivor < extra ? 2 * survivor + 1 : survivor + extra; }

// The first block of survivor `survivor`, which holds its own block and that of the rank that dropped out before it.
Rank first_block(Rank survivor, Rank extra) { return survivor < extra ? 2 * survivor : survivor + extra; }

// Every even rank among the first 2 * extra passes its whole vector to the next rank.
void fold_into_odd(const Call& call, const Sends& sends, Rank extra) {
  for (Rank even = 0; even < 2 * extra; even += 2) sends.add(even, even + 1, static_cast<double>(call.bytes));
}

// In the end survivor r holds the result of its mirror image, the survivor with r's bits reversed; `deliver` sends it
// there.
void butterfly(const Call& call, const Sends& sends, bool deliver) {
  const Blocks blocks(call.bytes, call.element, call.ranks);
  const Rank survivors = power_of_two(call.ranks);
  const Rank extra = call.ranks - survivors;
  fold_into_odd(call, sends, extra);
  for (Rank rank = 0; rank < survivors; ++rank) {
    const Rank real = odd_survivor(rank, extra);
    Rank first = 0;  // the first of the blocks that this rank keeps
    Rank count = survivors;
    for (Rank distance = 1; distance < survivors; distance *= 2) {
      count /= 2;
      const bool keeps_upper = is_upper(rank, distance);
      const Rank sent = keeps_upper ? first : first + count;
      if (keeps_upper) first += count;
      sends.add(real, odd_survivor(across(rank, distance), extra),
                blocks.offset(first_block(sent + count, extra)) - blocks.offset(first_block(sent, extra)));
    }
    if (!deliver) continue;
    const Rank dropped = first_block(first, extra);
    if (first < extra) sends.add(real, dropped, blocks.size(dropped));
    const Rank owner = odd_survivor(first, extra);
    if (first != rank) sends.add(real, owner, blocks.size(owner));
  }
}

}  // namespace

void allreduce_recursive_doubling(const Call& call, const Sends& sends) {
  const Rank survivors = power_of_two(call.ranks);
  const Rank extra = call.ranks - survivors;
  const auto bytes = static_cast<double>(call.bytes);
  fold_into_odd(call, sends, extra);
  for (Rank rank = 0; rank < survivors; ++rank) {
    for (Rank distance = 1; distance < survivors; distance *= 2) {
      sends.add(odd_survivor(rank, extra), odd_survivor(across(rank, distance), extra), bytes);
    }
  }
  for (Rank even = 0; even < 2 * extra; even += 2) sends.add(even + 1, even, bytes);
}

void allreduce_ring(const Call& call, const Sends& sends) {
  const Blocks blocks(call.bytes, call.element, call.ranks);
  const double everything = 2 * blocks.offset(call.ranks);
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    const double kept = blocks.size(neighbour(call, rank, 1)) + blocks.size(neighbour(call, rank, 2));
    sends.add(rank, neighbour(call, rank, 1), everything - kept, 2.0 * (call.ranks - 1));
  }
}

void allgather_ring(const Call& call, const Sends& sends) {
  const double messages = call.ranks - 1;
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    sends.add(rank, neighbour(call, rank, 1), static_cast<double>(call.bytes) * messages, messages);
  }
}

void allgather_recursive_doubling(const Call& call, const Sends& sends) {
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    for (Rank distance = 1; distance < call.ranks; distance *= 2) {
      sends.add(rank, across(rank, distance), static_cast<double>(call.bytes) * distance);
    }
  }
}

void allgather_bruck(const Call& call, const Sends& sends) {
  for (std::int64_t distance = 1; distance < call.ranks; distance *= 2) {
    const double bytes =
        static_cast<double>(call.bytes) * static_cast<double>(std::min(distance, call.ranks - distance));
    for (Rank rank = 0; rank < call.ranks; ++rank) sends.add(rank, neighbour(call, rank, -distance), bytes);
  }
}

void allgather_neighbor_exchange(const Call& call, const Sends& sends) {
  const Rank rounds = call.ranks / 2;
  const auto bytes = static_cast<double>(call.bytes);
  const Rank with_first = 1 + (rounds - 1) / 2;  // rounds alternate between two neighbours, the first moves one block
  const Rank with_second = rounds / 2;
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    const Rank step = rank % 2 == 0 ? 1 : -1;
    sends.add(rank, neighbour(call, rank, step), bytes * (2.0 * with_first - 1), with_first);
    if (with_second > 0) sends.add(rank, neighbour(call, rank, -step), bytes * 2.0 * with_second, with_second);
  }
}

void alltoall_direct(const Call& call, const Sends& sends) {
  for (Rank from = 0; from < call.ranks; ++from) {
    for (Rank to = 0; to < call.ranks; ++to) {
      if (from != to) sends.add(from, to, static_cast<double>(call.bytes));
    }
  }
}

void alltoall_bruck(const Call& call, const Sends& sends) {
  for (std::int64_t distance = 1; distance < call.ranks; distance *= 2) {
    const std::int64_t period = 2 * distance;  // of the blocks 1 .. p-1 those with this bit move
    const std::int64_t moved =
        call.ranks / period * distance + std::max<std::int64_t>(0, call.ranks % period - distance);
    const double bytes = static_cast<double>(call.bytes) * static_cast<double>(moved);
    for (Rank rank = 0; rank < call.ranks; ++rank) sends.add(rank, neighbour(call, rank, distance), bytes);
  }
}

void scan_linear(const Call& call, const Sends& sends) {
  for (Rank rank = 1; rank < call.ranks; ++rank) sends.add(rank - 1, rank, static_cast<double>(call.bytes));
}

void scan_recursive_doubling(const Call& call, const Sends& sends) {
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    for (std::int64_t distance = 1; distance < call.ranks; distance *= 2) {
      const Rank partner = across(rank, static_cast<Rank>(distance));
      if (partner < call.ranks) sends.add(rank, partner, static_cast<double>(call.bytes));
    }
  }
}

void barrier_recursive_doubling(const Call& call, const Sends& sends) {
  const Rank survivors = power_of_two(call.ranks);
  for (Rank rank = survivors; rank < call.ranks; ++rank) {
    sends.add(rank, rank - survivors, 0);
    sends.add(rank - survivors, rank, 0);
  }
  for (Rank rank = 0; rank < survivors; ++rank) {
    for (Rank distance = 1; distance < survivors; distance *= 2) sends.add(rank, across(rank, distance), 0);
  }
}

void barrier_dissemination(const Call& call, const Sends& sends) {
  for (std::int64_t distance = 1; distance < call.ranks; distance *= 2) {
    for (Rank rank = 0; rank < call.ranks; ++rank) sends.add(rank, neighbour(call, rank, distance), 0);
  }
}

void reduce_scatter_ring(const Call& call, const Sends& sends) {
  const Blocks blocks(call.bytes, call.element, call.ranks);
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    sends.add(rank, neighbour(call, rank, 1), blocks.offset(call.ranks) - blocks.size(rank), call.ranks - 1);
  }
}

void reduce_scatter_pairwise(const Call& call, const Sends& sends) {
  const Blocks blocks(call.bytes, call.element, call.ranks);
  for (Rank from = 0; from < call.ranks; ++from) {
    for (Rank to = 0; to < call.ranks; ++to) {
      if (from != to) sends.add(from, to, blocks.size(to));
    }
  }
}

void reduce_scatter_recursive_halving(const Call& call, const Sends& sends) {
  const Blocks blocks(call.bytes, call.element, call.ranks);
  const Rank survivors = power_of_two(call.ranks);
  const Rank extra = call.ranks - survivors;
  fold_into_odd(call, sends, extra);
  for (Rank rank = 0; rank < survivors; ++rank) {
    for (Rank distance = survivors / 2; distance > 0; distance /= 2) {
      const Rank first = group_start(across(rank, distance), distance);  // of the half on the partner's side
      const double bytes =
          blocks.offset(first_block(first + distance, extra)) - blocks.offset(first_block(first, extra));
      if (bytes > 0) sends.add(odd_survivor(rank, extra), odd_survivor(across(rank, distance), extra), bytes);
    }
  }
  for (Rank even = 0; even < 2 * extra; even += 2) {
    if (blocks.size(even) > 0) sends.add(even + 1, even, blocks.size(even));
  }
}

void reduce_scatter_recursive_doubling(const Call& call, const Sends& sends) {
  const Blocks blocks(call.bytes, call.element, call.ranks);
  // Everything but the blocks of the ranks first .. first + distance - 1.
  const auto outside = [&](std::int64_t first, std::int64_t distance) {
    const std::int64_t end = std::min<std::int64_t>(first + distance, call.ranks);
    return blocks.offset(call.ranks) - (blocks.offset(end) - blocks.offset(std::min<std::int64_t>(first, end)));
  };
  for (std::int64_t wide = 1; wide < call.ranks; wide *= 2) {
    const auto distance = static_cast<Rank>(wide);
    for (Rank rank = 0; rank < call.ranks; ++rank) {
      const Rank own = group_start(rank, distance);
      const Rank other = across(own, distance);
      if (across(rank, distance) < call.ranks) sends.add(rank, across(rank, distance), outside(own, distance));
      if (std::int64_t{other} + distance <= call.ranks) continue;
      // The partner subtree is incomplete: ranks that have received pass on what they got.
      for (Rank step = distance / 2; step > 0; step /= 2) {
        const std::int64_t served =
            std::int64_t{group_start(rank, 2 * std::int64_t{step})} + call.ranks - own - distance;
        const Rank partner = across(rank, step);
        if (partner > rank && rank < served && partner >= served) sends.add(rank, partner, outside(other, distance));
      }
    }
  }
}

void reduce_scatter_butterfly(const Call& call, const Sends& sends) { butterfly(call, sends, true); }

void reduce_scatter_block_butterfly(const Call& call, const Sends& sends) {
  butterfly(call, sends, !is_power_of_two(call.ranks));
}

}  // namespace ranktree::core::pattern::expansion
