#include "core/place/engine/coarsening.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/visiting_order.h"

namespace ranktree::core::place::engine {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 16U;  // arcs from which threads share a graph

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

// All vertices, those of low degree first, in random order within a degree. O(vertices).
void Coarsening::choose_order(Random& random) {
  constexpr std::size_t kClasses = 32;
  const std::size_t count = graph_->size.size();
  shuffled_.resize(count);
  std::iota(shuffled_.begin(), shuffled_.end(), 0);
  shuffle(shuffled_, random);
  const auto degree_class = [&](Vertex vertex) { return std::min(graph_->arcs_of(vertex).size(), kClasses - 1); };
  std::array<std::size_t, kClasses + 1> begin{};
  for (std::size_t i = 0; i < count; ++i) ++begin.at(degree_class(static_cast<Vertex>(i)) + 1);
  for (std::size_t i = 1; i <= kClasses; ++i) begin.at(i) += begin.at(i - 1);
  order_.resize(count);
  for (const Vertex vertex : shuffled_) order_[begin.at(degree_class(vertex))++] = vertex;
}

bool Coarsening::may_join(Vertex a, Vertex b) const {
  return std::int64_t{graph_->size[at(a)]} + graph_->size[at(b)] <= most_;
}

void Coarsening::join(Vertex a, Vertex b) {
  std::swap(next_[at(a)], next_[at(b)]);
  ++joined_;
}

// The largest weight for what it is worth, the first of those; 0 for who is taken. Chosen without a branch, as nobody
// can foresee who is taken.
Vertex Coarsening::heaviest_neighbour(Vertex vertex) const {
  const auto arcs = graph_->arcs_of(vertex);
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto rating =
        std::bit_cast<std::uint32_t>(arcs[i].weight * worth_[at(arcs[i].to)]);  // ordered as numbers are
    best = std::max(best, std::uint64_t{rating} << 32U | (~static_cast<std::uint32_t>(i)));
  }
  return best >> 32U == 0 ? -1 : arcs[~static_cast<std::uint32_t>(best)].to;
}

// The same of those that may join.
Vertex Coarsening::heaviest_allowed(Vertex vertex) const {
  float best = 0;
  Vertex partner = -1;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    const float rating = arc.weight * worth_[at(arc.to)];
    if (rating <= best || !may_join(vertex, arc.to)) continue;
    best = rating;
    partner = arc.to;
  }
  return partner;
}

Vertex Coarsening::best_partner(Vertex vertex) const {
  const Vertex partner = heaviest_neighbour(vertex);
  return partner < 0 || may_join(vertex, partner) ? partner : heaviest_allowed(vertex);
}

void Coarsening::join_neighbour(Vertex vertex, Vertex partner) {
  if (partner < 0) return;
  join(vertex, partner);
  worth_[at(vertex)] = worth_[at(partner)] = 0;
}

// The square's root is as good as the square, and cannot become 0.
void Coarsening::match_neighbours(std::span<const double> ties) {
  constexpr double kLeast = 1e-30;  // a quotient stays finite
  worth_.resize(graph_->size.size());
  for (std::size_t i = 0; i < worth_.size(); ++i) {
    const double size = graph_->size[i];
    worth_[i] = static_cast<float>(1 / std::sqrt(std::max(kLeast, ties[i] * size)));
  }
  if (is_shared_) {
    match_blocks();
    return;
  }
  for (const Vertex vertex : order_) {
    if (is_alone(vertex)) join_neighbour(vertex, best_partner(vertex));
  }
}

// For the vertices of a block partners are looked for at the same time; then they are joined in order. Who finds his
// taken looks again: who is free only ever become fewer, so these are the pairs that are found one by one.
void Coarsening::match_blocks() {
  constexpr std::size_t kBlocks = 24;
  constexpr int kShares = 8;  // of a block
  const std::size_t count = order_.size();
  const std::size_t block = (count + kBlocks - 1) / kBlocks;
  wish_.resize(count);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t length = std::min(block, count - begin);
    workers_.for_each(kShares, static_cast<std::int64_t>(graph_->arcs.size() / kBlocks), [&](int share) {
      const std::size_t last = begin + at(share + 1) * length / kShares;
      for (std::size_t i = begin + at(share) * length / kShares; i < last; ++i) {
        wish_[i] = is_alone(order_[i]) ? best_partner(order_[i]) : -1;
      }
    });
    for (std::size_t i = begin; i < begin + length; ++i) {
      const Vertex wish = wish_[i];
      if (wish < 0 || !is_alone(order_[i])) continue;
      join_neighbour(order_[i], is_alone(wish) ? wish : best_partner(order_[i]));
    }
  }
}

