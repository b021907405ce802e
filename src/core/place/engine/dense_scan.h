// One pass over a dense pattern: is it sound, what does it sum up to, and which pairs are the strongest.
#pragma once

#include <cstddef>
#include <vector>

#include "core/pattern/matrix.h"
#include "core/place/engine/graph.h"

namespace ranktree::core::place::engine {

struct DenseScan {
  double scale = 1;  // a power of two: weights times it have finite sums
  bool symmetric = true;
  bool named = false;  // ranks are told apart by what they exchange (dense_names.h)
  double total = 0;    // of all pairs, each once, both directions added, scaled
  // What every rank is tied to most strongly, less what all pairs have at least, scaled. Empty: all pairs are alike.
  Graph strongest;
  bool whole = false;  // these are known to be all pairs that weigh more than the least does
};

// Reads each entry once, in square blocks and their mirror images. A rank keeps its `strongest` pairs and those that
// another end keeps; equal ones are drawn by a hash of what both ends exchange with all (dense_names.h). O(ranks^2)
// time, O(ranks x strongest) memory. Throws Error(kInput), naming the entry, when one is negative or not finite.
template <class Number>
DenseScan scan(const pattern::MatrixView<Number>& matrix, std::size_t strongest);

extern template DenseScan scan(const pattern::MatrixView<double>& matrix, std::size_t strongest);
extern template DenseScan scan(const pattern::MatrixView<float>& matrix, std::size_t strongest);

// Two partners of a rank have hardly any other partner in common: as random weights, but neither as places that are
// near each other nor as clients that share servers. All divisions of such cost nearly the same. Looks at some ranks,
// and at some pairs of partners of each.
bool is_shapeless(const Graph& guide);

}  // namespace ranktree::core::place::engine
