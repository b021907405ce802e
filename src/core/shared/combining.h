// Operations that combine operands, always in the order of ranks: the result of a rank's element is the same bits
// wherever it is computed, and the operation need not be commutative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/shared/team.h"

namespace ranktree::core::shared {

// inout = in (op) inout, element by element. May throw: the team is of no use afterwards.
struct Combine {
  void (*call)(void* caller, const std::byte* in, std::byte* inout, std::size_t elements) = nullptr;
  void* caller = nullptr;
  std::size_t element = 1;  // bytes; at most a team's cell. The same on all ranks
  // Operands begin so many bytes behind where memory for any type may begin. Less than Team::kAlignment; the same on
  // all ranks.
  std::size_t ahead = 0;
};

// The operand may be the output.
struct Operand {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;  // where there is a result on this rank
  std::size_t elements = 0;
};

// Reduce and allreduce. Each rank that wants the result combines a small vector whole; of a large one each rank
// combines a slice for all. Where ranks have different numbers of elements, those that all have are combined, and the
// rest of an output stays as it is.
class Reduction : public Call {
 public:
  bool progress() override;
  // Elements at the beginning of the output that have got their final value.
  [[nodiscard]] std::size_t completed() const { return completed_; }

 protected:
  Reduction(Team& team, const Operand& operand, const Combine& combine, bool wants);

 private:
  friend class Call;
  bool put();
  bool merge();
  bool take();
  bool last();
  void learn();
  [[nodiscard]] std::size_t elements_now() const;
  [[nodiscard]] std::byte* operand_in(int index) const { return cell(index) + combine_.ahead; }

  Operand operand_;
  Combine combine_;
  bool wants_;            // the result
  std::size_t elements_;  // that all ranks have, as far as this one knows
  bool mixed_ = false;    // they differ
  std::size_t per_round_;
  std::size_t before_ = 0;
  std::size_t completed_ = 0;
};

class Reduce final : public Reduction {
 public:
  Reduce(Team& team, int root, const Operand& operand, const Combine& combine)
      : Reduction(team, operand, combine, team.rank() == root) {}
};

class Allreduce final : public Reduction {
 public:
  Allreduce(Team& team, const Operand& operand, const Combine& combine) : Reduction(team, operand, combine, true) {}
};

// Rank r gets block r of the result. The operand's output is the block; `elements` of it are all of the operand's.
// Where ranks have different blocks nothing is combined, and all of them find it truncated.
class ReduceScatter final : public Call {
 public:
  // `starts`: where each rank's block begins, in elements, and where the last ends; ranks + 1 numbers.
  ReduceScatter(Team& team, const Operand& operand, std::span<const std::size_t> starts, const Combine& combine);
  // As a Reduction's.
  [[nodiscard]] std::size_t completed() const { return completed_; }
  bool progress() override;

 private:
  friend class Call;
  bool put();
  bool take();
  bool last();
  [[nodiscard]] std::size_t elements_now(int rank) const;
  [[nodiscard]] std::size_t signature() const;
  [[nodiscard]] std::byte* operand_in(int index) const { return cell(index) + combine_.ahead; }

  Operand operand_;
  std::span<const std::size_t> starts_;
  Combine combine_;
  std::size_t largest_;    // block
  std::size_t per_round_;  // elements of each block
  std::size_t before_ = 0;
  std::size_t completed_ = 0;
};

}  // namespace ranktree::core::shared
