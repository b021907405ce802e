// FastGroupProcesses (treematch-2013 §4.2.2).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/grouping.h"

namespace ranktree::core::place {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

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
