#include "core/place/engine/exact_bisection.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {
namespace {

constexpr std::size_t kMost = kExactVertices;

using Ties = std::array<float, kMost>;

// Vertices are called by their places in an order; they are seated in that order.
class Search {
 public:
  Search(const Guide& graph, int zero, int most_steps)
      : count_(graph.size.size()), room_{zero, static_cast<int>(count_) - zero}, steps_(most_steps) {
    std::array<Ties, kMost> between{};
    for (std::size_t i = 0; i < count_; ++i) {
      for (const GuideArc& arc : graph.arcs_of(static_cast<Vertex>(i))) {
        between.at(i).at(static_cast<std::size_t>(arc.to)) = arc.weight;
      }
    }
    choose_order(between);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = i + 1; j < count_; ++j) later_[i][j] = between[order_[i]][order_[j]];
    }
  }

  double run(Sides& sides) {
    go(0, 0);
    for (std::size_t i = 0; i < count_; ++i) sides[order_[i]] = best_side_[i];
    return best_;
  }

 private:
  // The most weight first, then always who is tied most to those before (ties: the most weight, then the first): what a
  // division costs shows early.
  void choose_order(const std::array<Ties, kMost>& between) {
    Ties total{};
    for (const Ties& row : between) {
      for (std::size_t j = 0; j < kMost; ++j) total[j] += row[j];
    }
    Ties tie{};  // to those before
    std::array<bool, kMost> chosen{};
    for (std::size_t i = 0; i < count_; ++i) {
      std::size_t next = kMost;
      for (std::size_t j = 0; j < count_; ++j) {
        if (chosen[j]) continue;
        if (next == kMost || tie[j] > tie[next] || (tie[j] == tie[next] && total[j] > total[next])) next = j;
      }
      chosen[next] = true;
      order_[i] = static_cast<std::uint8_t>(next);
      for (std::size_t j = 0; j < kMost; ++j) tie[j] += between[next][j];
    }
  }

  // What the vertices without a seat cost at least: each the smaller of its ties to the two sides. Those with a seat
  // have none, so that all are added up, four at a time.
  [[nodiscard]] static float least(const std::array<Ties, 2>& tie) {
    std::array<float, 4> sums{};
    for (std::size_t i = 0; i < kMost; i += sums.size()) {
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += std::min(tie[0][i + j], tie[1][i + j]);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // Side `full` takes no more: who is left goes to the other one.
  void finish(std::size_t next, float cut, std::size_t full) {
    for (std::size_t i = next; i < count_; ++i) cut += tie_[next][full][i];
    if (cut >= best_) return;
    best_ = cut;
    best_side_ = side_;
    for (std::size_t i = next; i < count_; ++i) best_side_[i] = static_cast<std::uint8_t>(1 - full);
  }

  void go(std::size_t next, float cut) {
    const std::array<Ties, 2>& tie = tie_[next];
    if (room_[0] == 0 || room_[1] == 0) {
      finish(next, cut, room_[0] == 0 ? 0 : 1);
      return;
    }
    std::array<Ties, 2>& after = tie_[next + 1];
    const std::size_t first = tie[0][next] >= tie[1][next] ? 0 : 1;
    for (const std::size_t side : {first, 1 - first}) {
      const bool same = next == 0 && side != first && room_[0] == room_[1];  // nobody sits, both sides look the same
      if (same) continue;
      if (steps_-- <= 0 && best_ < std::numeric_limits<float>::infinity()) return;
      const float here = cut + tie[1 - side][next];
      Ties moved = tie[side];
      for (std::size_t i = 0; i < kMost; ++i) moved[i] += later_[next][i];
      after[side] = moved;
      after[1 - side] = tie[1 - side];
      after[0][next] = after[1][next] = 0;
      if (here + least(after) >= best_) continue;
      --room_[side];
      side_[next] = static_cast<std::uint8_t>(side);
      go(next + 1, here);
      ++room_[side];
    }
  }

  std::size_t count_;
  std::array<int, 2> room_;
  int steps_;
  std::array<std::uint8_t, kMost> order_{};
  std::array<Ties, kMost> later_{};                   // weights to those who come later
  std::array<std::array<Ties, 2>, kMost + 1> tie_{};  // by who is next: of each vertex to those who sit on a side
  std::array<std::uint8_t, kMost> side_{}, best_side_{};
  float best_ = std::numeric_limits<float>::infinity();
};

}  // namespace

double bisect_exactly(const Guide& graph, int zero, int most_steps, Sides& sides) {
  sides.assign(graph.size.size(), 0);
  return Search(graph, zero, most_steps).run(sides);
}

}  // namespace ranktree::core::place::engine
