#include "core/place/engine/exact_bisection.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {
namespace {

constexpr std::size_t kMost = kExactVertices;

// Vertices are called by their places in an order, the most weight first.
class Search {
 public:
  Search(const Guide& graph, int zero, int most_steps)
      : count_(graph.size.size()), room_{zero, static_cast<int>(count_) - zero}, steps_(most_steps) {
    std::array<float, kMost> total{};
    for (std::size_t i = 0; i < count_; ++i) {
      for (const GuideArc& arc : graph.arcs_of(static_cast<Vertex>(i))) total.at(i) += arc.weight;
    }
    std::iota(order_.begin(), order_.end(), std::uint8_t{0});
    std::stable_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count_),
                     [&](std::uint8_t a, std::uint8_t b) { return total.at(a) > total.at(b); });
    std::array<std::uint8_t, kMost> place{};
    for (std::size_t i = 0; i < count_; ++i) place.at(order_.at(i)) = static_cast<std::uint8_t>(i);
    for (std::size_t i = 0; i < count_; ++i) {
      for (const GuideArc& arc : graph.arcs_of(order_.at(i))) {
        weight_[i][place[static_cast<std::size_t>(arc.to)]] = arc.weight;
      }
    }
  }

  double run(Sides& sides) {
    go(0, 0);
    for (std::size_t i = 0; i < count_; ++i) sides[order_[i]] = best_side_[i];
    return best_;
  }

 private:
  // What the vertices from `next` on cost at least: each the smaller of its ties to the two sides.
  [[nodiscard]] float least(std::size_t next) const {
    float sum = 0;
    for (std::size_t i = next; i < count_; ++i) sum += std::min(tie_[0][i], tie_[1][i]);
    return sum;
  }

  void go(std::size_t next, float cut) {
    if (next == count_) {
      best_ = cut;
      best_side_ = side_;
      return;
    }
    const std::size_t first = tie_[0][next] >= tie_[1][next] ? 0 : 1;
    for (const std::size_t side : {first, 1 - first}) {
      const bool same = next == 0 && side != first && room_[0] == room_[1];  // nobody sits, both sides look the same
      if (room_[side] == 0 || same) continue;
      if (steps_-- <= 0 && best_ < std::numeric_limits<float>::infinity()) return;
      const auto saved = tie_;
      const float here = cut + tie_[1 - side][next];
      --room_[side];
      side_[next] = static_cast<std::uint8_t>(side);
      for (std::size_t i = 0; i < kMost; ++i) tie_[side][i] += weight_[next][i];
      if (here + least(next + 1) < best_) go(next + 1, here);
      tie_ = saved;
      ++room_[side];
    }
  }

  std::size_t count_;
  std::array<int, 2> room_;
  int steps_;
  std::array<std::uint8_t, kMost> order_{};
  std::array<std::array<float, kMost>, kMost> weight_{};
  std::array<std::array<float, kMost>, 2> tie_{};  // of each vertex to those who sit on a side
  std::array<std::uint8_t, kMost> side_{}, best_side_{};
  float best_ = std::numeric_limits<float>::infinity();
};

}  // namespace

double bisect_exactly(const Guide& graph, int zero, int most_steps, Sides& sides) {
  sides.assign(graph.size.size(), 0);
  return Search(graph, zero, most_steps).run(sides);
}

}  // namespace ranktree::core::place::engine
