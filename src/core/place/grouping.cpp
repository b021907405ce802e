#include "core/place/grouping.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"

namespace ranktree::core::place {
namespace {

// The matrix as rows of doubles; only used where p choose k is small, so p is.
class Dense {
 public:
  explicit Dense(const Affinity& matrix) : order_(at(matrix.ranks)), values_(order_ * order_, 0), sums_(order_, 0) {
    for (Item row = 0; row < matrix.ranks; ++row) {
      const auto columns = matrix.neighbours(row);
      const auto weights = matrix.weights_of(row);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        values_[at(row) * order_ + at(columns[i])] = weights[i];
        sums_[at(row)] += weights[i];
      }
    }
  }
  [[nodiscard]] double value(Item row, Item column) const { return values_[at(row) * order_ + at(column)]; }
  [[nodiscard]] double sum(Item row) const { return sums_[at(row)]; }

 private:
  std::size_t order_;
  std::vector<double> values_, sums_;
};

// All communication of the members less what stays inside, counted in both directions.
double group_value(const Dense& matrix, std::span<const Item> group) {
  double value = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    value += matrix.sum(group[i]);
    for (std::size_t j = 0; j < i; ++j) value -= 2 * matrix.value(group[i], group[j]);
  }
  return value;
}

// Moves to the next k-subset of 0..items-1 in lexicographic order; false after the last.
bool next_group(Group& group, Item items) {
  const auto size = static_cast<Item>(group.size());
  Item place = size - 1;
  while (place >= 0 && group[at(place)] == items - size + place) --place;
  if (place < 0) return false;
  ++group[at(place)];
  for (Item i = place + 1; i < size; ++i) group[at(i)] = group[at(i - 1)] + 1;
  return true;
}

// Group indices by ascending value; equal values keep lexicographic order.
std::vector<std::size_t> by_value(const GroupList& groups) {
  std::vector<std::size_t> order(groups.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return groups.values[a] < groups.values[b]; });
  return order;
}

// Takes every group of order[first..limit) that is compatible with those taken; stops when all items are covered. Since
// k divides p, a maximal independent set over all groups always covers everything (§4.1).
struct Selection {
  std::vector<std::size_t> groups;
  std::size_t last = 0;  // place in the order of the last group taken
  bool complete = false;
};
Selection select(const GroupList& groups, std::span<const std::size_t> order, std::size_t first, std::size_t limit,
                 Item items) {
  std::vector<bool> used(at(items), false);
  Selection selection;
  const std::size_t wanted = at(items) / at(groups.group_size);
  for (std::size_t i = first; i < limit && !selection.complete; ++i) {
    const auto group = groups.group(order[i]);
    if (std::any_of(group.begin(), group.end(), [&](Item item) { return used[at(item)]; })) continue;
    for (const Item item : group) used[at(item)] = true;
    selection.groups.push_back(order[i]);
    selection.last = i;
    selection.complete = selection.groups.size() == wanted;
  }
  return selection;
}

double total_value(const GroupList& groups, std::span<const std::size_t> selected) {
  return std::accumulate(selected.begin(), selected.end(), 0.0,
                         [&](double sum, std::size_t index) { return sum + groups.values[index]; });
}

// Every step yields a binomial coefficient, a whole number: exact up to 2^53. Infinite when too large.
double choose(std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n) return 0;
  k = std::min(k, n - k);
  double result = 1;
  for (std::int64_t i = 1; i <= k && std::isfinite(result); ++i) {
    result = result * static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return result;
}

// (p choose k) / (p choose j) for j < k <= p: the product of (p - i) / (i + 1) over i = j .. k-1. The factors fall with
// i, so they are taken from both ends, the small ones while the product is above 1: it never overflows meanwhile, and
// loses no more than a few last digits.
long double count_ratio(std::int64_t p, std::int64_t k, std::int64_t j) {
  long double ratio = 1;
  for (std::int64_t first = j, last = k - 1; first <= last;) {
    const std::int64_t i = ratio > 1 ? last-- : first++;
    ratio *= static_cast<long double>(p - i) / static_cast<long double>(i + 1);
  }
  return ratio;
}

