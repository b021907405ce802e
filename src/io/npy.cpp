#include "io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/text.h"
#include "io/zip_format.h"

namespace ranktree::io {

void refuse_at(const std::string& place, const std::string& text) {
  throw core::Error(core::Fault::kInput, place + ": " + text);
}

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr char kOwnOrder = std::endian::native == std::endian::little ? '<' : '>';

// Parses {'descr': '<i8', 'fortran_order': False, 'shape': (3,), }, with keys in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view literal, const std::string& place) : rest_(literal), place_(place) {}

  NpyHeader parse() {
    need('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      need(':');
      if (key == "descr") {
        parse_type(quoted());
      } else if (key == "fortran_order") {
        parse_order();
      } else if (key == "shape") {
        parse_shape();
      } else {
        refuse("unknown key in its header");
      }
      if (!take(',')) {
        need('}');
        break;
      }
    }
    if (keys_ != kAllKeys) refuse("its header lacks descr, fortran_order or shape");
    return header_;
  }

 private:
  static constexpr unsigned kDescr = 1, kOrder = 2, kShape = 4, kAllKeys = 7;

  [[noreturn]] void refuse(const std::string& text) const { refuse_at(place_, text); }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) rest_.remove_prefix(1);
  }
  bool take(char letter) {
    skip_blanks();
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void need(char letter) {
    if (!take(letter)) refuse(std::string("its header is damaged: expected '") + letter + "'");
  }
  std::string_view quoted() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    // A list of fields begins with '[': a structured type.
    if (end == std::string_view::npos) refuse("expected integers, floats, bytes or text in its header");
    const std::string_view word = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return word;
  }
  void parse_type(std::string_view word) {
    constexpr std::size_t kShortest = 3;
    constexpr std::size_t kWidest = std::size_t{1} << 40U;
    const std::string_view size = word.size() < kShortest ? std::string_view() : word.substr(2);
    const auto [stop, error] = std::from_chars(size.data(), size.data() + size.size(), header_.item_size);
    if (size.empty() || error != std::errc() || stop != size.data() + size.size() || header_.item_size > kWidest ||
        std::string_view("<>|=").find(word[0]) == std::string_view::npos ||
        std::string_view("biufSU").find(word[1]) == std::string_view::npos) {
      refuse("expected real numbers or text, found type '" + std::string(word) + "'");
    }
    header_.kind = word[1];
    const bool is_text = header_.kind == 'S' || header_.kind == 'U';
    if (header_.item_size == 0 && !is_text) refuse("expected numbers of bytes, found type '" + std::string(word) + "'");
    header_.swapped = word[0] != kOwnOrder && (word[0] == '<' || word[0] == '>');
    if (header_.kind == 'U') header_.item_size *= sizeof(std::uint32_t);
    keys_ |= kDescr;
  }
  void parse_order() {
    skip_blanks();
    const std::string_view word = rest_.starts_with("True") ? "True" : "False";
    if (!rest_.starts_with(word)) refuse("its header is damaged: expected True or False");
    rest_.remove_prefix(word.size());
    header_.by_columns = word == "True";
    keys_ |= kOrder;
  }
  void parse_shape() {
    need('(');
    header_.count = 1;
    header_.shape.clear();
    while (!take(')')) {
      skip_blanks();
      std::uint64_t extent = 0;
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc()) refuse("its header is damaged: expected a number in shape");
      rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
      if (extent != 0 && header_.count > std::numeric_limits<std::uint64_t>::max() / extent) {
        refuse("its shape has more items than there can be");
      }
      header_.count *= extent;
      header_.shape.push_back(extent);
      if (!take(',')) {
        need(')');
        break;
      }
    }
    keys_ |= kShape;
  }

  std::string_view rest_;
  const std::string& place_;
  NpyHeader header_;
  unsigned keys_ = 0;
};

}  // namespace

NpyHeader read_npy_header(std::string_view bytes, std::uint64_t member_size, const std::string& place) {
  constexpr std::size_t kVersion = 6;
  constexpr std::size_t kFixed = 12;  // as long as the longest fixed part
  if (bytes.size() < kFixed || !bytes.starts_with(kMagic))
    refuse_at(place, "expected a .npy array (beginning with \\x93NUMPY)");
  const bool first_version = bytes[kVersion] == 1;
  if (bytes[kVersion] < 1 || bytes[kVersion] > 3) refuse_at(place, "expected .npy version 1, 2 or 3");
  const std::size_t length = first_version ? zip::read<std::uint16_t>(bytes, 8) : zip::read<std::uint32_t>(bytes, 8);
  const std::size_t start = first_version ? 10 : 12;
  if (length > bytes.size() - start)
    refuse_at(place, "its header is longer than the array, or than the longest accepted");
  NpyHeader header = HeaderParser(bytes.substr(start, length), place).parse();
  header.data_offset = start + length;
  const std::uint64_t size = member_size - header.data_offset;
  const bool fits =
      header.item_size == 0 ? size == 0 : size % header.item_size == 0 && size / header.item_size == header.count;
  if (!fits) {
    refuse_at(place, "declares " + std::to_string(header.count) + " items of " + std::to_string(header.item_size) +
                         " bytes, but holds " + std::to_string(size) + " bytes");
  }
  return header;
}

