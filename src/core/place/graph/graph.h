// The graphs that the engine works on: vertices stand for one rank, or for several that were merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"

namespace ranktree::core::place::engine {

using Vertex = std::int32_t;

template <class Weight>
struct BasicArc {
  Vertex to;
  Weight weight;
};

// Leaves new elements unwritten: the code that makes a vector larger must write them all.
template <class Element>
struct Unwritten : std::allocator<Element> {
  template <class Other>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = Unwritten<Other>;
  };
  template <class Other>
  void construct(Other* place) noexcept {
    ::new (static_cast<void*>(place)) Other;
  }
  template <class Other, class... Arguments>
  void construct(Other* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) Other(std::forward<Arguments>(arguments)...);
  }
};

template <class Weight>
using BasicArcs = std::vector<BasicArc<Weight>, Unwritten<BasicArc<Weight>>>;

// CSR; each edge is stored from both ends with the same weight; no self loops.
template <class Weight>
struct BasicGraph {
  std::vector<std::int64_t> offset{0};
  BasicArcs<Weight> arcs;
  std::vector<std::int32_t> size;  // ranks that each vertex stands for

  [[nodiscard]] Vertex vertices() const { return static_cast<Vertex>(size.size()); }
  [[nodiscard]] std::span<const BasicArc<Weight>> arcs_of(Vertex vertex) const {
    const auto begin = offset[static_cast<std::size_t>(vertex)];
    const auto end = offset[static_cast<std::size_t>(vertex) + 1];
    return {arcs.data() + begin, static_cast<std::size_t>(end - begin)};
  }
  // Vertices with more arcs have far more than others: to move one takes long.
  [[nodiscard]] std::size_t hub_degree() const { return 8 * arcs.size() / std::max<std::size_t>(1, size.size()) + 16; }
};

// The graph on which costs are computed.
using Arc = BasicArc<double>;
using Graph = BasicGraph<double>;

// The graph that is divided: half the memory, with weights rounded to 24 bits, which suffices to compare cuts.
using GuideArc = BasicArc<float>;
using Guide = BasicGraph<float>;

// Vertices of the same part become one; arcs inside a part vanish, parallel ones add up. O(vertices + arcs).
Graph contract(const Graph& graph, std::span<const Vertex> part_of, Vertex parts, Workers& workers);
Guide contract(const Guide& graph, std::span<const Vertex> part_of, Vertex parts, Workers& workers);

// A graph, and the name of each vertex in the graph that it is a piece of.
struct Piece {
  Guide graph;
  std::vector<Vertex> name;
};

// The weight of the arcs between parts, each from both ends. O(arcs).
double cut_of(const Guide& graph, std::span<const Vertex> part_of);

// The weight of all arcs of each vertex. O(arcs).
std::vector<double> totals_of(const Guide& graph, Workers& workers);

// The same graph, scaled so that the heaviest arc is about 1; vertices keep their numbers as names. O(vertices + arcs).
Piece guide_of(const Graph& graph, Workers& workers);

// The pieces into which `part_of` cuts a graph, with vertices in their order; arcs between pieces are dropped. `name`
// has the names of the graph's vertices. O(vertices + arcs + parts).
std::vector<Piece> pieces_of(const Guide& graph, std::span<const Vertex> name, std::span<const Vertex> part_of,
                             Vertex parts, Workers& workers);

// Shuffles vertices that are in the order of memory. Many are shuffled in runs only, and the runs among each other, so
// that consecutive visits are often near in memory.
void shuffle(std::vector<Vertex>& order, Random& random);

}  // namespace ranktree::core::place::engine
