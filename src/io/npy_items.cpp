#include "io/npy_items.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "io/npz.h"
#include "io/text.h"

namespace ranktree::io {

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

[[noreturn]] void refuse_at(const std::string& place, const std::string& text) {
  throw core::Error(core::Fault::kInput, place + ": " + text);
}

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
