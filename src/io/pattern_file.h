// Reads and writes patterns in any of the formats of docs/reference/formats/pattern.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/numpy_matrix.h"

namespace ranktree::io {

enum class PatternFormat : std::uint8_t { kNpz, kMatrixMarket, kTreeMatch, kMetis, kScotch, kCsv, kMonitoring };
inline constexpr int kPatternFormatCount = 7;

std::string_view pattern_format_name(PatternFormat format);  // npz, mtx, mat, metis, scotch, csv, prof
std::optional<PatternFormat> pattern_format_from_name(std::string_view word);
// By extension: .npz .mtx .mat .graph .grf .scotch .csv .prof.
std::optional<PatternFormat> pattern_format_from_path(std::string_view path);

struct LoadedPattern {
  core::pattern::Pattern pattern;
  std::optional<WholeMatrix> matrix;  // in place of the pattern
  std::vector<std::string> warnings;  // what the format cannot hold, or is known to count wrongly; one line each
};

// Reads and validates a pattern. Without `format`, the extension of the path decides; .npy files and .npz files of
// matrices (io/numpy_matrix.h) are read as well, and where `whole` a matrix that is not sparse stays one. For Open MPI
// monitoring `path` is any of the files F.RANK.prof, their common prefix F, or one file with all of them joined. For
// formats with one number per pair, `metric` is the meaning of that number; by default the file's own comment decides,
// else it is size. Throws Error naming file and place.
LoadedPattern load_pattern(const std::string& path, std::optional<PatternFormat> format = std::nullopt,
                           std::optional<core::pattern::Metric> metric = std::nullopt, bool whole = false);

// The file appears complete or not at all; an existing file stays as it was on failure. Returns warnings about what the
// format cannot hold. Monitoring writes one file per rank, with `path` as their prefix ("F", or "F.prof").
std::vector<std::string> save_pattern(const std::string& path, const core::pattern::Pattern& pattern,
                                      std::optional<PatternFormat> format = std::nullopt,
                                      core::pattern::Metric metric = core::pattern::Metric::kSize);

}  // namespace ranktree::io
