#include "core/pattern/affinity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {
namespace {

constexpr std::array<std::string_view, 3> kMetricNames{"msg", "size", "avg"};

double weight_of(Metric metric, double messages, double bytes) {
  switch (metric) {
    case Metric::kMessages:
      return messages;
    case Metric::kSize:
      return bytes;
    case Metric::kAverage:
      return messages > 0 ? bytes / messages : 0;
  }
  return 0;
}

// A CSR matrix owned by the caller: what goes from the row's rank to the column's.
struct Directed {
  Rank ranks;
  std::span<const std::int64_t> indptr;
  std::span<const Rank> indices;
  std::span<const double> weights;
};

struct Transposed {
  std::vector<std::int64_t> indptr;
  std::vector<Rank> indices;
  std::vector<double> weights;
};

// Ascending rows give ascending rows. O(ranks + entries).
Transposed transpose(const Directed& matrix) {
  Transposed result{std::vector<std::int64_t>(at(matrix.ranks) + 1, 0), std::vector<Rank>(matrix.indices.size()),
                    std::vector<double>(matrix.indices.size())};
  for (const Rank to : matrix.indices) ++result.indptr[at(to) + 1];
  for (std::size_t i = 1; i < result.indptr.size(); ++i) result.indptr[i] += result.indptr[i - 1];
  std::vector<std::int64_t> next(result.indptr.begin(), result.indptr.end() - 1);
  for (Rank from = 0; from < matrix.ranks; ++from) {
    for (auto i = matrix.indptr[at(from)]; i < matrix.indptr[at(from) + 1]; ++i) {
      const std::size_t slot = at(next[at(matrix.indices[at(i)])]++);
      result.indices[slot] = from;
      result.weights[slot] = matrix.weights[at(i)];
    }
  }
  return result;
}

// Appends row `rank` of the sum of a matrix and its transpose, both ascending, without the diagonal and zeros.
void append_row(Affinity& result, Rank rank, const Directed& matrix, const Transposed& back) {
  auto i = matrix.indptr[at(rank)];
  auto j = back.indptr[at(rank)];
  const auto i_end = matrix.indptr[at(rank) + 1];
  const auto j_end = back.indptr[at(rank) + 1];
  while (i < i_end || j < j_end) {
    const Rank to = i < i_end ? matrix.indices[at(i)] : matrix.ranks;
    const Rank from = j < j_end ? back.indices[at(j)] : matrix.ranks;
    const Rank other = std::min(to, from);
    double weight = 0;
    if (to == other) weight += matrix.weights[at(i++)];
    if (from == other) weight += back.weights[at(j++)];
    if (other == rank || weight == 0) continue;
    result.indices.push_back(other);
    result.weights.push_back(weight);
  }
  result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
}

Affinity sum_with_transpose(const Directed& matrix) {
  const Transposed back = transpose(matrix);
  Affinity result;
  result.ranks = matrix.ranks;
  for (Rank rank = 0; rank < matrix.ranks; ++rank) append_row(result, rank, matrix, back);
  return result;
}

[[noreturn]] void refuse(const std::string& text) { throw Error(Fault::kInput, "weights: " + text); }

void check_weight(std::int64_t from, std::int64_t to, double weight) {
  if (std::isfinite(weight) && weight >= 0) return;
  std::ostringstream found;
  found << weight;
  refuse("[" + std::to_string(from) + ", " + std::to_string(to) + "]: expected a finite number, at least 0, found " +
         found.str());
}

void check_row(const Directed& matrix, Rank row) {
  Rank last = -1;
  for (auto i = matrix.indptr[at(row)]; i < matrix.indptr[at(row) + 1]; ++i) {
    const Rank column = matrix.indices[at(i)];
    if (column <= last || column >= matrix.ranks) {
      refuse("row " + std::to_string(row) + ": expected ascending columns below " + std::to_string(matrix.ranks) +
             ", found " + std::to_string(column));
    }
    last = column;
    check_weight(row, column, matrix.weights[at(i)]);
  }
}

void check(const Directed& matrix) {
  const auto entries = static_cast<std::int64_t>(matrix.indices.size());
  if (matrix.ranks < 0 || matrix.indptr.size() != at(matrix.ranks) + 1 || matrix.weights.size() != at(entries) ||
      matrix.indptr.front() != 0 || matrix.indptr.back() != entries ||
      !std::is_sorted(matrix.indptr.begin(), matrix.indptr.end())) {
    refuse("expected the CSR form of " + std::to_string(matrix.ranks) + " rows, found another form");
  }
  for (Rank row = 0; row < matrix.ranks; ++row) check_row(matrix, row);
}

// Some rows of a matrix and the same rows of its transpose, read in blocks of a cache line.
class Strip {
 public:
  static constexpr std::int64_t kRows = 8;

