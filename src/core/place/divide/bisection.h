// Multilevel bisection: coarsen, divide the smallest graph, refine on the way back by moving one vertex at a time.
#pragma once

#include <array>
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
#include "core/place/divide/vertex_heap.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

using Sides = std::vector<std::uint8_t>;  // by vertex: 0 or 1

// The limits of the total size of the vertices on side 0.
struct Window {
  std::int64_t least = 0;
  std::int64_t most = 0;
  [[nodiscard]] std::int64_t excess(std::int64_t size) const {
    return size < least ? least - size : size > most ? size - most : 0;
  }
  [[nodiscard]] Window widened(std::int64_t by) const { return {least - by, most + by}; }
};

std::int64_t size_of_side_zero(const Guide& graph, const Sides& sides);
double cut_of(const Guide& graph, const Sides& sides);

// C. M. Fiduccia and R. M. Mattheyses. A Linear-Time Heuristic for Improving Network Partitions. DAC 1982. Gains are
// cached. Vertices wait in buckets by gain, whose widths grow with it (16 to each power of two), so that any weights
// are allowed; a bucket is a stack. A pass may leave the window by `slack`; its best prefix is kept: the smallest
// excess over the window, then the smallest cut.
class Refinement {
 public:
  explicit Refinement(Workers& workers) : workers_(workers) {}

  // Known properties of the vertices: the weight of all arcs of each; which have no arc to the other side (empty:
  // unknown); and the weight that pulls each from outside the graph to side 1, or to side 0 where it is negative
  // (empty: none). Pulls count as arcs in `total`.
  struct Known {
    std::span<const double> total;
    std::span<const std::uint8_t> inner = {};
    std::span<const double> pull = {};
  };
  // Returns the new cut. Keeps memory between calls. O(passes x vertices + arcs of vertices that move or are not known
  // to be inner).
  double run(const Guide& graph, const Known& known, Window window, std::int64_t slack, int passes, Sides& sides);
  // True when all neighbours of a vertex of the last run's graph are on its side.
  [[nodiscard]] bool is_inner(Vertex vertex) const { return is_inner(nodes_[static_cast<std::size_t>(vertex)]); }

 private:
  struct Node {
    double gain;
    float total;  // weight of all arcs
    Vertex previous, next;
    std::int16_t bucket;  // -1: does not wait
    std::uint8_t side;
    std::uint8_t locked;
  };
  static constexpr unsigned kSubBits = 4;           // buckets to a power of two, as bits
  static constexpr int kToPowerOfTwo = 16;          // the same as a number
  static constexpr int kHalf = 16 * kToPowerOfTwo;  // buckets of gains of one sign: 2^-16..1 times the largest
  static constexpr int kBuckets = 2 * kHalf;        // of a side
  static constexpr int kWords = kBuckets / 64;

  struct Side {
    std::array<Vertex, kBuckets> head;  // of what is marked
    std::array<std::uint64_t, kWords> marked{};
    int best_word = -1;  // no bucket above this word is marked
  };

  static bool is_inner(const Node& node) {
    constexpr double kNearly = 1 - 1e-6;  // for rounding
    return node.gain <= -kNearly * node.total && node.total != 0;
  }
  struct Sums {
    std::int64_t size = 0;  // of side 0
    double cut = 0;         // each arc from both ends
    double largest = 0;     // total of a vertex
    std::size_t degree = 0;
  };
  void load(const Guide& graph, const Known& known, const Sides& sides);
  Sums load(Vertex first, Vertex last, const Known& known, const Sides& sides);
  void open_pass();
  static bool hopeless(std::size_t steps, double lost, double squares);
  bool pass();
  [[nodiscard]] int bucket_of(double gain) const;
  void push(Vertex vertex, int bucket);
  void erase(Vertex vertex);
  [[nodiscard]] Vertex top(Side& side);
  [[nodiscard]] bool may_leave(Vertex vertex) const;
  [[nodiscard]] Vertex next_to_move();
  void move(Vertex vertex);
  void take_back(Vertex vertex);

  Workers& workers_;
  const Guide* graph_ = nullptr;
  Window window_;
  std::int64_t slack_ = 0;
  std::int64_t size_ = 0;  // of side 0
  double cut_ = 0;
  double inverse_of_largest_ = 1;
  std::vector<Node> nodes_;
  std::array<Side, 2> waiting_;
  std::vector<Vertex> moved_;
  struct Leaving {
    Vertex vertex;
    int bucket;  // where it goes
  };
  std::vector<Leaving> leaving_;  // neighbours of what moves
};

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