template <typename Item>
Item load_item(const char* bytes, bool swapped) {
  char copy[sizeof(Item)];
  std::memcpy(copy, bytes, sizeof(Item));
  if (swapped) std::reverse(copy, copy + sizeof(Item));
  Item item;
  std::memcpy(&item, copy, sizeof(Item));
  return item;
}

template std::uint32_t load_item<std::uint32_t>(const char*, bool);

namespace {

// Refuses an integer that the result cannot hold exactly.
template <typename Result, typename Item>
void check_item(Item item, const std::string& place, std::size_t index) {
  bool fits = true;
  if constexpr (std::is_integral_v<Result>) {
    fits = std::in_range<Result>(item);
  } else if constexpr (std::is_integral_v<Item>) {
    fits = std::cmp_less_equal(item, static_cast<std::int64_t>(kLargestExact)) &&
           std::cmp_greater_equal(item, -static_cast<std::int64_t>(kLargestExact));
  }
  if (!fits) {
    refuse_at(place, "[" + std::to_string(index) + "]: " + std::to_string(item) + " is out of range");
  }
}

template <typename Result, typename Item>
void convert(std::string_view bytes, bool swapped, const std::string& place, std::vector<Result>& results) {
  if constexpr (std::is_same_v<Result, Item>) {
    if (!swapped) {
      std::memcpy(results.data(), bytes.data(), bytes.size());
      return;
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto item = load_item<Item>(bytes.data() + i * sizeof(Item), swapped);
    if constexpr (std::is_integral_v<Item>) check_item<Result>(item, place, i);
    results[i] = static_cast<Result>(item);  // NOLINT(bugprone-signed-char-misuse): int8 is a number here
  }
}

// A number of 16 bits (IEEE 754 binary16).
double half(std::uint16_t bits) {
  constexpr int kFractionBits = 10, kBias = 15, kInfinite = 31;
  const std::uint32_t wide = bits;
  const auto exponent = static_cast<int>((wide >> 10U) & 0x1fU);
  const double fraction = (wide & 0x3ffU) + (exponent == 0 ? 0U : 0x400U);
  const double sign = (wide & 0x8000U) != 0 ? -1 : 1;
  if (exponent != kInfinite) return sign * std::ldexp(fraction, std::max(exponent, 1) - kBias - kFractionBits);
  const bool infinite = (wide & 0x3ffU) == 0;
  return sign * (infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
}

template <typename Result>
void convert_halves(std::string_view bytes, bool swapped, std::vector<Result>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = static_cast<Result>(half(load_item<std::uint16_t>(bytes.data() + i * sizeof(std::uint16_t), swapped)));
  }
}

}  // namespace

template <typename Result>
std::vector<Result> items_of(const NpyHeader& header, std::string_view bytes, const std::string& place) {
  bytes.remove_prefix(header.data_offset);
  std::vector<Result> results(header.count);
  if (results.empty()) return results;
  const std::string type = header.kind + std::to_string(header.item_size);
  if (type == "i8") return convert<Result, std::int64_t>(bytes, header.swapped, place, results), results;
  if (type == "i4") return convert<Result, std::int32_t>(bytes, header.swapped, place, results), results;
  if (type == "i2") return convert<Result, std::int16_t>(bytes, header.swapped, place, results), results;
  if (type == "i1") return convert<Result, std::int8_t>(bytes, header.swapped, place, results), results;
  if (type == "u8") return convert<Result, std::uint64_t>(bytes, header.swapped, place, results), results;
  if (type == "u4") return convert<Result, std::uint32_t>(bytes, header.swapped, place, results), results;
  if (type == "u2") return convert<Result, std::uint16_t>(bytes, header.swapped, place, results), results;
  if (type == "b1" || type == "u1")
    return convert<Result, std::uint8_t>(bytes, header.swapped, place, results), results;
  if constexpr (std::is_floating_point_v<Result>) {
    if (type == "f8") return convert<Result, double>(bytes, header.swapped, place, results), results;
    if (type == "f4") return convert<Result, float>(bytes, header.swapped, place, results), results;
    if (type == "f2") return convert_halves(bytes, header.swapped, results), results;
  }
  refuse_at(place, "items of type '" + type + "' are not supported");
}

template std::vector<std::int64_t> items_of(const NpyHeader&, std::string_view, const std::string&);
template std::vector<std::int32_t> items_of(const NpyHeader&, std::string_view, const std::string&);
template std::vector<double> items_of(const NpyHeader&, std::string_view, const std::string&);
template std::vector<float> items_of(const NpyHeader&, std::string_view, const std::string&);

}  // namespace ranktree::io
