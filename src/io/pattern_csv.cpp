// Pairs as comma-separated values, or the same columns separated by semicolons, tabs or blanks.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::pattern::Class;
using core::pattern::Entry;
using core::pattern::kClassNames;
using core::pattern::Pattern;
using core::pattern::Rank;
using core::pattern::Traffic;

constexpr const char* kCsv = "CSV";

enum class Column : std::uint8_t { kSource, kDestination, kMessages, kBytes, kClass };
constexpr std::array<std::string_view, 5> kColumnNames{"src", "dst", "messages", "bytes", "class"};

struct Header {
  char separator = ',';
  std::vector<Column> columns;
  std::optional<std::int64_t> ranks;  // "ranks=N" in a comment
  std::optional<std::int64_t> pairs;  // "lines=N" in a comment
};

bool in_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '_';
}

// The number after the word "<key>=" in a comment. One that goes on ("1e3", "1.5", beyond 64 bits) is refused: a part
// of it is another number.
std::optional<std::int64_t> number_in(TextReader& file, std::string_view comment, std::string_view key) {
  std::size_t found = comment.find(key);
  while (found != std::string_view::npos && found > 0 && in_word(comment[found - 1])) {
    found = comment.find(key, found + 1);
  }
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view rest = comment.substr(found + key.size());
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  const std::string_view behind = rest.substr(static_cast<std::size_t>(stop - rest.data()));
  const bool has_fraction = behind.size() > 1 && behind[0] == '.' && in_word(behind[1]);
  if (error != std::errc() || has_fraction || (!behind.empty() && in_word(behind[0]))) {
    const std::string word(rest.substr(0, rest.find_first_of(" \t,;|\r")));
    file.refuse(std::string(key) + " expected a whole number, found '" + word + "'");
  }
  return value;
}

bool names_columns(std::string_view line) {
  if (line.starts_with('"')) line.remove_prefix(1);
  return std::any_of(kColumnNames.begin(), kColumnNames.end(),
                     [line](std::string_view name) { return line.starts_with(name); });
}

char separator_of(std::string_view line) {
  for (const char separator : {',', ';', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ' ';
}

// The line with the names of the columns: "src,dst,messages,bytes", in any order.
void read_columns(TextReader& file, std::string_view line, Header& header) {
  header.separator = separator_of(line);
  TextReader words(line, file.origin());
  words.next_line();
  while (!words.at_line_end()) {
    if (!header.columns.empty()) {
      if (words.line().front() == header.separator) words.step_over(header.separator, "a column's name");
    }
    std::string_view name = words.word(header.separator);
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    const auto* found = std::find(kColumnNames.begin(), kColumnNames.end(), name);
    if (found == kColumnNames.end()) file.refuse("unknown column: expected src, dst, messages, bytes or class");
    const auto column = static_cast<Column>(found - kColumnNames.begin());
    if (std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end()) {
      file.refuse("column '" + std::string(*found) + "' appears twice");
    }
    header.columns.push_back(column);
  }
  const auto has = [&](Column column) {
    return std::find(header.columns.begin(), header.columns.end(), column) != header.columns.end();
  };
  if (!has(Column::kSource) || !has(Column::kDestination) || (!has(Column::kMessages) && !has(Column::kBytes))) {
    file.refuse("expected columns src, dst and at least one of messages, bytes");
  }
}

void read_comment(TextReader& file, Header& header) {
  std::string_view comment = file.line().substr(1);
  if (const auto ranks = number_in(file, comment, "ranks=")) header.ranks = ranks;
  if (const auto pairs = number_in(file, comment, "lines=")) header.pairs = pairs;
  if (header.ranks && (*header.ranks < 1 || *header.ranks > kMostRanks)) {
    file.refuse("ranks: expected a number in 1..2147483647, found " + std::to_string(*header.ranks));
  }
  const std::size_t start = comment.find_first_not_of(' ');
  if (start == std::string_view::npos || !comment.substr(start).starts_with("src")) return;
  read_columns(file, comment.substr(start, comment.find('|') - start), header);
}

// Reads up to the names of the columns, which may be in a comment.
Header read_header(TextReader& file) {
  Header header;
  while (header.columns.empty() && file.next_line()) {
    if (file.at_line_end()) continue;
    if (file.line().front() == '#') {
      read_comment(file, header);
    } else if (names_columns(file.line())) {
      read_columns(file, file.line(), header);
    } else {
      file.refuse("expected the names of the columns, as in 'src,dst,messages,bytes'");
    }
  }
  if (header.columns.empty()) {
    file.refuse_at(file.line_number() + 1, "the file ends, expected the names of the columns");
  }
  return header;
}

Class read_class(TextReader& file, char separator) {
  const std::string_view name = file.word(separator);
  const auto* found = std::find(kClassNames.begin(), kClassNames.end(), name);
  if (found == kClassNames.end()) file.refuse("class: expected p2p, neighbor, collective or rma");
  return static_cast<Class>(found - kClassNames.begin());
}

Entry read_entry(TextReader& file, const Header& header) {
  const std::int64_t last = header.ranks.value_or(kMostRanks) - 1;
  Entry entry;
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    const Column column = header.columns[i];
    if (i > 0) file.step_over(header.separator, kColumnNames.at(static_cast<std::size_t>(column)));
    if (column == Column::kSource) entry.from = static_cast<Rank>(file.integer("src", 0, last));
    if (column == Column::kDestination) entry.to = static_cast<Rank>(file.integer("dst", 0, last));
    if (column == Column::kMessages) entry.messages = file.amount("messages");
    if (column == Column::kBytes) entry.bytes = file.amount("bytes");
    if (column == Column::kClass) entry.kind = read_class(file, header.separator);
  }
  file.expect_line_end();
  return entry;
}

bool has_classes(const Pattern& pattern) {
  return std::any_of(pattern.traffic.begin() + 1, pattern.traffic.end(), [](const Traffic& traffic) {
    return core::pattern::any_nonzero(traffic.messages) || core::pattern::any_nonzero(traffic.bytes);
  });
}

// A pair without traffic is written as one line of point-to-point zeros.
bool is_written(const Pattern& pattern, std::size_t kind, std::size_t i) {
  const auto has = [&](const Traffic& traffic) { return traffic.messages[i] != 0 || traffic.bytes[i] != 0; };
  return has(pattern.traffic.at(kind)) ||
         (kind == 0 && std::none_of(pattern.traffic.begin(), pattern.traffic.end(), has));
}

}  // namespace

