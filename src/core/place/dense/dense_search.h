// Local search on the true cost of a dense pattern, from the root down, by sums over whole groups.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_pairs.h"
#include "core/place/dense/dense_weights.h"
#include "core/place/engine/context.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

struct DenseSearch {
  const SlotTree& tree;
  const Context& context;
  Workers& workers;
  std::vector<std::uint8_t> fixed;   // ranks that stay; empty: none
  std::vector<pattern::Rank> order;  // all ranks as they are visited, which decides between what is equal
};

// The slots of ranks from those of vertices, of which vertex i is rank order[i].
std::vector<SlotTree::Slot> by_rank(std::span<const pattern::Rank> order, const std::vector<SlotTree::Slot>& slot_of);

// `slot_of` is by vertex. What subtrees hold is swapped as a whole first, then ranks change places between the children
// of each group, the highest groups first.
template <class Number>
void improve(const DenseSearch& search, const DenseWeights<Number>& weights, std::uint64_t seed,
             std::vector<SlotTree::Slot>& slot_of);

// The cost of a placement by rank, each pair once; `total` is what all pairs weigh. Only pairs within the groups below
// the root are looked at.
template <class Number>
double cost_of(const SlotTree& tree, const DenseWeights<Number>& weights, double total,
               const std::vector<SlotTree::Slot>& slot_of);

extern template void improve(const DenseSearch&, const DenseWeights<double>&, std::uint64_t,
                             std::vector<SlotTree::Slot>&);
extern template void improve(const DenseSearch&, const DenseWeights<float>&, std::uint64_t,
                             std::vector<SlotTree::Slot>&);
extern template double cost_of(const SlotTree&, const DenseWeights<double>&, double,
                               const std::vector<SlotTree::Slot>&);
extern template double cost_of(const SlotTree&, const DenseWeights<float>&, double, const std::vector<SlotTree::Slot>&);

}  // namespace ranktree::core::place::engine
