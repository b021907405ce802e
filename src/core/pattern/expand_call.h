// What the expansion of collective calls works on: one call, the messages it sends, and the tables that choose an
// algorithm.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern::expansion {

// One collective call. Ranks are local, 0..ranks-1; `bytes` is the message argument at one rank
// (docs/reference/formats/pattern.md).
struct Call {
  Rank ranks = 0;
  Rank root = 0;
  std::int64_t bytes = 0;
  std::int64_t element = 1;  // bytes of one element of the datatype, a guess: patterns do not record it
};

// Sums what many calls send; O(distinct pairs) memory.
class Collector {
 public:
  void add(const Entry& entry);
  // The sums, messages and bytes rounded to whole numbers, sorted by pair.
  std::vector<Entry> take();

 private:
  void compact();

  std::vector<Entry> entries_;
  std::size_t compact_at_ = 65536;
};

// How many calls the expanded call stands for, and the bytes they really moved divided by the bytes of that call.
struct Weight {
  double calls = 1;
  double bytes = 1;
};

// Receives the messages of an algorithm, in local ranks of the sending and the receiving group.
class Sends {
 public:
  Sends(Collector& collector, std::span<const Rank> from, std::span<const Rank> to, Weight weight)
      : collector_(&collector), from_(from), to_(to), weight_(weight) {}

  // `bytes` is the sum over `messages` messages.
  void add(Rank from, Rank to, double bytes, double messages = 1) const {
    collector_->add({.from = from_[static_cast<std::size_t>(from)],
                     .to = to_[static_cast<std::size_t>(to)],
                     .kind = Class::kCollective,
                     .messages = messages * weight_.calls,
                     .bytes = bytes * weight_.bytes});
  }

 private:
  Collector* collector_;
  std::span<const Rank> from_;
  std::span<const Rank> to_;
  Weight weight_;
};

using Algorithm = void (*)(const Call&, const Sends&);

// A row of a decision table: the first row with ranks < ranks_below and bytes < bytes_below applies.
struct Choice {
  std::int64_t ranks_below;
  std::int64_t bytes_below;
  Algorithm algorithm;
};

inline constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

inline Algorithm choose(std::span<const Choice> table, const Call& call, std::int64_t bytes) {
  const auto row = std::find_if(table.begin(), table.end(), [&](const Choice& choice) {
    return call.ranks < choice.ranks_below && (bytes < choice.bytes_below || choice.bytes_below == kAny);
  });
  return row == table.end() ? nullptr : row->algorithm;
}

// `count` elements cut into `parts` blocks whose sizes differ by at most one element, the larger ones first.
class Blocks {
 public:
  Blocks(std::int64_t bytes, std::int64_t element, Rank parts)
      : element_(static_cast<double>(element)), least_(bytes / element / parts), larger_(bytes / element % parts) {}

  // Bytes of the blocks before block i.
  [[nodiscard]] double offset(std::int64_t i) const {
    return (static_cast<double>(least_) * static_cast<double>(i) + static_cast<double>(std::min(i, larger_))) *
           element_;
  }
  [[nodiscard]] double size(std::int64_t i) const { return offset(i + 1) - offset(i); }

 private:
  double element_;
  std::int64_t least_;
  std::int64_t larger_;
};

inline std::int64_t elements(const Call& call) { return call.bytes / call.element; }

// Largest power of two not above `ranks`.
inline Rank power_of_two(Rank ranks) { return static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks))); }
inline bool is_power_of_two(Rank ranks) { return power_of_two(ranks) == ranks; }
inline Rank lowest_bit(Rank rank) {
  const auto bits = static_cast<std::uint32_t>(rank);
  return static_cast<Rank>(bits & (~bits + 1));
}
// For a power of two `distance`: whether the rank has that bit, the rank with that bit turned over, the first rank of
// its group of `distance` ranks.
inline bool is_upper(Rank rank, Rank distance) { return rank / distance % 2 != 0; }
inline Rank across(Rank rank, Rank distance) { return is_upper(rank, distance) ? rank - distance : rank + distance; }
inline Rank group_start(Rank rank, std::int64_t distance) { return static_cast<Rank>(rank - rank % distance); }

// bytes * parts, kept below 2^53 so that no later sum overflows.
inline std::int64_t whole(std::int64_t bytes, Rank parts) {
  constexpr std::int64_t kLargest = 9007199254740992;  // 2^53
  return bytes > kLargest / parts ? kLargest : bytes * parts;
}

// The same call with a message of another size.
inline Call with_bytes(const Call& call, std::int64_t bytes, std::int64_t element) {
  return {.ranks = call.ranks, .root = call.root, .bytes = bytes, .element = element};
}

inline Call with_root(const Call& call, Rank root) {
  return {.ranks = call.ranks, .root = root, .bytes = call.bytes, .element = call.element};
}

// The model of one library: what a call on an intracommunicator of at least two ranks sends.
void expand_openmpi(Operation operation, const Call& call, const Sends& sends);
void expand_mpich(Operation operation, const Call& call, const Sends& sends);

}  // namespace ranktree::core::pattern::expansion
