// Multilevel bisection: coarsen, divide the smallest graph, refine on the way back.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {

// G. Karypis and V. Kumar. A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs. SIAM J. Sci.
// Comput. 20(1), 1998. The window is kept exactly where the vertices' sizes allow it: always when they are all 1.
// Keeps memory between calls.
class Bisection {
 public:
  explicit Bisection(const Effort& effort) : effort_(effort), random_(0) {}

  // What follows depends on the seed only, not on what went before.
  void reseed(std::uint64_t seed) { random_ = Random(seed); }

  // A division of its own; `aim` is what side 0 grows to at first. The best of effort.repeats.
  Sides divide(const Graph& graph, Window window, std::int64_t aim);
  // Tries to make a division within the window better; keeps it otherwise. True when it did.
  bool improve(const Graph& graph, Window window, Sides& sides);

 private:
  struct Sized {
    Graph graph;
    std::vector<Vertex> part_of;  // of the vertices of the graph before it
  };
  std::vector<Sized> coarsen(const Graph& graph, const Sides* sides);
  Vertex next_to_grow(const Sides& sides, std::size_t first, std::size_t& scanned);
  void join_side(const Graph& graph, Vertex vertex, Sides& sides);
  void grow(const Graph& graph, std::int64_t aim, Sides& sides);
  void first_division(const Graph& graph, Window window, std::int64_t aim, Sides& sides);
  double refine_upwards(const Graph& graph, const std::vector<Sized>& sizes, Window window, Sides& sides);
  double divide_once(const Graph& graph, Window window, std::int64_t aim, Sides& sides);

  const Effort& effort_;
  Random random_;
  Refinement refinement_;
  VertexHeap heap_;
  std::vector<double> tie_;
  std::vector<std::uint8_t> refused_;
};

}  // namespace ranktree::core::place::engine
