#include "core/place/spreading.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::place {
namespace {

using pattern::Rank;

constexpr std::int64_t kWork = 2'000'000;  // arcs visited for one capacity
constexpr std::int64_t kReach = 4;         // times the capacity: best on three-dimensional grids, good on others
constexpr double kRounding = 1 - 1e-9;     // of the sums
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Spreading::Spreading(const pattern::Affinity& affinity)
    : affinity_(affinity),
      reverse_(affinity.indices.size()),
      owner_(affinity.indices.size()),
      distance_(at(affinity.ranks), kInfinity),
      arc_(at(affinity.ranks), -1),
      position_(at(affinity.ranks), -1) {
  // Rows ascend, so the arcs to one rank come in the order of its own row.
  std::vector<std::int64_t> next(affinity.indptr.begin(), affinity.indptr.end() - 1);
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    for (auto arc = affinity.indptr[at(rank)]; arc < affinity.indptr[at(rank) + 1]; ++arc) {
      owner_[at(arc)] = rank;
      reverse_[at(arc)] = next[at(affinity.indices[at(arc)])]++;
    }
  }
}

double Spreading::cut(std::int64_t capacity) {
  const std::int64_t ranks = affinity_.ranks;
  const auto arcs = static_cast<std::int64_t>(affinity_.indices.size());
  if (capacity < 1 || capacity >= ranks || arcs == 0) return 0;
  load_.assign(affinity_.indices.size(), 0);
  work_ = 0;
  const double arcs_each = static_cast<double>(arcs) / static_cast<double>(ranks);
  const double work_each = arcs_each * static_cast<double>(std::min(ranks, kReach * capacity));
  const auto sources = std::clamp<std::int64_t>(static_cast<std::int64_t>(kWork / work_each), 1, ranks);
  double units = 0;
  for (std::int64_t i = 0; i < sources && work_ < 2 * kWork; ++i) {
    const auto source = static_cast<Rank>(i * ranks / sources);
    if (route(source, capacity)) units += static_cast<double>(static_cast<std::int64_t>(reached_.size()) - capacity);
  }
  return cheapest(units);
}

// Dijkstra from one rank until enough are reached; false when the whole component fits into one part.
bool Spreading::route(Rank source, std::int64_t capacity) {
  for (const Rank rank : seen_) {
    distance_[at(rank)] = kInfinity;
    position_[at(rank)] = -1;
  }
  seen_.clear();
  reached_.clear();
  heap_.clear();
  const std::size_t reach = at(std::min<std::int64_t>(affinity_.ranks, kReach * capacity));
  distance_[at(source)] = 0;
  arc_[at(source)] = -1;
  seen_.push_back(source);
  heap_.emplace_back(0, source);
  while (!heap_.empty() && reached_.size() < reach) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [distance, rank] = heap_.back();
    heap_.pop_back();
    if (position_[at(rank)] < 0) settle(rank, distance);
  }
  if (static_cast<std::int64_t>(reached_.size()) <= capacity) return false;
  for (std::size_t i = reached_.size(); i-- > 1;) {
    const Reached& one = reached_[i];
    load_[at(one.arc)] += static_cast<double>(one.units);
    reached_[at(position_[at(owner_[at(one.arc)])])].units += one.units;
  }
  return true;
}

void Spreading::settle(Rank rank, double distance) {
  position_[at(rank)] = static_cast<std::int64_t>(reached_.size());
  reached_.push_back({rank, arc_[at(rank)], 1});
  const auto begin = affinity_.indptr[at(rank)];
  const auto end = affinity_.indptr[at(rank) + 1];
  work_ += end - begin;
  for (auto arc = begin; arc < end; ++arc) {
    const Rank other = affinity_.indices[at(arc)];
    const double length = distance + 1 / affinity_.weights[at(arc)];
    if (!(length < distance_[at(other)])) continue;
    if (distance_[at(other)] == kInfinity) seen_.push_back(other);
    distance_[at(other)] = length;
    arc_[at(other)] = arc;
    heap_.emplace_back(length, other);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
}

// The least weight of pairs over which so many units are routed, parts of pairs allowed.
double Spreading::cheapest(double units) const {
  struct Pair {
    double weight;
    double load;
  };
  std::vector<Pair> pairs;
  for (std::size_t arc = 0; arc < load_.size(); ++arc) {
    if (owner_[arc] > affinity_.indices[arc]) continue;
    const double load = load_[arc] + load_[at(reverse_[arc])];
    if (load > 0) pairs.push_back({affinity_.weights[arc], load});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.weight / a.load < b.weight / b.load; });
  double weight = 0;
  for (const Pair& pair : pairs) {
    if (units <= 0) break;
    weight += pair.weight * std::min(1.0, units / pair.load);
    units -= pair.load;
  }
  return weight * kRounding;
}

}  // namespace ranktree::core::place