// Leaves of one star, and others whose neighbours are all taken; only the first few arcs are looked at.
void Coarsening::match_by_common_neighbour() {
  constexpr std::size_t kArcs = 4;
  std::vector<Vertex> waiting(next_.size(), -1);  // by the neighbour
  for (const Vertex vertex : order_) {
    const auto arcs = graph_->arcs_of(vertex);
    for (std::size_t i = 0; i < std::min(arcs.size(), kArcs) && is_alone(vertex); ++i) {
      const Vertex other = waiting[at(arcs[i].to)];
      if (other >= 0 && other != vertex && is_alone(other) && may_join(vertex, other)) {
        join(vertex, other);
      } else {
        waiting[at(arcs[i].to)] = vertex;
      }
    }
  }
}

// Vertices without any tie: in pairs as they come.
void Coarsening::match_isolated() {
  Vertex other = -1;
  for (const Vertex vertex : order_) {
    if (!is_alone(vertex) || !graph_->arcs_of(vertex).empty()) continue;
    if (other >= 0 && may_join(vertex, other)) {
      join(vertex, std::exchange(other, -1));
    } else {
      other = vertex;
    }
  }
}

// In the order of the vertices, so that neighbours stay near each other.
void Coarsening::number_parts(std::vector<Vertex>& part_of) const {
  part_of.resize(next_.size());
  Vertex parts = 0;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const auto vertex = static_cast<Vertex>(i);
    part_of[i] = next_[i] < vertex ? part_of[at(next_[i])] : parts++;
  }
}

// Without a branch that depends on whether the arc is new: half of them are. The weight of all.
template <class Slot>
double Coarsening::append_arcs(Vertex vertex, Vertex part, const Row<Slot>& row, std::int64_t& row_end) const {
  std::int64_t end = row_end;
  double total = 0;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    const Vertex other = row.part_of[arc.to];
    if (other == part) continue;
    Slot& slot = row.slot_of[other];
    const auto known = static_cast<std::int64_t>(slot >= row.begin);
    const std::int64_t place = end + known * (slot - end);
    GuideArc& merged = row.arcs[place];
    const std::uint32_t there = std::bit_cast<std::uint32_t>(merged.weight) & (0U - static_cast<std::uint32_t>(known));
    merged = {other, std::bit_cast<float>(there) + arc.weight};
    slot = static_cast<Slot>(place);
    end += 1 - known;
    total += arc.weight;
  }
  row_end = end;
  return total;
}

// The parts whose first vertex is one of the range, their rows from `range.begin` on; at first `range.end` says how far
// there is room. Each page is written before append_arcs() reads it: the kernel maps one twice otherwise, and the
// second time it interrupts the other threads.
template <class Slot>
void Coarsening::contract_range(Range& range, GuideArc* arcs, std::vector<Slot>& slots, Coarse& coarse) const {
  constexpr std::int64_t kPage = 4096 / sizeof(GuideArc);
  for (std::int64_t place = range.begin; place < range.end; place += kPage) arcs[place] = {};
  slots.assign(next_.size() - joined_, -1);
  std::int64_t end = range.begin;
  Vertex part = range.first_part;
  for (Vertex vertex = range.first; vertex < range.last; ++vertex) {
    const Vertex mate = next_[at(vertex)];
    if (mate < vertex) continue;
    const Row<Slot> row{coarse.part_of.data(), slots.data(), arcs, end};
    coarse.total[at(part)] = append_arcs(vertex, part, row, end);
    if (mate != vertex) coarse.total[at(part)] += append_arcs(mate, part, row, end);
    coarse.graph.size[at(part)] = graph_->size[at(vertex)] + (mate != vertex ? graph_->size[at(mate)] : 0);
    coarse.graph.offset[at(++part)] = end;
  }
  range.end = end;
}

