// A collective operation as plain data: for each rank the steps it does, on which elements, after which other steps.
//
// The same schedule is executed with MPI, evaluated under a cost model, and proved by simulation
// (tests/schedule/prove.h). Nothing here knows MPI, datatypes or bytes: everything is counted in elements of the
// caller's datatype, so that any datatype works, with gaps or without.
//
// What an executor must do, and all it may rely on:
//  - A step may begin once all steps it depends on are complete; dependencies are earlier steps of the same rank, found
//    from the elements that steps read and write, and from the links that messages share (links.h). Nothing else orders
//    steps, so everything that may begin can be posted as a nonblocking operation. A send is complete when its elements
//    may be overwritten.
//  - The i-th send of rank a to rank b is received by the i-th receive of b from a, in program order. Sends to one peer
//    are posted in program order, and so are receives from one peer: by MPI's rule that messages do not overtake, one
//    tag a call is enough. Steps with different peers are free.
//  - No schedule relies on buffering: it completes even when every send waits for its receive (rendezvous).
//  - Running steps in program order is fast: where a port is the bottleneck, earlier steps go first.
//  - Messages have at least one element, except in barriers, whose messages are all empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ranktree::core::schedule {

using Rank = std::int32_t;

// The buffers of one rank. makers.h lists which of them a collective has, and their lengths.
enum class Buffer : std::uint8_t {
  kInput,   // MPI's send buffer; never written
  kOutput,  // MPI's receive buffer, or the only buffer of a broadcast
  kScratch  // Program::scratch elements that the executor provides; content undefined before and after
};

// Elements first .. first+count-1 of a buffer.
struct Range {
  Buffer buffer = Buffer::kScratch;
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool operator==(const Range&) const = default;
};

// True when the ranges have an element in common.
inline bool overlap(const Range& a, const Range& b) {
  return a.buffer == b.buffer && a.count > 0 && b.count > 0 && a.first < b.first + b.count &&
         b.first < a.first + a.count;
}

// `count` elements of a range, beginning at its element `first`.
inline Range within(const Range& whole, std::int64_t first, std::int64_t count) {
  return {.buffer = whole.buffer, .first = whole.first + first, .count = count};
}

// Part `index` of `parts` whose sizes differ by one element at most, the larger ones first.
inline Range part_of(const Range& whole, std::int64_t index, std::int64_t parts) {
  const std::int64_t least = whole.count / parts;
  const std::int64_t larger = whole.count % parts;
  const std::int64_t first = least * index + (index < larger ? index : larger);
  return within(whole, first, least + (index < larger ? 1 : 0));
}

enum class Action : std::uint8_t {
  kSend,     // `from` to rank `peer`
  kReceive,  // `into` from rank `peer`
  kReduce,   // into = from (op) into, element by element: MPI_Reduce_local(from, into). `from` holds the lower ranks
  kCopy      // into = from
};

// `from` and `into` of one step have the same count and do not overlap.
struct Step {
  Action action = Action::kCopy;
  Rank peer = -1;
  Range from;
  Range into;
  std::uint32_t first_dependency = 0;  // in Program::dependencies
  std::uint32_t dependency_count = 0;
  bool operator==(const Step&) const = default;
};

// The steps of one rank.
struct Program {
  Rank rank = 0;
  std::int64_t scratch = 0;  // elements
  std::vector<Step> steps;
  std::vector<std::int32_t> dependencies;  // indices of steps, for each step ascending and all before it

  [[nodiscard]] std::span<const std::int32_t> dependencies_of(const Step& step) const {
    return std::span(dependencies).subspan(step.first_dependency, step.dependency_count);
  }
  bool operator==(const Program&) const = default;
};

// One program for each rank. Executors make only their own; tests and models make all.
using Schedule = std::vector<Program>;

}  // namespace ranktree::core::schedule