  Strip(std::int64_t ranks, std::span<const double> matrix)
      : ranks_(ranks), matrix_(matrix), back_(at(kRows * ranks)) {}

  void move_to(std::int64_t first) {
    first_ = first;
    const std::int64_t rows = std::min(kRows, ranks_ - first);
    for (std::int64_t from = 0; from < ranks_; ++from) {
      for (std::int64_t i = 0; i < rows; ++i) back_[at(i * ranks_ + from)] = matrix_[at(from * ranks_ + first + i)];
    }
  }

  void append_row(Affinity& result, std::int64_t row) const {
    for (std::int64_t column = 0; column < ranks_; ++column) {
      const double there = matrix_[at(row * ranks_ + column)];
      check_weight(row, column, there);
      const double weight = there + back_[at((row - first_) * ranks_ + column)];
      if (column == row || weight == 0) continue;
      result.indices.push_back(static_cast<Rank>(column));
      result.weights.push_back(weight);
    }
    result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
  }

 private:
  std::int64_t ranks_;
  std::span<const double> matrix_;
  std::vector<double> back_;
  std::int64_t first_ = 0;
};

}  // namespace

std::string_view metric_name(Metric metric) { return kMetricNames.at(static_cast<std::size_t>(metric)); }

std::optional<Metric> metric_from_name(std::string_view word) {
  const auto* found = std::find(kMetricNames.begin(), kMetricNames.end(), word);
  if (found == kMetricNames.end()) return std::nullopt;
  return static_cast<Metric>(found - kMetricNames.begin());
}

// O(ranks + pairs).
Affinity affinity(const Pattern& pattern, Metric metric) {
  const Traffic traffic = total(pattern);
  std::vector<double> weights(pattern.indices.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = weight_of(metric, traffic.messages[i], traffic.bytes[i]);
  }
  return sum_with_transpose({pattern.ranks, pattern.indptr, pattern.indices, weights});
}

void require_counted(Metric metric, const Pattern& pattern) {
  if (!affinity(pattern, metric).weights.empty()) return;
  const bool bytes = !affinity(pattern, Metric::kSize).weights.empty();
  if (!bytes && affinity(pattern, Metric::kMessages).weights.empty()) return;
  const std::string known = bytes ? "bytes" : "numbers of messages";
  throw Error(Fault::kInput, "pattern: expected " + std::string(bytes ? "numbers of messages" : "bytes") +
                                 ", which metric '" + std::string(metric_name(metric)) + "' counts, found " + known +
                                 " only: place by metric '" + (bytes ? "size" : "msg") + "'");
}

Affinity affinity(Rank ranks, std::span<const std::int64_t> indptr, std::span<const Rank> indices,
                  std::span<const double> weights) {
  const Directed matrix{ranks, indptr, indices, weights};
  check(matrix);
  return sum_with_transpose(matrix);
}

Affinity affinity(Rank ranks, std::span<const double> matrix) {
  if (ranks < 0 || matrix.size() != at(ranks) * at(ranks)) {
    refuse("expected " + std::to_string(ranks) + " x " + std::to_string(ranks) + " numbers, found " +
           std::to_string(matrix.size()));
  }
  Affinity result;
  result.ranks = ranks;
  const auto nonzeros = matrix.size() - static_cast<std::size_t>(std::count(matrix.begin(), matrix.end(), 0.0));
  result.indices.reserve(nonzeros);
  result.weights.reserve(nonzeros);
  Strip strip(ranks, matrix);
  for (std::int64_t row = 0; row < ranks; ++row) {
    if (row % Strip::kRows == 0) strip.move_to(row);
    strip.append_row(result, row);
  }
  return result;
}

}  // namespace ranktree::core::pattern
