// Hierarchical multisection: from the root down, the ranks of a subtree are divided among its children, each taking no
// more than it has seats.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/place/engine/bisection.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {

// How ranks use a machine with seats to spare.
enum class Spread : std::uint8_t {
  kPacked,  // as few subtrees as hold them, the largest first
  kLoose    // whichever cut is the smallest
};

class Multisection {
 public:
  // `keep_going`, if there is one, is asked before each division; after a false the remaining ranks sit as they come.
  Multisection(const SeatTree& tree, const Effort& effort, Spread spread, const std::function<bool()>& keep_going)
      : tree_(tree), effort_(effort), spread_(spread), keep_going_(keep_going), bisection_(effort) {}

  // The seat of each vertex; all of size 1, no more than seats.
  std::vector<SeatTree::Seat> place(const Piece& guide, std::uint64_t seed);

 private:
  struct Child {
    SeatTree::Group group;
    std::int64_t capacity;
  };
  Sides best_division(const Guide& graph, Window window, std::int64_t aim);
  [[nodiscard]] bool stop();
  void fill(std::span<const Child> children, Vertex first, std::span<const Vertex> name);
  [[nodiscard]] std::vector<Child> children_for(int level, SeatTree::Group group, std::int64_t ranks) const;
  void place_below(int level, SeatTree::Group group, const Guide& graph, std::span<const Vertex> name,
                   std::uint64_t seed);
  void divide(std::span<const Child> children, Vertex first, const Guide& graph, std::span<const Vertex> name,
              std::uint64_t seed);

  const SeatTree& tree_;
  const Effort& effort_;
  Spread spread_;
  const std::function<bool()>& keep_going_;
  bool stopped_ = false;
  Bisection bisection_;
  std::vector<SeatTree::Seat> seat_of_;
  std::vector<Vertex> part_of_;
};

}  // namespace ranktree::core::place::engine
