// One reader and one writer for each pattern format of docs/reference/formats/pattern.md. pattern_file.h selects among
// them.
//
// Readers take the bytes of a file, and `origin` to name it in errors: Error(kInput), one line with file and place.
// Readers and writers add to `warnings` what the format cannot hold.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

namespace ranktree::io {

class TextReader;
using Warnings = std::vector<std::string>;

// The most ranks that a file may have.
inline constexpr std::int64_t kMostRanks = std::numeric_limits<core::pattern::Rank>::max();

// The native format: numpy arrays in a zip. Holds everything.
core::pattern::Pattern read_pattern_npz(std::string_view bytes, const std::string& origin);
std::string write_pattern_npz(const core::pattern::Pattern& pattern);

// Comma-separated values, or the same columns separated by semicolons, tabs or blanks. Holds the classes of traffic.
core::pattern::Pattern read_pattern_csv(std::string_view bytes, const std::string& origin, Warnings& warnings);
std::string write_pattern_csv(const core::pattern::Pattern& pattern, Warnings& warnings);

// The formats with one number per pair. When read, the number becomes bytes (kSize) or messages (kMessages): as
// `metric` requests, else as the comment of this project's writer states, else bytes. When written, `metric` selects
// one of the two, summed over all classes.
using MetricChoice = std::optional<core::pattern::Metric>;

core::pattern::Pattern read_matrix_market(std::string_view bytes, const std::string& origin, MetricChoice metric,
                                          Warnings& warnings);
std::string write_matrix_market(const core::pattern::Pattern& pattern, core::pattern::Metric metric,
                                Warnings& warnings);

core::pattern::Pattern read_treematch_mat(std::string_view bytes, const std::string& origin, MetricChoice metric,
                                          Warnings& warnings);
std::string write_treematch_mat(const core::pattern::Pattern& pattern, core::pattern::Metric metric,
                                Warnings& warnings);

// Undirected graphs: an edge is read as traffic from the lower rank to the higher, so that costs, which add both
// directions, are those of the graph. A written edge has the sum of both directions.
core::pattern::Pattern read_metis_graph(std::string_view bytes, const std::string& origin, MetricChoice metric,
                                        Warnings& warnings);
std::string write_metis_graph(const core::pattern::Pattern& pattern, core::pattern::Metric metric, Warnings& warnings);
core::pattern::Pattern read_scotch_graph(std::string_view bytes, const std::string& origin, MetricChoice metric,
                                         Warnings& warnings);
std::string write_scotch_graph(const core::pattern::Pattern& pattern, core::pattern::Metric metric, Warnings& warnings);

// The output of Open MPI's monitoring: one file per rank, or all of them joined into one (then `rank` is empty).
struct MonitoringFile {
  std::string origin;
  std::optional<core::pattern::Rank> rank;
  std::string bytes;
};
core::pattern::Pattern read_monitoring(const std::vector<MonitoringFile>& files, Warnings& warnings);
// The text of each rank's file.
std::vector<std::string> write_monitoring(const core::pattern::Pattern& pattern, Warnings& warnings);

// Used by these formats: all classes of traffic as one number per pair. Warns when classes are merged or the other
// number is lost. Refuses kAverage, which no format holds.
std::vector<double> one_number(const core::pattern::Pattern& pattern, core::pattern::Metric metric, const char* format,
                               Warnings& warnings);
// Warns about what only the native format holds: collective calls and unattributed calls.
void warn_of_lost_calls(const core::pattern::Pattern& pattern, const char* format, Warnings& warnings);
// The entry for a number read from such a file, and the warning that the other number is unknown.
core::pattern::Entry entry_of(core::pattern::Rank from, core::pattern::Rank to, double value,
                              core::pattern::Metric metric);
void warn_of_one_number(const char* format, core::pattern::Metric metric, Warnings& warnings);
// Where comments begin with %: the line that states what the numbers are, so that messages are not read back as bytes.
std::string metric_comment(core::pattern::Metric metric);
// Moves behind the comments at the beginning; what such a line states. At the end of the file it throws "the file ends,
// expected <what>".
MetricChoice need_line_behind_comments(TextReader& file, const char* what);

}  // namespace ranktree::io