int greatest_divisor(int arity) {
  for (int divisor = arity / 2; divisor > 1; --divisor) {
    if (arity % divisor == 0) return divisor;
  }
  return 1;
}

// FastGroupProcesses (§4.2.2): elements of the matrix in order of magnitude.
struct Element {
  double value;
  Item row, column;  // row < column
};

std::vector<Element> upper_elements(const Affinity& matrix) {
  std::vector<Element> elements;
  elements.reserve(matrix.indices.size() / 2);
  for (Item row = 0; row < matrix.ranks; ++row) {
    const auto columns = matrix.neighbours(row);
    const auto weights = matrix.weights_of(row);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] > row) elements.push_back({weights[i], row, columns[i]});
    }
  }
  return elements;
}

// The lower bounds of the buckets, descending: from a sorted sample of 2^b elements the largest, the 2nd, 4th, 8th ...
// largest, and at last 0, so that later buckets hold more and smaller elements.
std::vector<double> bucket_bounds(const std::vector<Element>& elements, int buckets, std::uint64_t seed) {
  Random random(seed);
  const std::size_t size = std::min(elements.size(), std::size_t{1} << at(buckets));
  std::vector<double> sample(size);
  for (double& value : sample) value = elements[random.below(elements.size())].value;
  std::sort(sample.begin(), sample.end(), std::greater<>());
  std::vector<double> bounds;
  for (std::size_t place = 1; static_cast<int>(bounds.size()) + 1 < buckets && place <= size; place *= 2) {
    bounds.push_back(sample[place - 1]);
  }
  bounds.push_back(0);
  return bounds;
}

// Groups under construction. There are never more than `wanted`, none ever exceeds its size, so the rest always fits.
class Builder {
 public:
  Builder(Item items, int group_size)
      : size_(at(group_size)), wanted_(at(items) / size_), group_of_(at(items), kNone), free_items_(items) {}

  [[nodiscard]] bool complete() const { return free_items_ == 0; }

  // Puts the two items of an element into one group where that is still possible.
  void try_element(const Element& element) {
    const std::size_t left = group_of_[at(element.row)];
    const std::size_t right = group_of_[at(element.column)];
    if (left == kNone && right == kNone) {
      if (size_ < 2 || groups_.size() == wanted_) return;
      groups_.emplace_back();
      add(groups_.size() - 1, element.row);
      add(groups_.size() - 1, element.column);
    } else if (left == kNone && groups_[right].size() < size_) {
      add(right, element.row);
    } else if (right == kNone && groups_[left].size() < size_) {
      add(left, element.column);
    }
  }

  // Items that no element placed: each to the group with a free slot that it communicates with most, else to the first
  // such group.
  Grouping finish(const Affinity& matrix) {
    groups_.resize(wanted_);
    std::size_t first_open = 0;
    for (Item item = 0; item < matrix.ranks; ++item) {
      if (group_of_[at(item)] != kNone) continue;
      while (groups_[first_open].size() == size_) ++first_open;
      add(best_group(matrix, item, first_open), item);
    }
    for (Group& group : groups_) std::sort(group.begin(), group.end());
    std::sort(groups_.begin(), groups_.end());
    return std::move(groups_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  void add(std::size_t group, Item item) {
    groups_[group].push_back(item);
    group_of_[at(item)] = group;
    --free_items_;
  }

  [[nodiscard]] std::size_t best_group(const Affinity& matrix, Item item, std::size_t fallback) const {
    std::vector<std::tuple<std::size_t, double>> ties;
    const auto columns = matrix.neighbours(item);
    const auto weights = matrix.weights_of(item);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t group = group_of_[at(columns[i])];
      if (group != kNone && groups_[group].size() < size_) ties.emplace_back(group, weights[i]);
    }
    std::sort(ties.begin(), ties.end());
    std::size_t best = fallback;
    double heaviest = 0;
    for (std::size_t i = 0; i < ties.size();) {
      const std::size_t group = std::get<0>(ties[i]);
      double sum = 0;
      for (; i < ties.size() && std::get<0>(ties[i]) == group; ++i) sum += std::get<1>(ties[i]);
      if (sum > heaviest) {
        heaviest = sum;
        best = group;
      }
    }
    return best;
  }

  std::size_t size_, wanted_;
  Grouping groups_;
  std::vector<std::size_t> group_of_;
  Item free_items_;
};

}  // namespace

