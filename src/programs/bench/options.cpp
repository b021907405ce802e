#include "programs/bench/options.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/makers.h"
#include "programs/bench/keep.h"

namespace ranktree::mpi::bench {
namespace {

using core::Error;
using core::Fault;
using core::schedule::Collective;

constexpr std::int64_t kMostBytes = 16LL * 1024 * 1024 * 1024;
constexpr std::int64_t kMany = 1'000'000;

[[noreturn]] void fail(std::string_view name, std::string_view expected, std::string_view found) {
  throw Error(Fault::kInput, std::string(name) + ": expected " + std::string(expected) + ", found '" +
                                 std::string(found) + "'; " + kUsage);
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::int64_t number(std::string_view name, std::string_view text, std::int64_t least, std::int64_t most) {
  std::string_view digits = text;
  std::int64_t unit = 1;
  constexpr std::string_view kUnits = "KMG";
  if (!digits.empty() && kUnits.find(digits.back()) != std::string_view::npos) {
    for (std::size_t i = 0; i <= kUnits.find(digits.back()); ++i) unit *= 1024;
    digits.remove_suffix(1);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0 || value > most / unit ||
      value * unit < least) {
    fail(name, "a number from " + std::to_string(least) + " to " + std::to_string(most), text);
  }
  return value * unit;
}

Collective collective(std::string_view word) {
  if (word == "bcast") return Collective::kBroadcast;
  const auto found = core::schedule::collective_from_name(word);
  if (!found) fail("collective", "bcast, reduce, allreduce, barrier, gather, scatter, ...", word);
  return *found;
}

std::vector<std::int64_t> sizes(std::string_view text) {
  std::vector<std::int64_t> found;
  for (const std::string_view word : parts_of(text, ',')) {
    const std::size_t colon = word.find(':');
    std::int64_t size = number("--sizes", word.substr(0, colon), 0, kMostBytes);
    const std::int64_t last =
        colon == std::string_view::npos ? size : number("--sizes", word.substr(colon + 1), size, kMostBytes);
    for (; size <= last; size = size > 0 ? 2 * size : 1) found.push_back(size);
  }
  return found;
}

double seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1e6)) {
    fail("--seconds", "a number of seconds", text);
  }
  return value;
}

void set(Options& options, std::string_view name, std::string_view value) {
  if (name == "--sizes") {
    options.sizes = sizes(value);
  } else if (name == "--variant") {
    options.variants.emplace_back(value);
  } else if (name == "--keep") {
    options.kept.push_back(read_decided(std::string(value)));
  } else if (name == "--root") {
    options.root = static_cast<int>(number(name, value, 0, kMany));
  } else if (name == "--seconds") {
    options.limits.seconds = seconds(value);
  } else if (name == "--rounds") {
    const std::size_t colon = value.find(':');
    options.limits.least = static_cast<int>(number(name, value.substr(0, colon), 1, kMany));
    options.limits.most = colon == std::string_view::npos
                              ? options.limits.least
                              : static_cast<int>(number(name, value.substr(colon + 1), options.limits.least, kMany));
  } else if (name == "--warm") {
    options.limits.warm_auto = static_cast<int>(number(name, value, 1, kMany));
  } else if (name == "--pause") {
    options.pause = static_cast<int>(number(name, value, 1, kMany));
  } else {
    fail("option", "one of the options below", name);
  }
}

}  // namespace

Options read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].rfind("--", 0) == 0) {
      if (i + 1 == words.size()) fail(words[i], "a value behind it", "nothing");
      set(options, words[i], words[i + 1]);
      ++i;
      continue;
    }
    if (!options.collectives.empty()) fail("collective", "one list", words[i]);
    for (const std::string_view word : parts_of(words[i], ',')) options.collectives.push_back(collective(word));
  }
  if (options.collectives.empty() && options.kept.empty()) fail("collective", "a list", "nothing");
  if (options.sizes.empty()) options.sizes = sizes("8:16M");
  if (options.variants.empty()) options.variants = {"native", "auto"};
  return options;
}

}  // namespace ranktree::mpi::bench
