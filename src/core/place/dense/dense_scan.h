// Checks a dense pattern before it is placed, and finds its sums and strongest pairs.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/matrix.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

struct DenseScan {
  double scale = 1;  // a power of two by which weights are multiplied, so that their sums are finite
  bool symmetric = true;
  // True where the sums of weights, and of their squares, differ for three quarters of the ranks: these sums, not the
  // numbers of ranks, then decide between equal pairs.
  bool named = false;
  double total = 0;  // of all pairs, each once, both directions added, scaled
  // The strongest pairs of every rank, less the least weight of all pairs, scaled. Empty: all pairs are alike.
  Graph strongest;
  bool whole = false;  // `strongest` has all pairs that weigh more than the least does
};

// Reads the matrix three times: in square tiles beside their mirror images, then twice row by row. A rank keeps its
// `strongest` pairs and those that another end keeps; a hash of both ends' sums decides between equal ones. O(ranks^2)
// time, which the workers share, O(ranks x strongest) memory. Throws Error(kInput), naming the entry, when one is
// negative or not finite.
template <class Number>
DenseScan scan(const pattern::MatrixView<Number>& matrix, std::size_t strongest, Workers& workers);

extern template DenseScan scan(const pattern::MatrixView<double>& matrix, std::size_t strongest, Workers& workers);
extern template DenseScan scan(const pattern::MatrixView<float>& matrix, std::size_t strongest, Workers& workers);

}  // namespace ranktree::core::place::engine
