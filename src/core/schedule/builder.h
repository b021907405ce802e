// Writes the program of one rank: steps in the order in which a sequential program would do them. The dependencies
// between steps follow from the elements they touch.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/schedule/links.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// For each part of a buffer, the step that wrote it last and the steps that have read it since.
class Accesses {
 public:
  Accesses();
  // Adds to `waits` the steps that `step` must follow when it reads or writes elements first..first+count-1.
  void read(std::int64_t first, std::int64_t count, std::int32_t step, std::vector<std::int32_t>& waits);
  void write(std::int64_t first, std::int64_t count, std::int32_t step, std::vector<std::int32_t>& waits);

 private:
  struct Piece {
    std::int32_t writer = -1;
    std::vector<std::int32_t> readers;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by first element; a piece ends where the next begins
  Pieces::iterator cut(std::int64_t at);

  Pieces pieces_;
};

class Builder {
 public:
  // `arenas` areas of scratch are used in turn, one a segment; segments s and s + arenas share theirs, so a program
  // must not come back to s once s + arenas has begun. Without `links` no message waits for its turn on a link.
  explicit Builder(Rank rank, int arenas = 1, const Links* links = nullptr);

  // A step whose range has no elements is left out.
  void send(Rank to, const Range& from);
  // To a child in a tree. On a link that they share, it waits for the sends to earlier children that forward.
  void send_to_child(Rank to, const Range& from, bool forwards);
  // One of several in a row to a rank that needs them in this order: on a shared link it waits for the one before.
  void send_in_turn(Rank to, const Range& from);
  // `after`, when given, is one more step that this one depends on, although they share no elements.
  void receive(Rank from, const Range& into, std::int32_t after = -1);
  void reduce(const Range& from, const Range& into);
  void copy(const Range& from, const Range& into);  // nothing when they are the same

  // Empty messages that depend on the given steps. Both return the index of their step.
  std::int32_t signal(Rank to, std::span<const std::int32_t> after);
  std::int32_t await(Rank from, std::span<const std::int32_t> after);

  // The index of the latest step, -1 before the first.
  [[nodiscard]] std::int32_t latest() const { return static_cast<std::int32_t>(program_.steps.size()) - 1; }

  // The steps that follow work on this segment.
  void enter(std::int64_t segment);
  // New elements in the scratch area of the current segment.
  Range scratch(std::int64_t count);

  Program take() &&;

 private:
  void add(Step step, std::vector<std::int32_t> waits);
  std::vector<std::int32_t> touch(const Step& step);
  Accesses& accesses(const Range& range) { return range.buffer == Buffer::kOutput ? output_ : scratch_; }
  void lay_out_scratch();

  // The sends to `child`, if it forwards, and those to the last child before it that does.
  struct Turn {
    Rank child = -1;
    std::vector<std::int32_t> sends;
    std::vector<std::int32_t> earlier;
  };
  struct InTurn {
    Rank to = -1;
    std::int32_t send = -1;
  };
  struct Arena {
    std::int64_t segment = 0;
    std::int64_t used = 0;
    std::int64_t most = 0;
  };
  Program program_;
  const Links* links_;
  Turn turn_;
  InTurn last_;
  Accesses output_;
  Accesses scratch_;
  std::vector<Arena> arenas_;
  std::size_t arena_ = 0;
};

}  // namespace ranktree::core::schedule
