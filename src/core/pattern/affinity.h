// The symmetric weighted graph that placement works on, made from a pattern by a metric.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {

// treematch-2013 §2.1: msg = number of messages, size = bytes, avg = bytes / messages of each directed pair.
enum class Metric : std::uint8_t { kMessages, kSize, kAverage };
std::string_view metric_name(Metric metric);  // "msg", "size", "avg"
std::optional<Metric> metric_from_name(std::string_view word);

// CSR; both directions of an undirected pair are stored with the same weight w(i->j) + w(j->i); no self loops, no
// zeros; neighbours ascending. Weights are non-negative, finite doubles.
struct Affinity {
  Rank ranks = 0;
  std::vector<std::int64_t> indptr{0};
  std::vector<Rank> indices;
  std::vector<double> weights;

  [[nodiscard]] std::span<const Rank> neighbours(Rank rank) const {
    return {indices.data() + indptr[static_cast<std::size_t>(rank)],
            indices.data() + indptr[static_cast<std::size_t>(rank) + 1]};
  }
  [[nodiscard]] std::span<const double> weights_of(Rank rank) const {
    return {weights.data() + indptr[static_cast<std::size_t>(rank)],
            weights.data() + indptr[static_cast<std::size_t>(rank) + 1]};
  }
};

// All classes of traffic together. Collective calls are not included: expand() them into the pattern first.
Affinity affinity(const Pattern& pattern, Metric metric);
// Throws Error(kInput) where ranks exchange something, but nothing that the metric counts: formats with one number a
// pair leave the other unknown, and a placement by unknown numbers would be none.
void require_counted(Metric metric, const Pattern& pattern);

// From weights without a pattern; weight(i, j) is what goes from rank i to rank j. CSR form of `ranks` rows, each
// ascending without duplicates. O(ranks + entries). This and the next throw Error(kInput), naming the entry, when a
// weight is negative or not finite, or the arrays do not have that form.
Affinity affinity(Rank ranks, std::span<const std::int64_t> indptr, std::span<const Rank> indices,
                  std::span<const double> weights);
// From the whole matrix, row by row: ranks x ranks numbers. O(ranks^2), read in blocks of a cache line.
Affinity affinity(Rank ranks, std::span<const double> matrix);

}  // namespace ranktree::core::pattern
