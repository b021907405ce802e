#include "io/hostlist.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ranktree::io {
namespace {

constexpr std::size_t kMaxDigits = 18;  // any number of so many digits fits 64 bits

// "3", or "018-020".
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t width = 0;  // fewest digits
};

// Plain text, or the ranges between two brackets.
struct Piece {
  std::string text;
  std::vector<NumberRange> ranges;  // empty for a plain text
};

std::int64_t read_number(std::string_view digits, std::string_view item, const LinePlace& place) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || number < 0 || digits.size() > kMaxDigits) place.expected("numbers like [0-3,12]", item);
  return number;
}

NumberRange read_range(std::string_view item, const LinePlace& place) {
  const std::size_t dash = item.find('-');
  const std::string_view low = item.substr(0, dash);
  NumberRange range{read_number(low, item, place), 0, low.size()};
  range.last = dash == std::string_view::npos ? range.first : read_number(item.substr(dash + 1), item, place);
  if (range.last < range.first) place.expected("a range in ascending order", item);
  return range;
}

// The text between two brackets.
std::vector<NumberRange> read_ranges(std::string_view text, const LinePlace& place) {
  std::vector<NumberRange> ranges;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    ranges.push_back(read_range(text.substr(begin, end - begin), place));
    begin = end + 1;
  }
  return ranges;
}

bool in_name(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code > ' ' && code != 0x7f && letter != ',' && letter != '[' && letter != ']' && letter != '"' &&
         letter != '=' && letter != '#';
}

// One expression without commas outside brackets.
std::vector<Piece> read_pieces(std::string_view text, const LinePlace& place) {
  std::vector<Piece> pieces;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      const std::size_t close = text.find(']', at);
      if (close == std::string_view::npos) place.expected("a closing ']'", text);
      pieces.push_back({{}, read_ranges(text.substr(at + 1, close - at - 1), place)});
      at = close + 1;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && in_name(text[at])) ++at;
    if (at == begin) place.expected("a name like n0 or n[0-3]", text);
    pieces.push_back({std::string(text.substr(begin, at - begin)), {}});
  }
  if (pieces.empty()) place.expected("a name", text);
  return pieces;
}

std::size_t digits_of(std::int64_t number) { return std::to_string(number).size(); }

// Refuses names that are too long, and more of them than `limit`; returns their number.
std::int64_t count_names(const std::vector<Piece>& pieces, const LinePlace& place, std::int64_t limit) {
  std::int64_t names = 1;
  std::size_t length = 0;
  for (const Piece& piece : pieces) {
    std::int64_t choices = piece.ranges.empty() ? 1 : 0;
    std::size_t longest = piece.text.size();
    for (const NumberRange& range : piece.ranges) {
      choices += std::min(range.last - range.first, limit) + 1;
      longest = std::max({longest, range.width, digits_of(range.last)});
      if (choices > limit) break;
    }
    if (choices < 1 || choices > limit / names) {
      place.refuse("expected at most " + std::to_string(kMaxNames) + " names in all, found more");
    }
    names *= choices;
    length += longest;
  }
  if (length > kMaxNameLength) {
    place.refuse("expected names of at most " + std::to_string(kMaxNameLength) + " characters, found a longer one");
  }
  return names;
}

void append_numbers(std::vector<std::string>& names, const std::string& front, const NumberRange& range) {
  for (std::int64_t number = range.first; number <= range.last; ++number) {
    const std::string digits = std::to_string(number);
    const std::size_t zeros = digits.size() < range.width ? range.width - digits.size() : 0;
    names.push_back(front);
    names.back().append(zeros, '0').append(digits);
  }
}

void expand(const std::vector<Piece>& pieces, std::vector<std::string>& all) {
  std::vector<std::string> names{""};
  for (const Piece& piece : pieces) {
    std::vector<std::string> longer;
    for (const std::string& front : names) {
      if (piece.ranges.empty()) longer.push_back(front + piece.text);
      for (const NumberRange& range : piece.ranges) append_numbers(longer, front, range);
    }
    names = std::move(longer);
  }
  std::move(names.begin(), names.end(), std::back_inserter(all));
}

// The end of the expression that begins at `begin`: a comma outside brackets, or the end of the text.
std::size_t expression_end(std::string_view text, std::size_t begin) {
  bool inside = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '[') inside = true;
    if (text[at] == ']') inside = false;
    if (text[at] == ',' && !inside) return at;
  }
  return text.size();
}

// A name split before its last number.
struct NumberedName {
  std::string_view front;
  std::string_view digits;  // empty when the name does not end in a number of reasonable size
  std::int64_t number = -1;
};

NumberedName take_apart(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t begin = last == std::string_view::npos ? 0 : last + 1;
  NumberedName parts{name.substr(0, begin), name.substr(begin)};
  if (parts.digits.empty() || parts.digits.size() > kMaxDigits) return {name, {}};
  std::from_chars(parts.digits.data(), parts.digits.data() + parts.digits.size(), parts.number);
  return parts;
}

// Whether b is the next number after a, in the width of a.
bool follows(const NumberedName& a, const NumberedName& b) {
  const std::string next = std::to_string(a.number + 1);
  const std::size_t zeros = a.digits.size() > next.size() ? a.digits.size() - next.size() : 0;
  return a.number >= 0 && b.number == a.number + 1 && b.digits == std::string(zeros, '0') + next;
}

// The number of names from `first` on that form one ascending range.
std::size_t range_length(const std::vector<std::string>& names, std::size_t first) {
  NumberedName last = take_apart(names[first]);
  std::size_t length = 1;
  for (; first + length < names.size(); ++length) {
    const NumberedName next = take_apart(names[first + length]);
    if (next.front != last.front || !follows(last, next)) break;
    last = next;
  }
  return length;
}

// Whether two names may share brackets.
bool share_brackets(const NumberedName& a, const NumberedName& b) {
  return a.front == b.front && a.number >= 0 && b.number >= 0;
}

}  // namespace

void LinePlace::refuse(const std::string& text) const {
  throw core::Error(core::Fault::kInput, origin + ": line " + std::to_string(line) + ": " + text);
}

void LinePlace::expected(const std::string& what, std::string_view found) const {
  refuse("expected " + what + ", found " + (found.empty() ? "nothing" : shown(found)));
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  for (const char letter : text.substr(0, kLongest)) result += letter >= ' ' && letter <= '~' ? letter : '?';
  return result + (text.size() > kLongest ? "...'" : "'");
}

std::vector<std::string> expand_hostlist(std::string_view text, const LinePlace& place, std::int64_t limit) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = expression_end(text, begin);
    const std::vector<Piece> pieces = read_pieces(text.substr(begin, end - begin), place);
    limit -= count_names(pieces, place, limit);
    expand(pieces, names);
    begin = end + 1;
  }
  return names;
}

std::string compress_names(const std::vector<std::string>& names) {
  std::string result;
  for (std::size_t i = 0; i < names.size();) {
    const std::size_t begin = i;
    const NumberedName first = take_apart(names[begin]);
    std::string ranges;
    do {
      const std::size_t length = range_length(names, i);
      ranges.append(ranges.empty() ? "" : ",").append(take_apart(names[i]).digits);
      if (length > 1) ranges.append("-").append(take_apart(names[i + length - 1]).digits);
      i += length;
    } while (i < names.size() && share_brackets(first, take_apart(names[i])));
    result.append(result.empty() ? "" : ",").append(first.front);
    result += i - begin > 1 ? "[" + ranges + "]" : ranges;
  }
  return result;
}

}  // namespace ranktree::io
