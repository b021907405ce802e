// One collective at one size, with buffers whose right contents are known.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "core/schedule/makers.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::bench {

// Doubles that are small whole numbers, so that sums are exact in any order.
class TrialCase {
 public:
  // `bytes` is the whole vector; where there are blocks, of all of them (at least one double each).
  TrialCase(core::schedule::Collective collective, std::int64_t bytes, int root, MPI_Comm comm);

  [[nodiscard]] const collect::Operation& operation() const { return operation_; }
  // Really moved: `bytes` rounded to whole doubles and blocks.
  [[nodiscard]] std::int64_t bytes() const;
  // Inputs as they must be, outputs spoilt.
  void fill();
  // The program's next step: writes all that this rank gives, other numbers than before.
  void renew();
  // True when this rank's output is what the collective promises.
  [[nodiscard]] bool right() const;

 private:
  [[nodiscard]] bool at_root() const { return rank_ == operation_.root; }
  [[nodiscard]] bool reduces() const;
  [[nodiscard]] bool has_input() const;
  [[nodiscard]] std::int64_t input_count() const;
  [[nodiscard]] std::int64_t output_count() const;
  [[nodiscard]] double expected(std::int64_t i) const;

  collect::Operation operation_;
  int rank_ = 0;
  int ranks_ = 1;
  std::int64_t count_ = 0;  // of the vector, or of one block
  std::vector<double> input_;
  std::vector<double> output_;
};

}  // namespace ranktree::mpi::bench
