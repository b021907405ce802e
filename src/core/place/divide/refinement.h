// Refines a bisection by moving one vertex at a time, with an exact balance at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/workers.h"
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

}  // namespace ranktree::core::place::engine
