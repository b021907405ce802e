#include "io/numpy_matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/pattern_formats.h"

namespace ranktree::io {
namespace {

using core::pattern::Entry;
using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;

std::string text_of(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "()" : text;
}

Rank side_of(const std::vector<std::uint64_t>& shape, const std::string& origin) {
  if (shape.size() != 2 || shape[0] != shape[1] || shape[0] == 0) {
    refuse_at(origin, "expected a square matrix, found the shape " + text_of(shape));
  }
  if (shape[0] > static_cast<std::uint64_t>(std::numeric_limits<Rank>::max())) {
    refuse_at(origin, "expected at most 2147483647 ranks, found " + std::to_string(shape[0]));
  }
  return static_cast<Rank>(shape[0]);
}

template <typename Number>
std::vector<Number> by_rows(std::vector<Number> columns, Rank ranks) {
  const auto side = static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < i; ++j) std::swap(columns[i * side + j], columns[j * side + i]);
  }
  return columns;
}

template <typename Number>
std::vector<Number> values_of(const NpyHeader& header, std::string_view bytes, Rank ranks, const std::string& origin) {
  std::vector<Number> values = items_of<Number>(header, bytes, origin);
  return header.by_columns ? by_rows(std::move(values), ranks) : values;
}

// `bytes` is a whole .npy array.
WholeMatrix matrix_of(const NpyHeader& header, std::string_view bytes, const std::string& origin) {
  if (std::string_view("biuf").find(header.kind) == std::string_view::npos) {
    refuse_at(origin, std::string("expected real numbers, found type '") + header.kind + "'");
  }
  WholeMatrix matrix{.ranks = side_of(header.shape, origin), .values = {}};
  if (header.kind == 'f' && header.item_size == sizeof(float)) {
    matrix.values = values_of<float>(header, bytes, matrix.ranks, origin);
  } else {
    matrix.values = values_of<double>(header, bytes, matrix.ranks, origin);
  }
  return matrix;
}

// from_entries() calls what it refuses "pattern"; here it is a file.
Pattern pattern_of(Rank ranks, const std::vector<Entry>& entries, const std::string& origin) {
  try {
    return core::pattern::from_entries(ranks, entries);
  } catch (const core::Error& error) {
    const std::string_view text = error.what();
    throw core::Error(error.fault(), origin + std::string(text.substr(std::min(text.find(':'), text.size()))));
  }
}

Metric meaning_of(MetricChoice metric) { return metric == Metric::kMessages ? Metric::kMessages : Metric::kSize; }

// --- scipy.sparse.save_npz

Rank ranks_of_sparse(const NpzReader& file, const std::string& origin) {
  const auto shape = file.int64s("shape", 2);
  std::vector<std::uint64_t> extents;
  extents.reserve(shape.size());
  for (const std::int64_t extent : shape)
    extents.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 0)));
  return side_of(extents, origin);
}

// The row (of CSR) or column (of CSC) of each item, from where each begins.
std::vector<std::int64_t> outer_of(const NpzReader& file, Rank ranks, std::uint64_t items, const std::string& origin) {
  const auto offsets = file.int64s("indptr", static_cast<std::uint64_t>(ranks) + 1);
  const auto last = static_cast<std::int64_t>(items);
  if (offsets.front() != 0 || offsets.back() != last || !std::is_sorted(offsets.begin(), offsets.end())) {
    refuse_at(origin, "expected offsets that ascend from 0 to " + std::to_string(items) + " entries, found others");
  }
  std::vector<std::int64_t> outer;
  outer.reserve(items);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    outer.insert(outer.end(), static_cast<std::size_t>(offsets[i + 1] - offsets[i]), static_cast<std::int64_t>(i));
  }
  return outer;
}

// Numbers outside Rank's range become -1, which from_entries() refuses.
Rank narrowed(std::int64_t value) { return std::in_range<Rank>(value) ? static_cast<Rank>(value) : -1; }

Pattern read_sparse(const NpzReader& file, const std::string& origin, MetricChoice metric, Warnings& warnings) {
  const std::string form = file.text("format");
  if (form != "csr" && form != "csc" && form != "coo") {
    constexpr std::size_t kLongest = 160;
    refuse_at(origin, "expected a sparse matrix in CSR, CSC or COO form, found '" + form.substr(0, kLongest) + "'");
  }
  const Rank ranks = ranks_of_sparse(file, origin);
  const std::uint64_t items = file.count("data");
  const auto values = file.doubles("data", items);
  const bool coordinates = form == "coo";
  const auto outer = coordinates ? file.int64s("row", items) : outer_of(file, ranks, items, origin);
  const auto inner = file.int64s(coordinates ? "col" : "indices", items);
  std::vector<Entry> entries;
  entries.reserve(items);
  for (std::size_t i = 0; i < items; ++i) {
    const Rank one = narrowed(outer[i]);
    const Rank other = narrowed(inner[i]);
    entries.push_back(form == "csc" ? entry_of(other, one, values[i], meaning_of(metric))
                                    : entry_of(one, other, values[i], meaning_of(metric)));
  }
  warn_of_one_number("a matrix", meaning_of(metric), warnings);
  return pattern_of(ranks, entries, origin);
}

}  // namespace

WholeMatrix read_npy_matrix(std::string_view bytes, const std::string& origin) {
  return matrix_of(read_npy_header(bytes, bytes.size(), origin), bytes, origin);
}

std::optional<WholeMatrix> read_npz_matrix(const NpzReader& file) {
  const std::vector<std::string> names = file.names();
  if (names.size() != 1) return std::nullopt;
  const NpyHeader header = file.header_of(names.front());
  if (header.shape.size() < 2) return std::nullopt;
  return matrix_of(header, file.bytes(names.front()), file.place(names.front()));
}

Pattern pattern_of(const WholeMatrix& matrix, const std::string& origin, MetricChoice metric, Warnings& warnings) {
  const Metric meaning = meaning_of(metric);
  std::vector<Entry> entries;
  std::visit(
      [&](const auto& values) {
        std::size_t next = 0;
        for (Rank from = 0; from < matrix.ranks; ++from) {
          for (Rank to = 0; to < matrix.ranks; ++to) {
            const auto value = static_cast<double>(values[next++]);
            if (value != 0) entries.push_back(entry_of(from, to, value, meaning));
          }
        }
      },
      matrix.values);
  warn_of_one_number("a matrix", meaning, warnings);
  return pattern_of(matrix.ranks, entries, origin);
}

std::optional<Pattern> read_sparse_matrix(const NpzReader& file, const std::string& origin, MetricChoice metric,
                                          Warnings& warnings) {
  if (!file.has("format") || !file.has("shape") || !file.has("data")) return std::nullopt;
  return read_sparse(file, origin, metric, warnings);
}

}  // namespace ranktree::io
