#include "io/pattern_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/file.h"
#include "io/npz.h"
#include "io/numpy_matrix.h"
#include "io/pattern_formats.h"

namespace ranktree::io {
namespace {

using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;

constexpr std::array<std::string_view, kPatternFormatCount> kNames{"npz",    "mtx", "mat", "metis",
                                                                   "scotch", "csv", "prof"};
constexpr std::array<std::string_view, kPatternFormatCount> kSources{
    "", "Matrix Market", "TreeMatch", "METIS graph", "Scotch graph", "CSV", ""};
constexpr std::array<std::pair<std::string_view, PatternFormat>, 9> kExtensions{
    {{".npz", PatternFormat::kNpz},
     {".mtx", PatternFormat::kMatrixMarket},
     {".mat", PatternFormat::kTreeMatch},
     {".graph", PatternFormat::kMetis},
     {".grf", PatternFormat::kScotch},
     {".scotch", PatternFormat::kScotch},
     {".csv", PatternFormat::kCsv},
     {".txt", PatternFormat::kCsv},
     {".prof", PatternFormat::kMonitoring}}};
constexpr std::string_view kMonitoringEnd = ".prof";
constexpr std::string_view kMatrixEnd = ".npy";  // read only

// --- Open MPI monitoring: one file per rank

struct RankFile {
  Rank rank;
  std::string path;
};

// Splits "F.12.prof" into F and 12.
std::optional<std::pair<std::string, Rank>> prefix_and_rank(const std::string& path) {
  if (!path.ends_with(kMonitoringEnd)) return std::nullopt;
  const std::string stem = path.substr(0, path.size() - kMonitoringEnd.size());
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot + 1 == stem.size() || stem[dot + 1] == '-') return std::nullopt;
  Rank rank = 0;
  const auto [stop, error] = std::from_chars(stem.data() + dot + 1, stem.data() + stem.size(), rank);
  if (error != std::errc() || stop != stem.data() + stem.size()) return std::nullopt;
  return std::pair(stem.substr(0, dot), rank);
}

// The existing files F.RANK.prof, by rank.
std::vector<RankFile> rank_files(const std::string& prefix) {
  std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  if (folder.empty()) folder = ".";
  const std::string base = std::filesystem::path(prefix).filename().string();
  std::vector<RankFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const auto parts = prefix_and_rank(entry->path().filename().string());
    if (parts && parts->first == base) files.push_back({parts->second, (folder / entry->path().filename()).string()});
  }
  std::sort(files.begin(), files.end(), [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; });
  return files;
}

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::vector<MonitoringFile> read_monitoring_files(const std::string& path) {
  const auto parts = prefix_and_rank(path);
  if (is_there(path) && !parts) return {{path, std::nullopt, read_file(path)}};  // all ranks in one file, or not a file
  std::vector<MonitoringFile> files;
  for (const RankFile& file : rank_files(parts ? parts->first : path)) {
    files.push_back({file.path, file.rank, read_file(file.path)});
  }
  if (files.empty()) {
    throw core::Error(core::Fault::kSystem, path + ": no such file, nor " + path + ".RANK.prof");
  }
  return files;
}

void save_monitoring(const std::string& path, const Pattern& pattern, Warnings& warnings) {
  std::string prefix = path;
  if (const auto parts = prefix_and_rank(path)) {
    prefix = parts->first;
  } else if (path.ends_with(kMonitoringEnd)) {
    prefix.resize(path.size() - kMonitoringEnd.size());
  }
  std::vector<NamedBytes> files;
  for (std::string& text : write_monitoring(pattern, warnings)) {
    files.push_back({prefix + "." + std::to_string(files.size()) + std::string(kMonitoringEnd), std::move(text)});
  }
  const auto stale = rank_files(prefix);
  if (!stale.empty() && stale.back().rank >= pattern.ranks) {
    throw core::Error(core::Fault::kInput, stale.back().path + ": exists already, from a run with more ranks than " +
                                               std::to_string(pattern.ranks) + "; remove it or choose another name");
  }
  write_files_atomically(files);
}

// --- choosing

PatternFormat chosen_format(const std::string& path, std::optional<PatternFormat> format) {
  if (!format) format = pattern_format_from_path(path);
  if (format) return *format;
  throw core::Error(core::Fault::kInput,
                    path +
                        ": unknown extension, expected .npz, .mtx, .mat, .graph, .grf, .scotch, .csv or .prof, or "
                        "the name of a format (npz, mtx, mat, metis, scotch, csv, prof)");
}

