// Refinement of a division in two by moving one vertex at a time, with an exact balance at the end.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/place/engine/effort.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/vertex_heap.h"

namespace ranktree::core::place::engine {

using Sides = std::vector<std::uint8_t>;  // by vertex: 0 or 1

// What the vertices on side 0 may weigh together.
struct Window {
  std::int64_t least = 0;
  std::int64_t most = 0;
  [[nodiscard]] std::int64_t excess(std::int64_t size) const {
    return size < least ? least - size : size > most ? size - most : 0;
  }
  [[nodiscard]] Window widened(std::int64_t by) const { return {least - by, most + by}; }
};

std::int64_t size_of_side_zero(const Graph& graph, const Sides& sides);
double cut_of(const Graph& graph, const Sides& sides);

// C. M. Fiduccia and R. M. Mattheyses. A Linear-Time Heuristic for Improving Network Partitions. DAC 1982. Gains are
// cached and kept in two heaps; a pass may leave the window by `slack`, its best prefix is kept: the smallest excess
// over the window, then the smallest cut. Ties go to what the heaps give, the same for the same input.
class Refinement {
 public:
  // Keeps memory between calls. O(passes x (vertices + arcs log vertices)).
  double run(const Graph& graph, Window window, std::int64_t slack, const Effort& effort, int passes, Sides& sides);

 private:
  void open_pass();
  bool pass(const Effort& effort);
  [[nodiscard]] int side_to_leave() const;
  [[nodiscard]] bool may_leave(int side) const;
  void move(Vertex vertex);

  const Graph* graph_ = nullptr;
  Sides* sides_ = nullptr;
  Window window_;
  std::int64_t slack_ = 0;
  std::int64_t size_ = 0;  // of side 0
  double cut_ = 0;
  std::vector<double> gain_;
  std::array<VertexHeap, 2> heaps_;
  std::array<std::vector<Vertex>, 2> first_;
  std::vector<std::uint8_t> locked_;
  std::vector<Vertex> moved_;
};

}  // namespace ranktree::core::place::engine