Pattern read_pattern_csv(std::string_view bytes, const std::string& origin, Warnings& warnings) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // by which spreadsheets mark UTF-8
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  TextReader file(bytes, origin);
  const Header header = read_header(file);
  EntryList entries;
  constexpr std::size_t kTypicalLine = 16;
  entries.reserve(bytes.size() / kTypicalLine);
  std::int64_t ranks = header.ranks.value_or(0);
  while (file.next_data_line("#")) {
    const Entry entry = read_entry(file, header);
    if (!header.ranks) ranks = std::max<std::int64_t>({ranks, entry.from + 1, entry.to + 1});
    entries.add(entry, file.line_number());
  }
  if (header.pairs && *header.pairs != static_cast<std::int64_t>(entries.size())) {
    file.refuse_at(file.line_number() + 1, "the file ends, expected " + std::to_string(*header.pairs) +
                                               " lines of data, found " + std::to_string(entries.size()));
  }
  if (header.pairs && !bytes.ends_with('\n')) file.refuse("the file ends within a line");
  if (!header.ranks) {
    if (ranks == 0) file.refuse("neither entries nor a comment '# ranks=N'");
    warnings.push_back("CSV without a comment '# ranks=N': " + std::to_string(ranks) +
                       " ranks, from the highest that is named");
  }
  check_declared_ranks(ranks, file.file_size(), origin);
  return entries.build(static_cast<Rank>(ranks), file);
}

std::string write_pattern_csv(const Pattern& pattern, Warnings& warnings) {
  warn_of_lost_calls(pattern, kCsv, warnings);
  const bool classes = has_classes(pattern);
  std::string body;
  std::int64_t lines = 0;
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (std::int64_t i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
      for (std::size_t kind = 0; kind < core::pattern::kClassCount; ++kind) {
        if (!is_written(pattern, kind, i)) continue;
        append_number(body, std::int64_t{from});
        body += ',';
        append_number(body, std::int64_t{pattern.indices[i]});
        body += ',';
        append_number(body, pattern.traffic.at(kind).messages[i]);
        body += ',';
        append_number(body, pattern.traffic.at(kind).bytes[i]);
        if (classes) body.append(",").append(kClassNames.at(kind));
        body += '\n';
        ++lines;
      }
    }
  }
  return "# ranktree pattern | ranks=" + std::to_string(pattern.ranks) + " | lines=" + std::to_string(lines) +
         "\nsrc,dst,messages,bytes" + (classes ? ",class" : "") + "\n" + body;
}

}  // namespace ranktree::io
