#include "core/pattern/expand_trees.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/expand_call.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {
namespace {

// Returns the parent of a shifted rank in 1..ranks-1.
using Parent = Rank (*)(Rank);

Rank root_itself(Rank /*rank*/) { return 0; }
Rank predecessor(Rank rank) { return rank - 1; }
Rank without_highest_bit(Rank rank) { return rank - power_of_two(rank); }
Rank without_lowest_bit(Rank rank) { return rank - lowest_bit(rank); }

// Level l of the tree holds ranks 2^l-1 .. 2^(l+1)-2; the children of r are r + 2^l and r + 2^(l+1).
Rank level_by_level(Rank rank) {
  const Rank width = power_of_two(rank + 1);
  const Rank near = rank - width / 2;
  return near <= width - 2 ? near : rank - width;
}

constexpr Rank kRadix = 4;

Rank without_lowest_digit(Rank rank) {
  std::int64_t unit = 1;
  while (rank % (unit * kRadix) == 0) unit *= kRadix;
  return static_cast<Rank>(rank / (unit * kRadix) * (unit * kRadix));
}

Rank unshift(const Call& call, Rank rank) { return static_cast<Rank>((std::int64_t{rank} + call.root) % call.ranks); }

void down(const Call& call, const Sends& sends, Parent parent) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    sends.add(unshift(call, parent(rank)), unshift(call, rank), static_cast<double>(call.bytes));
  }
}

void up(const Call& call, const Sends& sends, Parent parent) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    sends.add(unshift(call, rank), unshift(call, parent(rank)), static_cast<double>(call.bytes));
  }
}

// The number of ranks in the subtree of a rank, itself included, in the binomial tree whose parents lack the lowest
// bit.
Rank subtree(Rank rank, Rank ranks) { return std::min(lowest_bit(rank), ranks - rank); }

// The bytes a rank owns once the root's message is cut into parts of ceil(elements / ranks) elements.
struct Parts {
  explicit Parts(const Call& call)
      : total(static_cast<double>(call.bytes)), part(static_cast<double>(elements_of_a_part(call) * call.element)) {}
  // The bytes of `count` ranks from `rank` on.
  [[nodiscard]] double of(Rank rank, Rank count) const {
    return std::clamp(total - static_cast<double>(rank) * part, 0.0, static_cast<double>(count) * part);
  }

  static std::int64_t elements_of_a_part(const Call& call) {
    return (call.bytes / call.element + call.ranks - 1) / call.ranks;
  }

  double total;
  double part;
};

void scatter_parts(const Call& call, const Sends& sends, const Parts& parts) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    const double bytes = parts.of(rank, lowest_bit(rank));
    if (bytes > 0) sends.add(unshift(call, without_lowest_bit(rank)), unshift(call, rank), bytes);
  }
}

// Recursive doubling over shifted ranks that hold one part each. Where a rank's partner does not exist, a neighbour
// that has received passes on what it got.
class DoublingParts {
 public:
  DoublingParts(const Call& call, const Sends& sends, const Parts& parts)
      : call_(call), sends_(sends), held_(at(call.ranks)), received_(at(call.ranks)) {
    for (Rank rank = 0; rank < call.ranks; ++rank) held_[at(rank)] = parts.of(rank, 1);
  }

  void run() {
    for (std::int64_t distance = 1; distance < call_.ranks; distance *= 2) {
      exchange(static_cast<Rank>(distance));
      for (Rank step = static_cast<Rank>(distance / 2); step > 0; step /= 2) {
        pass_on(static_cast<Rank>(distance), step);
      }
    }
  }

 private:
  void exchange(Rank distance) {
    const std::vector<double> before = held_;
    for (Rank rank = 0; rank < call_.ranks; ++rank) {
      const Rank partner = across(rank, distance);
      if (partner >= call_.ranks) continue;
      sends_.add(unshift(call_, rank), unshift(call_, partner), before[at(rank)]);
      received_[at(rank)] = before[at(partner)];
      held_[at(rank)] += before[at(partner)];
    }
  }

  void pass_on(Rank distance, Rank step) {
    for (Rank rank = 0; rank < call_.ranks; ++rank) {
      const Rank own_root = group_start(rank, distance);
      const Rank partner_root = across(own_root, distance);
      if (std::int64_t{partner_root} + distance <= call_.ranks) continue;
      const std::int64_t served =
          std::int64_t{group_start(rank, 2 * std::int64_t{step})} + call_.ranks - own_root - distance;
      const Rank partner = across(rank, step);
      if (partner < rank || rank >= served || partner < served) continue;
      sends_.add(unshift(call_, rank), unshift(call_, partner), received_[at(rank)]);
      received_[at(partner)] = received_[at(rank)];
      held_[at(partner)] += received_[at(rank)];
    }
  }