double group_count(Item items, int group_size) { return choose(items, group_size); }

GroupList list_all_possible_groups(const Affinity& matrix, int group_size) {
  const Dense dense(matrix);
  GroupList list;
  list.group_size = group_size;
  Group group(at(group_size));
  std::iota(group.begin(), group.end(), 0);
  do {
    list.members.insert(list.members.end(), group.begin(), group.end());
    list.values.push_back(group_value(dense, group));
  } while (next_group(group, matrix.ranks));
  return list;
}

// For a group g of k items among p: the values of the groups disjoint from g sum to
//   C(p-k-1, k-1) x (sum of rows outside g) - 2 C(p-k-2, k-2) x (pairs outside g),
// because every outside item is in C(p-k-1, k-1) of them and every outside pair in C(p-k-2, k-2).
std::vector<double> weighted_degrees(const Affinity& matrix, const GroupList& groups) {
  const Dense dense(matrix);
  const std::int64_t p = matrix.ranks;
  const std::int64_t k = groups.group_size;
  const double rows = std::accumulate(matrix.weights.begin(), matrix.weights.end(), 0.0);
  const double values = std::accumulate(groups.values.begin(), groups.values.end(), 0.0);
  std::vector<double> degrees;
  degrees.reserve(groups.values.size());
  for (std::size_t index = 0; index < groups.values.size(); ++index) {
    double row_sum = 0;
    for (const Item item : groups.group(index)) row_sum += dense.sum(item);
    const double inside = (row_sum - groups.values[index]) / 2;  // pairs within the group
    const double pairs_outside = rows / 2 - row_sum + inside;
    const double disjoint = choose(p - k - 1, k - 1) * (rows - row_sum) - 2 * choose(p - k - 2, k - 2) * pairs_outside;
    const double around = std::max(0.0, values - groups.values[index] - disjoint);
    const double own = groups.values[index];
    degrees.push_back(own > 0 ? around / own : std::numeric_limits<double>::infinity());
  }
  return degrees;
}

std::vector<std::size_t> smallest_values_first(const GroupList& groups, Item items) {
  const auto order = by_value(groups);
  return select(groups, order, 0, order.size(), items).groups;
}

// Starts the greedy choice at the first, second, ... group of the order and keeps the choice whose last group comes
// earliest. Later starts look no further than the best end so far; the whole search is bounded.
std::vector<std::size_t> largest_values_last(const GroupList& groups, Item items) {
  constexpr std::size_t kMaxSteps = 10'000'000;
  const auto order = by_value(groups);
  Selection best = select(groups, order, 0, order.size(), items);
  std::size_t steps = best.last;
  for (std::size_t first = 1; first < best.last && steps < kMaxSteps; ++first) {
    Selection candidate = select(groups, order, first, best.last, items);
    steps += best.last - first;
    if (candidate.complete) best = std::move(candidate);
  }
  return best.groups;
}

std::vector<std::size_t> largest_weighted_degrees_first(const GroupList& groups, std::span<const double> degrees,
                                                        Item items) {
  std::vector<std::size_t> order(degrees.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return degrees[a] > degrees[b]; });
  return select(groups, order, 0, order.size(), items).groups;
}

