#include "core/place/order/structural_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
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

  // Each round doubles the distance that a colour depends on. It adds, so that the order of partners does not matter.
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
    const auto end_of = [&](std::size_t first) {
      std::size_t last = first;
      while (last < all.size() && all[last].first == all[first].first) ++last;
      return last;
    };
    std::vector<std::size_t> place(all.size() + 2, 0);  // by how many share a colour: where the next of those goes
    colours_ = 0;
    for (std::size_t first = 0, last = 0; first < all.size(); first = last, ++colours_) {
      last = end_of(first);
      place[last - first + 1] += last - first;
    }
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<Rank> order(all.size());
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
      last = end_of(first);
      std::size_t& next = place[last - first];
      for (std::size_t i = first; i < last; ++i) order[next++] = all[i].second;
    }
    return order;
  }

  // True when most colours had one rank only at the last rarest_first().
  [[nodiscard]] bool distinguished() const { return 2 * colours_ > colour_.size(); }

  // Mixes into each colour the distance from `start`, and from two more ranks that are as far from those before as any.
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
  // Ranks by colour, then by number. Colours are as good as random, so their first bits choose evenly filled buckets.
  [[nodiscard]] std::vector<std::pair<Colour, Rank>> by_colour() const {
    const int bits = std::clamp(static_cast<int>(std::bit_width(colour_.size())) - 4, 1, 16);
    const auto bucket_of = [&](Colour colour) { return static_cast<std::size_t>(colour >> (64U - at(bits))); };
    std::vector<std::size_t> end((std::size_t{1} << at(bits)) + 1, 0);  // of the buckets before each
    for (const Colour colour : colour_) ++end[bucket_of(colour) + 1];
    std::partial_sum(end.begin(), end.end(), end.begin());
    std::vector<std::pair<Colour, Rank>> all(colour_.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[end[bucket_of(colour_[i])]++] = {colour_[i], static_cast<Rank>(i)};
    }
    // Now each bucket's own end; those whose colours are all alike are in order already.
    workers_.for_ranges(end.size() - 1, static_cast<std::int64_t>(4 * all.size()),
                        [&](std::size_t first, std::size_t last) {
                          for (std::size_t i = first; i < last; ++i) {
                            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i == 0 ? 0 : end[i - 1]);
                            const auto stop = all.begin() + static_cast<std::ptrdiff_t>(end[i]);
                            if (!std::is_sorted(begin, stop)) std::sort(begin, stop);
                          }
                        });
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

  // Whether a partner was reached before is a coin toss: without a branch.
  [[nodiscard]] std::vector<Rank> distances_from(Rank start) const {
    std::vector<Rank> distance(colour_.size(), -1);
    std::vector<Rank> queue(colour_.size() + 1);
    std::size_t end = 0;
    queue[end++] = start;
    distance[at(start)] = 0;
    for (std::size_t next = 0; next < end; ++next) {
      const Rank further = distance[at(queue[next])] + 1;
      for (const Rank partner : affinity_.neighbours(queue[next])) {
        const Rank known = distance[at(partner)];
        distance[at(partner)] = known < 0 ? further : known;
        queue[end] = partner;
        end += known < 0 ? 1 : 0;
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
  // For more ranks the order matters less, and every round reads memory beyond the caches.
  constexpr Rank kMany = 131072;
  Structure structure(affinity, workers);
  const bool many = affinity.ranks > kMany;
  structure.refine(many ? 1 : 3);
  std::vector<Rank> starts = structure.rarest_first();
  if (!many && !structure.distinguished()) {
    structure.look_from(starts.front());
    structure.refine(2);
    const Rank first = starts.front();
    starts = structure.rarest_first();
    starts.insert(starts.begin(), first);
  }
  return structure.breadth_first(starts);
}

}  // namespace ranktree::core::place::engine
