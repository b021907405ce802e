// Multilevel bisection: coarsen, divide the smallest graph, refine on the way back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/divide/coarsening.h"
#include "core/place/divide/refinement.h"
#include "core/place/divide/vertex_heap.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// G. Karypis and V. Kumar. A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs. SIAM J. Sci.
// Comput. 20(1), 1998. The window is kept exactly where the vertices' sizes allow it: always when they are all 1.
// Keeps memory between calls.
class Bisection {
 public:
  explicit Bisection(Workers& workers) : workers_(workers), random_(0), coarsening_(workers), refinement_(workers) {}

  // Later results depend on the seed only, not on earlier calls.
  void reseed(std::uint64_t seed) { random_ = Random(seed); }

  // Divides the graph from scratch and returns the cut. `total`: the weight of each vertex's arcs; `aim`: the size to
  // which side 0 grows at first. When the workers are to stop, any division within the window.
  double divide(const Guide& graph, std::span<const double> total, Window window, std::int64_t aim, Sides& sides);

 private:
  static double any_division(const Guide& graph, std::int64_t aim, Sides& sides);
  bool go_on(const Guide& graph);
  const Guide& coarsen(const Guide& graph, std::size_t& level);
  bool coarsen_once(const Guide& graph, std::size_t level);
  Vertex next_to_grow(const Sides& sides, std::size_t first, std::size_t& scanned);
  void join_side(const Guide& graph, Vertex vertex, Sides& sides);
  void grow(const Guide& graph, std::size_t level, std::int64_t aim, Sides& sides);
  double first_division(const Guide& graph, std::size_t level, Window window, std::int64_t aim, Sides& sides);
  [[nodiscard]] std::span<const double> total_of(std::size_t level) const;
  double refine_projected(const Guide& finer, std::size_t level, Window window, bool known, Sides& sides);
  double refine_upwards(const Guide& graph, std::size_t coarser, Window window, Sides& sides);

  Workers& workers_;
  Random random_;
  Coarsening coarsening_;
  Refinement refinement_;
  std::deque<Coarse> coarse_;  // by level, graphs of falling size; a deque, since references to them must stay valid
  std::int64_t size_ = 0;
  std::span<const double> total_;  // weight of all arcs of each vertex of the graph itself
  std::vector<std::uint8_t> inner_;
  VertexHeap queue_;
  std::vector<double> tie_;
  std::vector<std::uint8_t> refused_;
  Sides projected_, next_;
};

// Lends bisections, with their memory, to the threads.
class Bisections {
 public:
  struct Return {
    Bisections* owner;
    void operator()(Bisection* bisection) const;
  };
  using Loan = std::unique_ptr<Bisection, Return>;

  explicit Bisections(Workers& workers) : workers_(workers) {}
  Loan lend(std::uint64_t seed);

 private:
  Workers& workers_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Bisection>> free_;
};

}  // namespace ranktree::core::place::engine
