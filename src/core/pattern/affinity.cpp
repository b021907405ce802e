#include "core/pattern/affinity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {
namespace {

constexpr std::array<std::string_view, 3> kMetricNames{"msg", "size", "avg"};

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

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

struct Directed {
  std::vector<std::int64_t> indptr;
  std::vector<Rank> indices;
  std::vector<double> weights;
};

// The transpose of a CSR matrix whose rows ascend: rows of the result ascend too. O(ranks + entries).
Directed transpose(Rank ranks, const Pattern& pattern, const std::vector<double>& weights) {
  Directed result{std::vector<std::int64_t>(at(ranks) + 1, 0), std::vector<Rank>(weights.size()),
                  std::vector<double>(weights.size())};
  for (const Rank to : pattern.indices) ++result.indptr[at(to) + 1];
  for (std::size_t i = 1; i < result.indptr.size(); ++i) result.indptr[i] += result.indptr[i - 1];
  std::vector<std::int64_t> next(result.indptr.begin(), result.indptr.end() - 1);
  for (Rank from = 0; from < ranks; ++from) {
    for (auto i = pattern.indptr[at(from)]; i < pattern.indptr[at(from) + 1]; ++i) {
      const std::size_t slot = at(next[at(pattern.indices[at(i)])]++);
      result.indices[slot] = from;
      result.weights[slot] = weights[at(i)];
    }
  }
  return result;
}

// Appends row `rank` of the sum of a matrix and its transpose, both ascending, without the diagonal and zeros.
void append_row(Affinity& result, Rank rank, const Pattern& pattern, const std::vector<double>& weights,
                const Directed& back) {
  auto i = pattern.indptr[at(rank)];
  auto j = back.indptr[at(rank)];
  const auto i_end = pattern.indptr[at(rank) + 1];
  const auto j_end = back.indptr[at(rank) + 1];
  while (i < i_end || j < j_end) {
    const Rank to = i < i_end ? pattern.indices[at(i)] : pattern.ranks;
    const Rank from = j < j_end ? back.indices[at(j)] : pattern.ranks;
    const Rank other = std::min(to, from);
    double weight = 0;
    if (to == other) weight += weights[at(i++)];
    if (from == other) weight += back.weights[at(j++)];
    if (other == rank || weight == 0) continue;
    result.indices.push_back(other);
    result.weights.push_back(weight);
  }
  result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
}

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
  const Directed back = transpose(pattern.ranks, pattern, weights);
  Affinity result;
  result.ranks = pattern.ranks;
  for (Rank rank = 0; rank < pattern.ranks; ++rank) append_row(result, rank, pattern, weights, back);
  return result;
}

}  // namespace ranktree::core::pattern
