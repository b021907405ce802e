// Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR 5935): coordinate and array; row = sender.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;

constexpr const char* kMatrixMarket = "Matrix Market";
constexpr std::string_view kComment = "%";

struct Banner {
  bool dense = false;
  bool unit = false;       // field "pattern": no values, each entry counts 1
  bool symmetric = false;  // the lower triangle represents both
};

std::string lower_word(TextReader& file) {
  std::string word(file.word());
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

Banner read_banner(TextReader& file) {
  if (!file.next_line()) file.refuse_at(1, "the file is empty, expected '%%MatrixMarket matrix ...'");
  if (file.word() != "%%MatrixMarket") file.refuse("expected '%%MatrixMarket matrix coordinate|array ...'");
  if (lower_word(file) != "matrix") file.refuse("expected object 'matrix'");
  Banner banner;
  const std::string layout = lower_word(file);
  banner.dense = layout == "array";
  if (!banner.dense && layout != "coordinate") file.refuse("expected 'coordinate' or 'array'");
  const std::string field = lower_word(file);
  banner.unit = field == "pattern" && !banner.dense;
  if (!banner.unit && field != "real" && field != "integer" && field != "double") {
    file.refuse("expected field 'real', 'integer' or 'pattern' (of a coordinate matrix)");
  }
  const std::string symmetry = lower_word(file);
  banner.symmetric = symmetry == "symmetric";
  if (!banner.symmetric && symmetry != "general") file.refuse("expected symmetry 'general' or 'symmetric'");
  file.expect_line_end();
  return banner;
}

struct Target {
  EntryList& entries;
  Metric metric;
  bool symmetric;

  void add(Rank from, Rank to, double value, std::size_t line) {
    entries.add(entry_of(from, to, value, metric), line);
    if (symmetric && from != to) entries.add(entry_of(to, from, value, metric), line);
  }
};

void read_coordinates(TextReader& file, Rank ranks, std::int64_t count, const Banner& banner, Target target) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!file.next_data_line(kComment)) {
      file.refuse_at(file.line_number() + 1,
                     "the file ends, expected " + std::to_string(count) + " entries, found " + std::to_string(i));
    }
    const auto from = static_cast<Rank>(file.integer("row", 1, ranks) - 1);
    const auto to = static_cast<Rank>(file.integer("column", 1, ranks) - 1);
    const double value = banner.unit ? 1 : file.amount("value");
    file.expect_line_end();
    if (banner.symmetric && to > from) file.refuse("a symmetric matrix holds its lower triangle: column beyond row");
    target.add(from, to, value, file.line_number());
  }
}

// Column by column; zeros are not entries.
void read_columns(TextReader& file, Rank ranks, const Banner& banner, Target target) {
  for (Rank to = 0; to < ranks; ++to) {
    for (Rank from = banner.symmetric ? to : 0; from < ranks; ++from) {
      file.need_data_line(kComment, "one value for each element of the matrix");
      const double value = file.amount("value");
      file.expect_line_end();
      if (value != 0) target.add(from, to, value, file.line_number());
    }
  }
}

// Refuses a declared size that the file cannot hold, before it allocates memory.
std::int64_t read_count(TextReader& file, std::int64_t ranks, const Banner& banner) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t shortest = banner.dense ? 2 : 4;  // "1\n", "1 1\n"
  const std::int64_t count =
      banner.dense ? (banner.symmetric ? ranks * (ranks + 1) / 2 : ranks * ranks) : file.integer("entries", 0, kMost);
  file.expect_line_end();
  if (count > (static_cast<std::int64_t>(file.file_size()) + 1) / shortest) {
    file.refuse("declares " + std::to_string(count) + " entries, too many for a file of " +
                std::to_string(file.file_size()) + " bytes");
  }
  return count;
}

}  // namespace

Pattern read_matrix_market(std::string_view bytes, const std::string& origin, MetricChoice metric, Warnings& warnings) {
  TextReader file(bytes, origin);
  const Banner banner = read_banner(file);
  const std::optional<Metric> written = need_line_behind_comments(file, "the line with the size of the matrix");
  const std::int64_t ranks = file.integer("rows", 1, kMostRanks);
  if (file.integer("columns", 1, kMostRanks) != ranks) file.refuse("expected as many columns as rows");
  const std::int64_t count = read_count(file, ranks, banner);
  check_declared_ranks(ranks, file.file_size(), origin + ": line " + std::to_string(file.line_number()));
  const Metric meaning = metric.value_or(written.value_or(Metric::kSize));
  warn_of_one_number(kMatrixMarket, meaning, warnings);
  EntryList entries;
  entries.reserve(static_cast<std::size_t>(banner.symmetric ? 2 * count : count));
  const Target target{entries, meaning, banner.symmetric};
  if (banner.dense) {
    read_columns(file, static_cast<Rank>(ranks), banner, target);
  } else {
    read_coordinates(file, static_cast<Rank>(ranks), count, banner, target);
  }
  if (file.next_data_line(kComment))
    file.refuse("expected the end of the file after " + std::to_string(count) + " entries");
  if (written && !bytes.ends_with('\n')) file.refuse("the file ends within a line");
  return entries.build(static_cast<Rank>(ranks), file);
}

std::string write_matrix_market(const Pattern& pattern, Metric metric, Warnings& warnings) {
  const std::vector<double> values = one_number(pattern, metric, kMatrixMarket, warnings);
  const bool whole = std::all_of(values.begin(), values.end(), is_whole);
  std::string text = std::string("%%MatrixMarket matrix coordinate ") + (whole ? "integer" : "real") + " general\n";
  text += metric_comment(metric);
  const std::string ranks = std::to_string(pattern.ranks);
  text += ranks + " " + ranks + " " + std::to_string(values.size()) + "\n";
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (std::int64_t i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
      append_number(text, std::int64_t{from} + 1);
      text += ' ';
      append_number(text, std::int64_t{pattern.indices[i]} + 1);
      text += ' ';
      append_number(text, values[i]);
      text += '\n';
    }
  }
  return text;
}

}  // namespace ranktree::io