// Ranges that take about equally long, and where each has room for all its arcs.
std::vector<Coarsening::Range> Coarsening::ranges(int count) const {
  const auto vertices = graph_->vertices();
  const auto share = static_cast<std::int64_t>(graph_->arcs.size()) / count + 1;
  std::vector<Range> ranges{{}};
  Vertex part = 0;
  std::int64_t arcs = 0;
  for (Vertex vertex = 0; vertex < vertices; ++vertex) {
    const Vertex mate = next_[at(vertex)];
    if (mate < vertex) continue;
    if (arcs >= share * static_cast<std::int64_t>(ranges.size())) {
      ranges.back().last = vertex;
      ranges.back().end = arcs;
      ranges.push_back({vertex, 0, part, arcs, 0});
    }
    arcs += static_cast<std::int64_t>(graph_->arcs_of(vertex).size());
    if (mate != vertex) arcs += static_cast<std::int64_t>(graph_->arcs_of(mate).size());
    ++part;
  }
  ranges.back().last = vertices;
  ranges.back().end = arcs;
  return ranges;
}

// Each range into memory of its own, which is then put together: the same rows as one after another.
template <class Slot>
void Coarsening::contract_ranges(std::vector<std::vector<Slot>>& slots, Coarse& coarse) {
  std::vector<Range> parts = ranges(2 * workers_.threads());
  const auto steps = static_cast<std::int64_t>(graph_->arcs.size());
  slots.resize(std::max(slots.size(), parts.size()));
  rows_.resize(graph_->arcs.size() + 1);
  workers_.for_each(static_cast<int>(parts.size()), steps,
                    [&](int i) { contract_range(parts[at(i)], rows_.data(), slots[at(i)], coarse); });
  std::int64_t arcs = 0;
  for (Range& range : parts) {
    range.place = arcs;
    arcs += range.end - range.begin;
  }
  coarse.graph.arcs.resize(at(arcs));
  workers_.for_each(static_cast<int>(parts.size()), steps, [&](int i) {
    const Range& range = parts[at(i)];
    std::copy(rows_.begin() + range.begin, rows_.begin() + range.end, coarse.graph.arcs.begin() + range.place);
    const auto last = at(i) + 1 < parts.size() ? parts[at(i) + 1].first_part : coarse.graph.vertices();
    for (Vertex part = range.first_part; part < last; ++part) {
      coarse.graph.offset[at(part) + 1] += range.place - range.begin;
    }
  });
}

template <class Slot>
void Coarsening::contract(std::vector<std::vector<Slot>>& slots, Coarse& coarse) {
  const std::size_t parts = next_.size() - joined_;
  coarse.graph.offset.resize(parts + 1);
  coarse.graph.offset[0] = 0;
  coarse.graph.size.resize(parts);
  coarse.total.resize(parts);
  if (is_shared_) {
    contract_ranges(slots, coarse);
    return;
  }
  coarse.graph.arcs.resize(graph_->arcs.size() + 1);
  Range all{0, graph_->vertices(), 0, 0, static_cast<std::int64_t>(graph_->arcs.size())};
  slots.resize(std::max<std::size_t>(slots.size(), 1));
  contract_range(all, coarse.graph.arcs.data(), slots.front(), coarse);
  coarse.graph.arcs.resize(at(all.end));
}

void Coarsening::run(const Guide& graph, std::span<const double> ties, std::int64_t most, Random& random,
                     Coarse& coarse) {
  constexpr double kFew = 2.5;  // graphs without hubs get more pairs
  constexpr std::size_t kLong = std::numeric_limits<std::int32_t>::max();
  graph_ = &graph;
  most_ = most;
  is_shared_ = workers_.threads() > 1 && graph.arcs.size() >= kMuch;
  next_.resize(graph.size.size());
  std::iota(next_.begin(), next_.end(), 0);
  joined_ = 0;
  choose_order(random);
  match_neighbours(ties);
  if (kFew * static_cast<double>(joined_) < static_cast<double>(next_.size())) {
    match_by_common_neighbour();
    match_isolated();
  }
  number_parts(coarse.part_of);
  if (graph.arcs.size() < kLong) {
    contract(slots_, coarse);
  } else {
    contract(long_slots_, coarse);
  }
}

}  // namespace ranktree::core::place::engine
