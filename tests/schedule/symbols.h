// Elements that record what they are made of: the state before a collective and the state it must produce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// Throws what is wrong at a step.
[[noreturn]] void fail(const Program& program, std::size_t step, const std::string& what);

struct Symbol {
  static constexpr std::int64_t kUndefined = -1;
  static constexpr std::int64_t kCanary = -2;  // the caller's, between blocks
  std::int64_t element = kUndefined;           // index in the vector, or in the buffer of all blocks
  std::uint64_t ranks = 0;                     // bit r: the operand of rank r is combined into it
  bool ordered = true;                         // its operands were combined in rank order
  bool operator==(const Symbol&) const = default;
};

// The buffers of one rank.
class Memory {
 public:
  std::vector<Symbol> input;
  std::vector<Symbol> output;
  std::vector<Symbol> scratch;

  // Throws for steps outside the buffers, with different counts of `from` and `into`, that write to the input, or
  // without elements unless `empty` is true.
  void check_ranges(const Program& program, bool empty) const;
  // Carries out a copy or a reduction.
  void apply(const Program& program, std::size_t step);
  // The elements that a step reads. Throws when one is undefined.
  [[nodiscard]] std::vector<Symbol> get(const Program& program, std::size_t step) const;
  void put(const Range& into, const std::vector<Symbol>& symbols);

 private:
  [[nodiscard]] const std::vector<Symbol>& buffer(Buffer which) const;
};

class Symbols {
 public:
  Symbols(const Request& request, const std::vector<bool>& in_place);
  [[nodiscard]] Memory before(const Program& program) const;
  // Throws where the output of a rank differs from the collective's result.
  void check_after(const Program& program, const Memory& memory) const;

 private:
  [[nodiscard]] bool in_place(Rank rank) const;
  [[nodiscard]] std::int64_t all() const;             // elements of all blocks, or of the vector
  [[nodiscard]] std::int64_t first(Rank rank) const;  // of a rank's block among all
  [[nodiscard]] std::int64_t output_size(Rank rank) const;
  [[nodiscard]] std::int64_t input_size(Rank rank) const;
  [[nodiscard]] std::int64_t extent() const;  // of the caller's buffer of all blocks
  void fill_all(std::vector<Symbol>& buffer, Rank owner, bool own_only) const;
  void fill_operand(std::vector<Symbol>& buffer, Rank rank) const;
  [[nodiscard]] std::vector<Symbol> expected(Rank rank) const;
  [[nodiscard]] std::vector<Symbol> expected_blocks(Rank rank) const;

  const Request& request_;
  const std::vector<bool>& in_place_;
};

}  // namespace ranktree::core::schedule
