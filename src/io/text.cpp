#include "io/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"

namespace ranktree::io {

using core::pattern::Entry;
using core::pattern::Pattern;
using core::pattern::Rank;

namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f'; }

bool ends_word(const char* position, const char* end, char separator) {
  return position == end || is_blank(*position) || *position == separator;
}

// A word of the file in a message: shortened, without control characters that would disturb a terminal.
std::string quoted(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::string text = "'";
  for (const char letter : word.substr(0, kLongest)) text += letter >= ' ' && letter <= '~' ? letter : '?';
  return text + (word.size() > kLongest ? "...'" : "'");
}

auto key(const Entry& entry) { return std::tuple(entry.from, entry.to, entry.kind); }

}  // namespace

bool TextReader::next_line() {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  ++number_;
  return true;
}

bool TextReader::next_data_line(std::string_view comment) {
  while (next_line()) {
    if (!at_line_end() && comment.find(line_.front()) == std::string_view::npos) return true;
  }
  return false;
}

void TextReader::need_data_line(std::string_view comment, const char* what) {
  if (next_data_line(comment)) return;
  throw core::Error(core::Fault::kInput,
                    origin_ + ": line " + std::to_string(number_ + 1) + ": the file ends, expected " + what);
}

bool TextReader::at_line_end() {
  std::size_t blanks = 0;
  while (blanks < line_.size() && is_blank(line_[blanks])) ++blanks;
  line_.remove_prefix(blanks);
  return line_.empty();
}

std::string_view TextReader::word(char separator) {
  if (at_line_end()) return {};
  const char* end = line_.data();
  while (!ends_word(end, line_.data() + line_.size(), separator)) ++end;
  const std::string_view found = line_.substr(0, static_cast<std::size_t>(end - line_.data()));
  line_.remove_prefix(found.size());
  return found;
}

std::int64_t TextReader::integer(const char* what, std::int64_t low, std::int64_t high) {
  at_line_end();
  const char* begin = line_.data();
  const char* end = begin + line_.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  const bool complete = error == std::errc() && (stop == end || is_blank(*stop) || *stop == ',' || *stop == ';');
  if (!complete || value < low || value > high) {
    refuse_word(what, "a whole number in " + std::to_string(low) + ".." + std::to_string(high));
  }
  line_.remove_prefix(static_cast<std::size_t>(stop - line_.data()));
  return value;
}

double TextReader::amount(const char* what) {
  at_line_end();
  const char* begin = line_.data();
  const char* end = begin + line_.size();
  std::uint64_t whole = 0;
  const char* stop = begin;
  double value = -1;
  // Whole numbers are the most frequent by far, and faster to read.
  if (const auto read = std::from_chars(stop, end, whole); read.ec == std::errc()) {
    stop = read.ptr;
    value = static_cast<double>(whole);
  }
  const auto at_end = [&] { return stop == end || is_blank(*stop) || *stop == ',' || *stop == ';'; };
  if (stop == begin || !at_end()) {
    const auto read = std::from_chars(begin, end, value);
    if (read.ec != std::errc()) value = -1;
    stop = read.ptr;
  }
  // A whole number beyond 2^53 that rounds to 2^53 is not exact either.
  const bool exact = whole <= static_cast<std::uint64_t>(kLargestExact);
  if (!at_end() || !exact || !(value >= 0 && value <= kLargestExact)) refuse_word(what, "a number in 0..2^53");
  line_.remove_prefix(static_cast<std::size_t>(stop - line_.data()));
  return value;
}

void TextReader::step_over(char separator, std::string_view what) {
  if (at_line_end()) refuse("the line ends, expected " + std::string(what));
  if (is_blank(separator)) return;
  if (line_.front() != separator) refuse(std::string("expected '") + separator + "' before " + std::string(what));
  line_.remove_prefix(1);
}

void TextReader::expect_line_end() {
  if (!at_line_end()) refuse("expected the end of the line, found " + quoted(line_));
}

void TextReader::refuse_word(const char* what, const std::string& expected) {
  std::string_view found;
  if (!at_line_end()) {
    found = line_.substr(0, 1);  // a separator in place of a word
    if (const std::string_view whole = word(','); !whole.empty()) found = whole;
  }
  refuse(std::string(what) + ": expected " + expected +
         (found.empty() ? ", found the end of the line" : ", found " + quoted(found)));
}

void TextReader::refuse(const std::string& text) const { refuse_at(number_, text); }

void TextReader::refuse_at(std::size_t line, const std::string& text) const {
  throw core::Error(core::Fault::kInput, origin_ + ": line " + std::to_string(line) + ": " + text);
}

void check_declared_ranks(std::int64_t ranks, std::size_t file_size, const std::string& place) {
  constexpr std::int64_t kAlwaysAllowed = 1'048'576;
  constexpr std::int64_t kRanksPerByte = 16;
  if (ranks < 1) throw core::Error(core::Fault::kInput, place + ": expected at least 1 rank, found 0");
  if (ranks > kAlwaysAllowed + kRanksPerByte * static_cast<std::int64_t>(file_size)) {
    throw core::Error(core::Fault::kInput, place + ": declares " + std::to_string(ranks) +
                                               " ranks, too many for a file of " + std::to_string(file_size) +
                                               " bytes");
  }
}

Pattern EntryList::build(Rank ranks, const TextReader& file) const {
  const auto unordered = [](const Entry& a, const Entry& b) { return key(a) >= key(b); };
  if (std::adjacent_find(entries_.begin(), entries_.end(), unordered) == entries_.end()) {
    return core::pattern::from_entries(ranks, entries_);
  }
  std::vector<std::size_t> order(entries_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return key(entries_[a]) < key(entries_[b]); });
  std::vector<Entry> sorted;
  sorted.reserve(entries_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Entry& entry = entries_[order[i]];
    if (i > 0 && key(sorted.back()) == key(entry)) {
      file.refuse_at(lines_[order[i]],
                     "duplicate entry: the pair is already on line " + std::to_string(lines_[order[i - 1]]));
    }
    sorted.push_back(entry);
  }
  return core::pattern::from_entries(ranks, sorted);
}

bool is_whole(double value) { return std::trunc(value) == value && std::abs(value) <= kLargestExact; }

void append_number(std::string& text, std::int64_t value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_number(std::string& text, double value) {
  if (is_whole(value)) return append_number(text, static_cast<std::int64_t>(value));
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

std::string number_text(double value) {
  std::string text;
  append_number(text, value);
  return text;
}

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char letter) {
    constexpr std::string_view kOthers = "@%+=:,./-_";
    return letter < 0x80 && (std::isalnum(letter) != 0 || kOthers.find(static_cast<char>(letter)) != kOthers.npos);
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\"'\"'") : std::string(1, letter);
  return text + "'";
}

}  // namespace ranktree::io
