#include "core/place/order/ordered.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/scale.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/exact/exact_search.h"
#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Affinity;
using pattern::Rank;
using Colour = std::uint64_t;

[[noreturn]] void refuse(Rank rank, const std::string& text) {
  throw Error(Fault::kInput, "pattern: rank " + std::to_string(rank) + ": " + text);
}

double largest_weight(const pattern::Affinity& affinity, Rank first, Rank last) {
  double largest = 0;
  for (Rank rank = first; rank < last; ++rank) {
    for (const double weight : affinity.weights_of(rank)) {
      if (!std::isfinite(weight) || weight < 0) {
        refuse(rank, "expected a finite weight, at least 0, found " + std::to_string(weight));
      }
      largest = std::max(largest, weight);
    }
    for (const Rank other : affinity.neighbours(rank)) {
      if (other >= 0 && other < affinity.ranks) continue;
      refuse(rank,
             "expected a neighbour in 0.." + std::to_string(affinity.ranks - 1) + ", found " + std::to_string(other));
    }
  }
  return largest;
}

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

double largest_weight(const pattern::Affinity& affinity, Workers& workers) {
  constexpr std::int64_t kBlocks = 16;
  std::array<double, kBlocks> largest{};
  workers.for_each(kBlocks, static_cast<std::int64_t>(affinity.indices.size() / 4), [&](int block) {
    const auto first = static_cast<Rank>(block * std::int64_t{affinity.ranks} / kBlocks);
    const auto last = static_cast<Rank>((block + 1) * std::int64_t{affinity.ranks} / kBlocks);
    largest.at(at(block)) = largest_weight(affinity, first, last);
  });
  return *std::max_element(largest.begin(), largest.end());
}

// Each vertex appends itself to the lists of its neighbours, so that all lists ascend, whatever the numbering.
Graph graph_of(const pattern::Affinity& affinity, const std::vector<Rank>& order, double largest) {
  const double scale = scale_for_sums(largest);
  const std::size_t count = order.size();
  std::vector<Vertex> vertex_of(count);
  for (std::size_t i = 0; i < count; ++i) vertex_of[at(order[i])] = static_cast<Vertex>(i);
  const auto for_each_arc = [&](auto visit) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto neighbours = affinity.neighbours(order[i]);
      const auto weights = affinity.weights_of(order[i]);
      for (std::size_t j = 0; j < neighbours.size(); ++j) {
        if (neighbours[j] == order[i] || weights[j] <= 0) continue;
        visit(at(vertex_of[at(neighbours[j])]), Arc{static_cast<Vertex>(i), weights[j] * scale});
      }
    }
  };
  Graph graph;
  graph.size.assign(count, 1);
  graph.offset.assign(count + 1, 0);
  for_each_arc([&](std::size_t vertex, const Arc&) { ++graph.offset[vertex + 1]; });
  for (std::size_t vertex = 0; vertex < count; ++vertex) graph.offset[vertex + 1] += graph.offset[vertex];
  graph.arcs.resize(at(graph.offset.back()));
  std::vector<std::int64_t> next(graph.offset.begin(), graph.offset.end() - 1);
  for_each_arc([&](std::size_t vertex, const Arc& arc) { graph.arcs[at(next[vertex]++)] = arc; });
  return graph;
}

Ordered put_in_order(const pattern::Affinity& affinity, Workers& workers) {
  Ordered found;
  const double largest = largest_weight(affinity, workers);
  if (largest == 0) return found;
  // The exact solver decides there: among equals it decides alike whatever the unit of the weights.
  if (affinity.ranks <= exact::kMostRanks) {
    found.order.resize(static_cast<std::size_t>(affinity.ranks));
    std::iota(found.order.begin(), found.order.end(), 0);
  } else {
    found.order = structural_order(affinity, workers);
  }
  found.graph = graph_of(affinity, found.order, largest);
  found.lattice = find_lattice(found.graph, workers);
  if (!found.lattice) return found;
  std::vector<Rank> rows;  // row by row, which is the same however ranks are numbered
  rows.reserve(found.order.size());
  for (Vertex& vertex : found.lattice->vertex_at) {
    rows.push_back(found.order[at(vertex)]);
    vertex = static_cast<Vertex>(rows.size()) - 1;
  }
  found.order = std::move(rows);
  found.graph = graph_of(affinity, found.order, largest);
  return found;
}

}  // namespace ranktree::core::place::engine