Pattern read_text(const std::string& path, PatternFormat format, MetricChoice metric, Warnings& warnings) {
  const std::string bytes = read_file(path);
  switch (format) {
    case PatternFormat::kMatrixMarket:
      return read_matrix_market(bytes, path, metric, warnings);
    case PatternFormat::kTreeMatch:
      return read_treematch_mat(bytes, path, metric, warnings);
    case PatternFormat::kMetis:
      return read_metis_graph(bytes, path, metric, warnings);
    case PatternFormat::kScotch:
      return read_scotch_graph(bytes, path, metric, warnings);
    case PatternFormat::kCsv:
    case PatternFormat::kNpz:
    case PatternFormat::kMonitoring:
      break;
  }
  return read_pattern_csv(bytes, path, warnings);
}

LoadedPattern loaded_matrix(WholeMatrix matrix, const std::string& path, MetricChoice metric, bool whole) {
  LoadedPattern loaded;
  if (whole) {
    loaded.matrix = std::move(matrix);
  } else {
    loaded.pattern = pattern_of(matrix, path, metric, loaded.warnings);
  }
  return loaded;
}

// A pattern, or a matrix: sparse ones have an array "format".
LoadedPattern load_npz(const std::string& path, MetricChoice metric, bool whole) {
  LoadedPattern loaded;
  const std::string bytes = read_file(path);
  const NpzReader file(bytes, path);
  if (!file.has("indptr") || file.has("format")) {
    if (auto matrix = read_npz_matrix(file)) return loaded_matrix(std::move(*matrix), path, metric, whole);
    if (auto sparse = read_sparse_matrix(file, path, metric, loaded.warnings)) {
      loaded.pattern = std::move(*sparse);
      return loaded;
    }
  }
  loaded.pattern = read_pattern_npz(bytes, path);
  return loaded;
}

std::string written(const Pattern& pattern, PatternFormat format, Metric metric, Warnings& warnings) {
  switch (format) {
    case PatternFormat::kMatrixMarket:
      return write_matrix_market(pattern, metric, warnings);
    case PatternFormat::kTreeMatch:
      return write_treematch_mat(pattern, metric, warnings);
    case PatternFormat::kMetis:
      return write_metis_graph(pattern, metric, warnings);
    case PatternFormat::kScotch:
      return write_scotch_graph(pattern, metric, warnings);
    case PatternFormat::kCsv:
      return write_pattern_csv(pattern, warnings);
    case PatternFormat::kNpz:
    case PatternFormat::kMonitoring:
      break;
  }
  return write_pattern_npz(pattern);
}

}  // namespace

std::string_view pattern_format_name(PatternFormat format) { return kNames.at(static_cast<std::size_t>(format)); }

std::optional<PatternFormat> pattern_format_from_name(std::string_view word) {
  const auto* found = std::find(kNames.begin(), kNames.end(), word);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<PatternFormat>(found - kNames.begin());
}

std::optional<PatternFormat> pattern_format_from_path(std::string_view path) {
  for (const auto& [extension, format] : kExtensions) {
    if (path.ends_with(extension)) return format;
  }
  return std::nullopt;
}

LoadedPattern load_pattern(const std::string& path, std::optional<PatternFormat> format,
                           std::optional<core::pattern::Metric> metric, bool whole) {
  if (!format && !pattern_format_from_path(path) && !is_there(path) && !rank_files(path).empty()) {
    format = PatternFormat::kMonitoring;
  }
  if (!format && path.ends_with(kMatrixEnd)) {
    return loaded_matrix(read_npy_matrix(read_file(path), path), path, metric, whole);
  }
  const PatternFormat chosen = chosen_format(path, format);
  LoadedPattern loaded;
  if (chosen == PatternFormat::kMonitoring) {
    loaded.pattern = read_monitoring(read_monitoring_files(path), loaded.warnings);
  } else if (chosen == PatternFormat::kNpz) {
    loaded = load_npz(path, metric, whole);
  } else {
    loaded.pattern = read_text(path, chosen, metric, loaded.warnings);
  }
  if (loaded.matrix) return loaded;
  core::pattern::validate(loaded.pattern, path);
  std::string& source = loaded.pattern.metadata.source;
  if (source.empty()) source = kSources.at(static_cast<std::size_t>(chosen));
  return loaded;
}

std::vector<std::string> save_pattern(const std::string& path, const Pattern& pattern,
                                      std::optional<PatternFormat> format, Metric metric) {
  const PatternFormat chosen = chosen_format(path, format);
  core::pattern::validate(pattern, "pattern");
  Warnings warnings;
  if (chosen == PatternFormat::kMonitoring) {
    save_monitoring(path, pattern, warnings);
  } else {
    write_file_atomically(path, written(pattern, chosen, metric, warnings));
  }
  return warnings;
}

}  // namespace ranktree::io