  const Call& call_;
  const Sends& sends_;
  std::vector<double> held_;
  std::vector<double> received_;
};

// The parent of a range of ranks is its last rank. Its left child is the rank before it, its right child the last rank
// of the first half.
void in_order_edges(Rank first, Rank ranks, const Sends& sends, double bytes) {
  const Rank parent = first + ranks - 1;
  const Rank right = ranks / 2;
  if (ranks < 2) return;
  sends.add(parent - 1, parent, bytes);
  if (ranks > 2) sends.add(first + right - 1, parent, bytes);
  in_order_edges(first + right, ranks - right - 1, sends, bytes);
  if (ranks > 2) in_order_edges(first, right, sends, bytes);
}

}  // namespace

void bcast_linear(const Call& call, const Sends& sends) { down(call, sends, root_itself); }
void bcast_chain(const Call& call, const Sends& sends) { down(call, sends, predecessor); }
void bcast_binary(const Call& call, const Sends& sends) { down(call, sends, level_by_level); }
void bcast_binomial(const Call& call, const Sends& sends) { down(call, sends, without_highest_bit); }
void bcast_binomial_in_order(const Call& call, const Sends& sends) { down(call, sends, without_lowest_bit); }
void bcast_knomial(const Call& call, const Sends& sends) { down(call, sends, without_lowest_digit); }

void bcast_split_binary(const Call& call, const Sends& sends) {
  const std::int64_t elements = call.bytes / call.element;
  if (elements < 2) {
    bcast_chain(call, sends);
    return;
  }
  const std::int64_t first_elements = (elements + 1) / 2;
  const auto first = static_cast<double>(first_elements * call.element);
  const double halves[2] = {first, static_cast<double>(call.bytes) - first};  // of odd, of even shifted ranks
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    const double half = halves[(rank + 1) % 2];
    sends.add(unshift(call, level_by_level(rank)), unshift(call, rank), half);
    const Rank neighbour = rank % 2 == 1 ? rank + 1 : rank - 1;
    if (neighbour < call.ranks) {
      sends.add(unshift(call, rank), unshift(call, neighbour), half);
    } else {
      sends.add(unshift(call, 0), unshift(call, rank), halves[1]);
    }
  }
}

void bcast_scatter_recursive_doubling(const Call& call, const Sends& sends) {
  const Parts parts(call);
  scatter_parts(call, sends, parts);
  DoublingParts(call, sends, parts).run();
}

void bcast_scatter_ring(const Call& call, const Sends& sends) {
  const Parts parts(call);
  scatter_parts(call, sends, parts);
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    const Rank next = (rank + 1) % call.ranks;
    sends.add(unshift(call, rank), unshift(call, next), parts.total - parts.of(next, 1), call.ranks - 1);
  }
}

void reduce_linear(const Call& call, const Sends& sends) { up(call, sends, root_itself); }
void reduce_chain(const Call& call, const Sends& sends) { up(call, sends, predecessor); }
void reduce_binary(const Call& call, const Sends& sends) { up(call, sends, level_by_level); }
void reduce_binomial(const Call& call, const Sends& sends) { up(call, sends, without_lowest_bit); }

void reduce_in_order_binary(const Call& call, const Sends& sends) {
  const auto bytes = static_cast<double>(call.bytes);
  in_order_edges(0, call.ranks, sends, bytes);
  if (call.root != call.ranks - 1) sends.add(call.ranks - 1, call.root, bytes);
}

void gather_linear(const Call& call, const Sends& sends) { up(call, sends, root_itself); }
void scatter_linear(const Call& call, const Sends& sends) { down(call, sends, root_itself); }

void gather_linear_sync(const Call& call, const Sends& sends) {
  for (Rank rank = 0; rank < call.ranks; ++rank) {
    if (rank == call.root) continue;
    sends.add(call.root, rank, 0);
    sends.add(rank, call.root, static_cast<double>(call.bytes), 2);
  }
}

void gather_binomial(const Call& call, const Sends& sends) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    sends.add(unshift(call, rank), unshift(call, without_lowest_bit(rank)),
              static_cast<double>(call.bytes) * subtree(rank, call.ranks));
  }
}

void scatter_binomial(const Call& call, const Sends& sends) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    sends.add(unshift(call, without_lowest_bit(rank)), unshift(call, rank),
              static_cast<double>(call.bytes) * subtree(rank, call.ranks));
  }
}

void barrier_linear(const Call& call, const Sends& sends) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    sends.add(rank, 0, 0);
    sends.add(0, rank, 0);
  }
}

void barrier_tree(const Call& call, const Sends& sends) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    sends.add(rank, without_lowest_bit(rank), 0);
    sends.add(without_lowest_bit(rank), rank, 0);
  }
}

}  // namespace ranktree::core::pattern::expansion
