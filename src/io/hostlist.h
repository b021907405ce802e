// Slurm's hostlist expressions: "tux[0-3,12,018-020]", "rack[0-1]n[0-3]", and lists of them with commas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ranktree::io {

// The position in a text file that an error names.
struct LinePlace {
  std::string origin;
  std::size_t line = 0;

  [[noreturn]] void refuse(const std::string& text) const;  // "<origin>: line <n>: <text>"
  // "expected <what>, found <found>".
  [[noreturn]] void expected(const std::string& what, std::string_view found) const;
};

// Part of a file, for a message: quoted, shortened, without control characters that would disturb a terminal.
std::string shown(std::string_view text);

// Limits for short texts that expand to many names: their number in one network (the largest machines have 160,000
// nodes), and their length.
inline constexpr std::int64_t kMaxNames = 262'144;
inline constexpr std::size_t kMaxNameLength = 255;

// The names of an expression, in its order; of several brackets the last one varies fastest. Numbers have at least as
// many digits as the first of their range ("018-020"). Throws core::Error(kInput), before it stores anything, when
// there are more than `limit` names or one is too long. O(names x length).
std::vector<std::string> expand_hostlist(std::string_view text, const LinePlace& place, std::int64_t limit = kMaxNames);

// The reverse: neighbours that differ by one in their last number share brackets ("b1", "b2", "c5" is "b[1-2],c5").
std::string compress_names(const std::vector<std::string>& names);

}  // namespace ranktree::io
