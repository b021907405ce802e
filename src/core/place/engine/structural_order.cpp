#include "core/place/engine/structural_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Affinity;
using pattern::Rank;
using Colour = std::uint64_t;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Colour mixed(Colour colour) { return Random(colour).next(); }

class Structure {
 public:
  Structure(const Affinity& affinity, Workers& workers)
      : affinity_(affinity), workers_(workers), colour_(at(affinity.ranks), 1), next_(colour_) {}

  // Twice as far with each round: sums, so that the order of partners does not matter.
  void refine(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      workers_.for_ranges(colour_.size(), static_cast<std::int64_t>(affinity_.indices.size()),
                          [&](std::size_t first, std::size_t last) {
                            for (std::size_t i = first; i < last; ++i) next_[i] = refined(static_cast<Rank>(i));
                          });
      std::swap(colour_, next_);
    }
  }

  // Ranks by how many share their colour, then by colour, then by number.
  [[nodiscard]] std::vector<Rank> rarest_first() {
    const std::vector<std::pair<Colour, Rank>> all = by_colour();
    std::vector<Rank> sharing(all.size());  // by rank: how many have its colour
    colours_ = 0;
    for (std::size_t first = 0; first < all.size(); ++colours_) {
      std::size_t last = first;
      while (last < all.size() && all[last].first == all[first].first) ++last;
      for (std::size_t i = first; i < last; ++i) sharing[at(all[i].second)] = static_cast<Rank>(last - first);
      first = last;
    }
    std::vector<Rank> order;
    order.reserve(all.size());
    for (const auto& entry : all) order.push_back(entry.second);
    std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return sharing[at(a)] < sharing[at(b)]; });
    return order;
  }

  // When they were last put in order, most colours were of one rank only.
  [[nodiscard]] bool told_apart() const { return 2 * colours_ > colour_.size(); }

  // Colours know their distance from `start`, and from two more that are as far from those before as any.
  void look_from(Rank start) {
    constexpr int kMarks = 3;
    std::vector<Rank> least(colour_.size(), std::numeric_limits<Rank>::max());
    for (int mark = 0; mark < kMarks; ++mark) {
      const std::vector<Rank> distance = distances_from(start);
      for (std::size_t i = 0; i < colour_.size(); ++i) {
        least[i] = std::min(least[i], distance[i]);
        colour_[i] = mixed(colour_[i] + static_cast<Colour>(distance[i]));
      }
      for (Rank rank = 0; rank < affinity_.ranks; ++rank) {
        const auto better = least[at(rank)] != least[at(start)] ? least[at(rank)] > least[at(start)]
                                                                : colour_[at(rank)] < colour_[at(start)];
        if (better) start = rank;
      }
    }
  }

  // Breadth first from the first of `starts`, then from the first not reached.
  [[nodiscard]] std::vector<Rank> breadth_first(const std::vector<Rank>& starts) const {
    std::vector<Rank> order;
    order.reserve(colour_.size());
    std::vector<std::uint8_t> seen(colour_.size(), 0);
    for (const Rank start : starts) {
      if (std::exchange(seen[at(start)], std::uint8_t{1}) != 0) continue;
      order.push_back(start);
      for (std::size_t next = order.size() - 1; next < order.size(); ++next) {
        const std::size_t begin = order.size();
        for (const Rank partner : affinity_.neighbours(order[next])) {
          if (std::exchange(seen[at(partner)], std::uint8_t{1}) == 0) order.push_back(partner);
        }
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end(), [&](Rank a, Rank b) {
          return colour_[at(a)] != colour_[at(b)] ? colour_[at(a)] < colour_[at(b)] : a < b;
        });
      }
    }
    return order;
  }

 private:
  [[nodiscard]] std::vector<std::pair<Colour, Rank>> by_colour() {
    std::vector<std::pair<Colour, Rank>> all(colour_.size());
    const auto half = [&](int i) { return all.begin() + static_cast<std::ptrdiff_t>(at(i) * all.size() / 2); };
    workers_.for_each(2, static_cast<std::int64_t>(4 * all.size()), [&](int i) {
      for (auto entry = half(i); entry != half(i + 1); ++entry) {
        const auto rank = static_cast<Rank>(entry - all.begin());
        *entry = {colour_[at(rank)], rank};
      }
      std::sort(half(i), half(i + 1));
    });
    std::inplace_merge(all.begin(), half(1), all.end());
    return all;
  }

  [[nodiscard]] Colour refined(Rank rank) const {
    Colour sum = mixed(colour_[at(rank)]);
    const auto partners = affinity_.neighbours(rank);
    const auto weights = affinity_.weights_of(rank);
    for (std::size_t i = 0; i < partners.size(); ++i) {
      if (partners[i] == rank || weights[i] <= 0) continue;
      sum += mixed(colour_[at(partners[i])] ^ std::bit_cast<Colour>(weights[i]));
    }
    return sum;
  }

  [[nodiscard]] std::vector<Rank> distances_from(Rank start) const {
    std::vector<Rank> distance(colour_.size(), -1);
    std::vector<Rank> queue{start};
    queue.reserve(colour_.size());
    distance[at(start)] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const Rank partner : affinity_.neighbours(queue[next])) {
        if (distance[at(partner)] >= 0) continue;
        distance[at(partner)] = distance[at(queue[next])] + 1;
        queue.push_back(partner);
      }
    }
    return distance;
  }

  const Affinity& affinity_;
  Workers& workers_;
  std::vector<Colour> colour_, next_;
  std::size_t colours_ = 0;  // different ones
};

}  // namespace

std::vector<Rank> structural_order(const Affinity& affinity, Workers& workers) {
  if (affinity.ranks == 0) return {};
  // Of more ranks it matters less how each is called, and every round passes over memory that no cache holds.
  constexpr Rank kMany = 131072;
  Structure structure(affinity, workers);
  const bool many = affinity.ranks > kMany;
  structure.refine(many ? 1 : 3);
  std::vector<Rank> starts = structure.rarest_first();
  if (!many && !structure.told_apart()) {
    structure.look_from(starts.front());
    structure.refine(2);
    const Rank first = starts.front();
    starts = structure.rarest_first();
    starts.insert(starts.begin(), first);
  }
  return structure.breadth_first(starts);
}

}  // namespace ranktree::core::place::engine