Grouping group_processes(const Affinity& matrix, int group_size, std::int64_t degree_threshold) {
  const GroupList list = list_all_possible_groups(matrix, group_size);
  auto best = smallest_values_first(list, matrix.ranks);
  const auto improve = [&](std::vector<std::size_t> candidate) {
    if (total_value(list, candidate) < total_value(list, best)) best = std::move(candidate);
  };
  improve(largest_values_last(list, matrix.ranks));
  if (static_cast<std::int64_t>(list.values.size()) <= degree_threshold) {
    improve(largest_weighted_degrees_first(list, weighted_degrees(matrix, list), matrix.ranks));
  }
  Grouping groups;
  for (const std::size_t index : best) {
    const auto group = list.group(index);
    groups.emplace_back(group.begin(), group.end());
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

// O(entries log degree).
Affinity aggregate_matrix(const Affinity& matrix, const Grouping& groups) {
  std::vector<Item> group_of(at(matrix.ranks), -1);
  for (std::size_t index = 0; index < groups.size(); ++index) {
    for (const Item item : groups[index]) group_of[at(item)] = static_cast<Item>(index);
  }
  Affinity result;
  result.ranks = static_cast<Item>(groups.size());
  std::vector<double> sums(groups.size(), 0);
  for (std::size_t index = 0; index < groups.size(); ++index) {
    std::vector<Item> touched;
    for (const Item item : groups[index]) {
      const auto columns = matrix.neighbours(item);
      const auto weights = matrix.weights_of(item);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const Item other = group_of[at(columns[i])];
        if (other == static_cast<Item>(index) || other < 0) continue;
        if (sums[at(other)] == 0) touched.push_back(other);
        sums[at(other)] += weights[i];
      }
    }
    std::sort(touched.begin(), touched.end());
    for (const Item other : touched) {
      result.indices.push_back(other);
      result.weights.push_back(std::exchange(sums[at(other)], 0));
    }
    result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
  }
  return result;
}

Affinity extend_matrix(const Affinity& matrix, int multiple) {
  Affinity result = matrix;
  result.ranks = (matrix.ranks + multiple - 1) / multiple * multiple;
  result.indptr.resize(at(result.ranks) + 1, matrix.indptr.back());
  return result;
}

// The gain f(p) = C(p,k) / (d C(p,k/d)) increases with p, so p* is the first p with f(p) > 1.
Division best_division(int arity) {
  Division division;
  division.divisor = greatest_divisor(arity);
  if (division.divisor == 1) return division;
  division.threshold = arity;
  while (count_ratio(division.threshold, arity, arity / division.divisor) <= division.divisor) ++division.threshold;
  return division;
}

// From the root down, p items are on a level: the product of the arities up to it. A level of arity k becomes one of
// arity d* with one of arity k / d* below it; the upper one is looked at again.
std::vector<int> divide_arities(std::span<const int> arities) {
  std::vector<int> result;
  std::int64_t above = 1;
  for (int arity : arities) {
    std::vector<int> below;  // the parts split off, outermost last
    const std::int64_t whole = above * arity;
    for (std::int64_t items = whole; arity > 1;) {
      const Division division = best_division(arity);
      if (division.divisor == 1 || items < division.threshold) break;
      below.push_back(arity / division.divisor);
      items /= arity / division.divisor;
      arity = division.divisor;
    }
    result.push_back(arity);
    result.insert(result.end(), below.rbegin(), below.rend());
    above = whole;
  }
  return result;
}

Grouping fast_group_processes(const Affinity& matrix, int group_size, int buckets, std::uint64_t seed) {
  buckets = std::clamp(buckets, 1, 30);  // the sample holds 2^b elements
  Builder builder(matrix.ranks, group_size);
  std::vector<Element> elements = upper_elements(matrix);
  auto rest = elements.begin();
  const auto before = [](const Element& a, const Element& b) {
    return std::tuple(-a.value, a.row, a.column) < std::tuple(-b.value, b.row, b.column);
  };
  if (!elements.empty()) {
    for (const double bound : bucket_bounds(elements, buckets, seed)) {
      const auto end = std::partition(rest, elements.end(), [&](const Element& each) { return each.value > bound; });
      std::sort(rest, end, before);  // only the bucket at hand is sorted
      for (; rest != end && !builder.complete(); ++rest) builder.try_element(*rest);
      if (builder.complete()) break;
    }
  }
  return builder.finish(matrix);
}

}  // namespace ranktree::core::place
