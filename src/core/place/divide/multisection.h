// Hierarchical multisection: from the root down, divides the ranks of each subtree among its children, at most as many
// to a child as it has slots.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/workers.h"
#include "core/place/divide/annealing.h"
#include "core/place/divide/bisection.h"
#include "core/place/engine/context.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// How ranks use a machine with slots to spare.
enum class Spread : std::uint8_t {
  kPacked,  // on as few subtrees as hold them, the largest first
  kLoose    // wherever the cut is the smallest
};

// Subtrees and repeated attempts are shared among the workers. Each has a seed by its position in the tree, so that the
// result does not depend on the threads. When the workers are to stop, the remaining ranks are placed in order.
class Multisection {
 public:
  Multisection(const SlotTree& tree, const Context& context, Spread spread, Workers& workers)
      : tree_(tree), context_(context), spread_(spread), workers_(workers), bisections_(workers) {}

  // The slot of each vertex; all of size 1, no more than slots.
  std::vector<SlotTree::Slot> place(const Piece& guide, std::uint64_t seed);

 private:
  struct Child {
    SlotTree::Group group;
    std::int64_t capacity;
    Vertex index = 0;  // among the children that get ranks
  };
  // Of one object's ranks among its children. Each has its own: what other subtrees find depends on the threads.
  struct Division {
    std::vector<Vertex> part_of;          // the child of each vertex, by its index
    std::atomic<bool> unsettled = false;  // here or further out the two best cuts of some bisection differ clearly
  };
  [[nodiscard]] std::vector<Child> children_for(int level, SlotTree::Group group, std::int64_t ranks) const;
  static void fill(std::span<const Child> children, std::span<const Vertex> name, std::vector<Vertex>& part_of);
  Sides best_division(const Guide& graph, Window window, std::int64_t aim, std::uint64_t seed,
                      std::atomic<bool>& unsettled);
  void divide(std::span<const Child> children, const Guide& graph, std::span<const Vertex> name, std::uint64_t seed,
              Division& result, Piece* spent = nullptr);
  void divide_all(std::span<const Child> children, const Guide& graph, std::uint64_t seed, Division& result);
  void divide_among(std::span<const Child> children, const Guide& graph, std::uint64_t seed, Division& result);
  void regroup_parts(std::span<const Child> children, const Guide& graph, std::uint64_t seed, Division& result);
  [[nodiscard]] AnnealingEffort annealing_of(int level, std::uint64_t seed) const;
  void place_below(int level, SlotTree::Group group, const Piece& piece, std::uint64_t seed, bool unsettled);

  const SlotTree& tree_;
  const Context& context_;
  Spread spread_;
  Workers& workers_;
  Bisections bisections_;
  bool hubs_ = false;  // in what is divided
  std::vector<SlotTree::Slot> slot_of_;
};

}  // namespace ranktree::core::place::engine
