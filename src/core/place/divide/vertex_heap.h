// A queue of vertices, the largest key first, whose keys may change and whose entries may be taken out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// The keys are the caller's; after changing one, call update(). All operations O(log entries).
class VertexHeap {
 public:
  void reset(std::size_t vertices, const double* keys) {
    heap_.clear();
    place_.assign(vertices, -1);
    keys_ = keys;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] Vertex top() const { return heap_.front(); }
  [[nodiscard]] bool holds(Vertex vertex) const { return place_[at(vertex)] >= 0; }

  void push(Vertex vertex) {
    heap_.push_back(vertex);
    place_[at(vertex)] = static_cast<Vertex>(heap_.size()) - 1;
    rise(heap_.size() - 1);
  }
  void erase(Vertex vertex) {
    const std::size_t hole = at(place_[at(vertex)]);
    place_[at(vertex)] = -1;
    const Vertex moved = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    heap_[hole] = moved;
    place_[at(moved)] = static_cast<Vertex>(hole);
    sink(rise(hole));
  }
  void update(Vertex vertex) { sink(rise(at(place_[at(vertex)]))); }

 private:
  void put(std::size_t index, Vertex vertex) {
    heap_[index] = vertex;
    place_[at(vertex)] = static_cast<Vertex>(index);
  }
  std::size_t rise(std::size_t index) {
    const Vertex vertex = heap_[index];
    const double key = keys_[vertex];
    while (index > 0 && keys_[heap_[(index - 1) / 2]] < key) {
      put(index, heap_[(index - 1) / 2]);
      index = (index - 1) / 2;
    }
    put(index, vertex);
    return index;
  }
  void sink(std::size_t index) {
    const Vertex vertex = heap_[index];
    const double key = keys_[vertex];
    while (2 * index + 1 < heap_.size()) {
      std::size_t child = 2 * index + 1;
      if (child + 1 < heap_.size() && keys_[heap_[child + 1]] > keys_[heap_[child]]) ++child;
      if (keys_[heap_[child]] <= key) break;
      put(index, heap_[child]);
      index = child;
    }
    put(index, vertex);
  }

  std::vector<Vertex> heap_;
  std::vector<Vertex> place_;  // vertex -> index in heap_, -1: not there
  const double* keys_ = nullptr;
};

}  // namespace ranktree::core::place::engine
