#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/options.h"
#include "capi/pattern_choices.h"
#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/dense.h"
#include "io/pattern_file.h"
#include "ranktree/base.h"
#include "ranktree/pattern.h"

namespace {

namespace capi = ranktree::capi;
using capi::guard;
using capi::require;
namespace pattern_core = ranktree::core::pattern;

[[noreturn]] void refuse(const std::string& text) { throw ranktree::core::Error(ranktree::core::Fault::kInput, text); }

// The matrix of a handle as lists; its numbers are bytes, one message per pair.
pattern_core::Pattern pairs_of(const pattern_core::MatrixView<double>& matrix) {
  std::vector<pattern_core::Entry> entries;
  for (int from = 0; from < matrix.ranks; ++from) {
    for (int to = 0; to < matrix.ranks; ++to) {
      const double bytes = matrix.at(from, to);
      if (from == to || bytes == 0) continue;
      entries.push_back({from, to, pattern_core::Class::kPointToPoint, 1, std::round(bytes)});
    }
  }
  return pattern_core::from_entries(matrix.ranks, entries);
}

// A double holds whole numbers up to 2^53.
double amount(std::uint64_t number, const std::string& name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;
  if (number > kMost) refuse("pairs: expected at most 2^53 " + name + ", found " + std::to_string(number));
  return static_cast<double>(number);
}

}  // namespace

ranktree_status ranktree_metric_parse(const char* name, ranktree_metric* metric, ranktree_error* error) {
  return guard(error, [&] {
    require(metric, "metric");
    *metric = capi::choice_of(capi::kMetrics, name, "metric");
  });
}

ranktree_status ranktree_model_parse(const char* name, ranktree_model* model, ranktree_error* error) {
  return guard(error, [&] {
    require(model, "model");
    *model = capi::choice_of(capi::kModels, name, "model");
  });
}

ranktree_status ranktree_pattern_load(const char* path, ranktree_metric metric, ranktree_pattern** pattern,
                                      ranktree_error* error) {
  return guard(error, [&] {
    require(path, "path");
    require(pattern, "pattern");
    const pattern_core::Metric counted = capi::value_of(capi::kMetrics, metric, "metric");
    const bool messages = counted == pattern_core::Metric::kMessages;
    auto loaded = ranktree::io::load_pattern(path, std::nullopt, messages ? std::optional(counted) : std::nullopt);
    auto made = std::make_unique<ranktree_pattern>();
    made->pattern = std::move(loaded.pattern);
    made->warnings = std::move(loaded.warnings);
    *pattern = made.release();
  });
}

int ranktree_pattern_get_warning_count(const ranktree_pattern* pattern) {
  return static_cast<int>(pattern->warnings.size());
}

const char* ranktree_pattern_get_warning(const ranktree_pattern* pattern, int number) {
  const bool known = number >= 0 && std::cmp_less(number, pattern->warnings.size());
  return known ? pattern->warnings[static_cast<std::size_t>(number)].c_str() : nullptr;
}

ranktree_status ranktree_pattern_create(int ranks, uint64_t count, const ranktree_pair pairs[],
                                        ranktree_pattern** pattern, ranktree_error* error) {
  return guard(error, [&] {
    require(pattern, "pattern");
    if (ranks < 1) refuse("ranks: expected at least 1, found " + std::to_string(ranks));
    if (count > 0) require(pairs, "pairs");
    std::vector<pattern_core::Entry> entries;
    if (count > entries.max_size())
      refuse("count: expected at most " + std::to_string(entries.max_size()) + ", found " + std::to_string(count));
    entries.reserve(static_cast<std::size_t>(count));
    for (const ranktree_pair& pair : std::span(pairs, static_cast<std::size_t>(count))) {
      entries.push_back({pair.from, pair.to, pattern_core::Class::kPointToPoint, amount(pair.messages, "messages"),
                         amount(pair.bytes, "bytes")});
    }
    *pattern = new ranktree_pattern{pattern_core::from_entries(ranks, entries)};
  });
}

ranktree_status ranktree_pattern_create_dense(int ranks, const double matrix[], ranktree_ownership ownership,
                                              ranktree_pattern** pattern, ranktree_error* error) {
  return guard(error, [&] {
    require(matrix, "matrix");
    require(pattern, "pattern");
    if (ranks < 1) refuse("ranks: expected at least 1, found " + std::to_string(ranks));
    int owner = 0;  // C lets it be any number
    std::memcpy(&owner, &ownership, sizeof(owner));
    if (owner != RANKTREE_COPY && owner != RANKTREE_BORROW) {
      refuse("ownership: expected RANKTREE_COPY or RANKTREE_BORROW, found " + std::to_string(owner));
    }
    const pattern_core::MatrixView<double> given{ranks, matrix};
    ranktree::core::place::check_matrix(given);
    auto made = std::make_unique<ranktree_pattern>();
    made->pattern.ranks = ranks;
    made->pattern.indptr.assign(static_cast<std::size_t>(ranks) + 1, 0);
    made->matrix = given;
    if (owner == RANKTREE_COPY) {
      const auto side = static_cast<std::size_t>(ranks);
      made->copied.assign(matrix, matrix + side * side);
      made->matrix->values = made->copied.data();
    }
    *pattern = made.release();
  });
}

ranktree_status ranktree_pattern_expand(const ranktree_pattern* pattern, ranktree_model model,
                                        ranktree_pattern** expanded, ranktree_error* error) {
  return guard(error, [&] {
    require(pattern, "pattern");
    require(expanded, "expanded");
    auto made = std::make_unique<ranktree_pattern>();
    made->pattern = capi::expanded(pattern->pattern, model, "model");
    made->copied = pattern->copied;
    made->matrix = pattern->matrix;
    if (!made->copied.empty()) made->matrix->values = made->copied.data();
    *expanded = made.release();
  });
}

ranktree_status ranktree_pattern_save(const ranktree_pattern* pattern, const char* path, ranktree_error* error) {
  return guard(error, [&] {
    require(pattern, "pattern");
    require(path, "path");
    ranktree::io::save_pattern(path, pattern->matrix ? pairs_of(*pattern->matrix) : pattern->pattern);
  });
}

void ranktree_pattern_destroy(ranktree_pattern* pattern) { delete pattern; }

int ranktree_pattern_get_rank_count(const ranktree_pattern* pattern) { return pattern->pattern.ranks; }

uint64_t ranktree_pattern_get_pair_count(const ranktree_pattern* pattern) {
  if (!pattern->matrix) return pattern->pattern.indices.size();
  std::int64_t count = 0;
  for (int from = 0; from < pattern->matrix->ranks; ++from) {
    const double* row = pattern->matrix->row(from);
    count += pattern->matrix->ranks - std::count(row, row + pattern->matrix->ranks, 0.0) - (row[from] != 0 ? 1 : 0);
  }
  return static_cast<uint64_t>(count);
}
