// TreeMatch's matrix: n lines of n numbers separated by blanks; line = sender, column = receiver; nothing else.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;

constexpr const char* kTreeMatch = "TreeMatch .mat";

// Reads one line; zeros are not entries. Returns the number of columns.
std::int64_t read_row(TextReader& file, Rank from, Metric metric, EntryList& entries) {
  std::int64_t column = 0;
  for (; !file.at_line_end(); ++column) {
    const double value = file.amount("element");
    if (column >= std::numeric_limits<Rank>::max()) file.refuse("expected at most 2147483647 columns");
    if (value != 0) entries.add(entry_of(from, static_cast<Rank>(column), value, metric), file.line_number());
  }
  return column;
}

}  // namespace

Pattern read_treematch_mat(std::string_view bytes, const std::string& origin, MetricChoice metric, Warnings& warnings) {
  TextReader file(bytes, origin);
  const Metric meaning = metric.value_or(Metric::kSize);
  warn_of_one_number(kTreeMatch, meaning, warnings);
  EntryList entries;
  file.need_data_line("", "a row of the matrix");
  const std::int64_t ranks = read_row(file, 0, meaning, entries);
  for (std::int64_t from = 1; from < ranks; ++from) {
    if (!file.next_data_line("")) {
      file.refuse_at(file.line_number() + 1, "the file ends, expected " + std::to_string(ranks) + " rows of " +
                                                 std::to_string(ranks) + " elements, found " + std::to_string(from));
    }
    const std::int64_t columns = read_row(file, static_cast<Rank>(from), meaning, entries);
    if (columns != ranks) {
      file.refuse("expected " + std::to_string(ranks) + " elements as in the first row, found " +
                  std::to_string(columns));
    }
  }
  if (file.next_data_line("")) file.refuse("expected the end of the file after " + std::to_string(ranks) + " rows");
  return entries.build(static_cast<Rank>(ranks), file);
}

std::string write_treematch_mat(const Pattern& pattern, Metric metric, Warnings& warnings) {
  constexpr Rank kMostWritten = 65536;  // 8 GiB of zeros
  if (pattern.ranks > kMostWritten) {
    throw core::Error(core::Fault::kUnsupported, "TreeMatch .mat: a dense matrix of " + std::to_string(pattern.ranks) +
                                                     " ranks is not written, the most is " +
                                                     std::to_string(kMostWritten));
  }
  const std::vector<double> values = one_number(pattern, metric, kTreeMatch, warnings);
  std::string text;
  for (Rank from = 0; from < pattern.ranks; ++from) {
    std::int64_t i = pattern.indptr[from];
    for (Rank to = 0; to < pattern.ranks; ++to) {
      if (to > 0) text += ' ';
      const bool stored = i < pattern.indptr[from + 1] && pattern.indices[i] == to;
      append_number(text, stored ? values[i++] : 0.0);
    }
    text += '\n';
  }
  return text;
}

}  // namespace ranktree::io
