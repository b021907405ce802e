// Patterns in and out of files, in any of the formats of docs/formats/pattern.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::io {

enum class PatternFormat : std::uint8_t { kNpz, kMatrixMarket, kTreeMatch, kMetis, kScotch, kCsv, kMonitoring };
inline constexpr int kPatternFormatCount = 7;

std::string_view pattern_format_name(PatternFormat format);  // npz, mtx, mat, metis, scotch, csv, prof
std::optional<PatternFormat> pattern_format_from_name(std::string_view word);
// By extension: .npz .mtx .mat .graph .grf .scotch .csv .prof.
std::optional<PatternFormat> pattern_format_from_path(std::string_view path);

// Whether files of the format tell classes of traffic, messages as well as bytes, and collective calls.
bool holds_collective_calls(PatternFormat format);

struct LoadedPattern {
  core::pattern::Pattern pattern;
  std::vector<std::string> warnings;  // what the format could not say, or is known to say wrongly; one line each
};

// Reads and validates. The format is taken from the path when not given. For Open MPI monitoring `path` is any one of
// the files F.RANK.prof, their common prefix F, or one file with all of them joined. `metric` says what the one number
// of a format without messages and bytes means (default: what the file's own comment says, else size).
// Throws Error naming file and place.
LoadedPattern load_pattern(const std::string& path, std::optional<PatternFormat> format = std::nullopt,
                           std::optional<core::pattern::Metric> metric = std::nullopt);

// Writes completely or not at all; an existing file stays as it was on failure. Returns warnings: what the format
// cannot hold. Monitoring writes one file a rank, `path` being their prefix ("F", or "F.prof").
std::vector<std::string> save_pattern(const std::string& path, const core::pattern::Pattern& pattern,
                                      std::optional<PatternFormat> format = std::nullopt,
                                      core::pattern::Metric metric = core::pattern::Metric::kSize);

}  // namespace ranktree::io
