// Graphs for partitioners: METIS (manual 5.1, "Graph file") and Scotch (user's guide 7.0, "Graph files").
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::pattern::Affinity;
using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;

constexpr const char* kMetis = "METIS graph";
constexpr const char* kScotch = "Scotch graph";
constexpr std::string_view kMetisComment = "%";
constexpr std::int64_t kMostEdges = std::numeric_limits<std::int64_t>::max() / 2;

// Both directions of every edge, as the files list them.
class ArcList {
  struct Arc {
    Rank from;
    Rank to;
    double weight;
    std::size_t line;
    // The two directions of an edge side by side, the one from the lower rank first.
    [[nodiscard]] auto key() const { return std::tuple(std::min(from, to), std::max(from, to), from); }
  };

 public:
  void add(Rank from, Rank to, double weight, const TextReader& file, std::size_t line) {
    if (from == to) file.refuse_at(line, "the vertex has an edge to itself");
    arcs_.push_back({from, to, weight, line});
  }
  [[nodiscard]] std::size_t size() const { return arcs_.size(); }

  // One entry for each edge, from the lower rank to the higher. Refuses an arc given twice, and an arc whose reverse is
  // missing or has another weight. O(arcs log arcs).
  Pattern build(Rank ranks, Metric metric, const TextReader& file) {
    std::sort(arcs_.begin(), arcs_.end(), [](const Arc& a, const Arc& b) { return a.key() < b.key(); });
    EntryList entries;
    entries.reserve(arcs_.size() / 2);
    for (std::size_t i = 0; i < arcs_.size(); i += 2) {
      const Arc& arc = arcs_[i];
      const bool paired = i + 1 < arcs_.size() && arcs_[i + 1].from == arc.to && arcs_[i + 1].to == arc.from;
      if (!paired) refuse_unpaired(i, file);
      if (arcs_[i + 1].weight != arc.weight) {
        file.refuse_at(arcs_[i + 1].line, "the edge weighs " + number_text(arcs_[i + 1].weight) + " here and " +
                                              number_text(arc.weight) + " on line " + std::to_string(arc.line));
      }
      entries.add(entry_of(arc.from, arc.to, arc.weight, metric), arc.line);
    }
    return entries.build(ranks, file);
  }

 private:
  [[noreturn]] void refuse_unpaired(std::size_t i, const TextReader& file) const {
    const auto same = [this](std::size_t a, std::size_t b) {
      return a < arcs_.size() && b < arcs_.size() && arcs_[a].from == arcs_[b].from && arcs_[a].to == arcs_[b].to;
    };
    // Arcs are sorted by pair: a duplicate is directly before or after.
    for (const std::size_t j : {i, i > 0 ? i - 1 : i}) {
      if (same(j, j + 1))
        file.refuse_at(std::max(arcs_[j].line, arcs_[j + 1].line), "duplicate entry: edge given twice");
    }
    file.refuse_at(arcs_[i].line, "the edge is not in its other vertex's list");
  }

  std::vector<Arc> arcs_;
};

void check_edge_count(std::int64_t arcs, const TextReader& file) {
  constexpr std::int64_t kShortest = 2;  // "1 "
  if (arcs > (static_cast<std::int64_t>(file.file_size()) + 1) / kShortest) {
    file.refuse("declares " + std::to_string(arcs / 2) + " edges, too many for a file of " +
                std::to_string(file.file_size()) + " bytes");
  }
}

// METIS and Scotch hold whole numbers only.
std::int64_t whole_weight(double weight, const char* format) {
  if (is_whole(weight)) return static_cast<std::int64_t>(weight);
  throw core::Error(core::Fault::kInput, std::string(format) + " holds whole numbers up to 2^53, the pattern has " +
                                             number_text(weight) + " for a pair");
}

// The graph to write, with its warnings.
Affinity undirected(const Pattern& pattern, Metric metric, const char* format, Warnings& warnings) {
  one_number(pattern, metric, format, warnings);
  warnings.push_back(std::string(format) +
                     " holds no directions: both directions of a pair are added, self messages left out");
  Affinity graph = core::pattern::affinity(pattern, metric);
  const double sum = std::accumulate(graph.weights.begin(), graph.weights.end(), 0.0) / 2;
  if (sum > std::numeric_limits<std::int32_t>::max()) {
    warnings.push_back(std::string(format) + ": the weights add up to " + number_text(sum) +
                       ", beyond 32 bits: METIS and Scotch need their builds for 64-bit numbers");
  }
  return graph;
}

// --- METIS

struct MetisHeader {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  bool sizes = false;        // each vertex's line begins with its size
  std::int64_t weights = 0;  // then so many weights
  bool edge_weights = false;
};

MetisHeader read_metis_header(TextReader& file) {
  MetisHeader header;
  header.vertices = file.integer("number of vertices", 1, kMostRanks);
  header.edges = file.integer("number of edges", 0, kMostEdges);
  if (!file.at_line_end()) {
    const std::int64_t format = file.integer("format (fmt)", 0, 111);
    if (format % 10 > 1 || format / 10 % 10 > 1) file.refuse("format (fmt): expected three digits 0 or 1");
    header.edge_weights = format % 10 == 1;
    header.weights = format / 10 % 10;
    header.sizes = format / 100 == 1;
  }
  constexpr std::int64_t kMostConstraints = 1000;
  if (!file.at_line_end()) {
    const std::int64_t constraints = file.integer("number of vertex weights (ncon)", 0, kMostConstraints);
    if (header.weights != 0) header.weights = constraints;
  }
  file.expect_line_end();
  check_edge_count(2 * header.edges, file);
  // Every vertex has a line.
  if (header.vertices > static_cast<std::int64_t>(file.file_size())) {
    file.refuse("declares " + std::to_string(header.vertices) + " vertices, too many for a file of " +
                std::to_string(file.file_size()) + " bytes");
  }
  return header;
}

// The line of the next vertex may be empty, so only comments are skipped.
void need_vertex_line(TextReader& file, const MetisHeader& header, std::int64_t vertex) {
  while (file.next_line()) {
    if (!file.line().starts_with(kMetisComment)) return;
  }
  file.refuse_at(file.line_number() + 1, "the file ends, expected " + std::to_string(header.vertices) +
                                             " lines of vertices, found " + std::to_string(vertex));
}

void read_metis_vertex(TextReader& file, const MetisHeader& header, Rank vertex, ArcList& arcs) {
  if (header.sizes) file.amount("vertex size");
  for (std::int64_t i = 0; i < header.weights; ++i) file.amount("vertex weight");
  while (!file.at_line_end()) {
    const auto neighbour = static_cast<Rank>(file.integer("neighbour", 1, header.vertices) - 1);
    const double weight = header.edge_weights ? file.amount("edge weight") : 1;
    arcs.add(vertex, neighbour, weight, file, file.line_number());
  }
}

// --- Scotch

struct ScotchHeader {
  std::int64_t vertices = 0;
  std::int64_t arcs = 0;
  std::int64_t base = 0;  // number of the first vertex
  bool labels = false;
  bool arc_loads = false;
  bool vertex_loads = false;
};

ScotchHeader read_scotch_header(TextReader& file) {
  ScotchHeader header;
  file.need_data_line("", "the version of the graph, 0");
  if (file.word() != "0") file.refuse("expected version 0 of the Scotch graph format");
  file.expect_line_end();
  file.need_data_line("", "the numbers of vertices and arcs");
  header.vertices = file.integer("number of vertices", 1, kMostRanks);
  header.arcs = file.integer("number of arcs", 0, kMostEdges);
  file.expect_line_end();
  check_edge_count(header.arcs, file);
  if (header.vertices > static_cast<std::int64_t>(file.file_size())) {
    file.refuse("declares " + std::to_string(header.vertices) + " vertices, too many for a file of " +
                std::to_string(file.file_size()) + " bytes");
  }
  file.need_data_line("", "the base value and the three digits of flags");
  header.base = file.integer("base value", 0, 1);
  const std::string_view flags = file.word();
  if (flags.size() != 3 || flags.find_first_not_of("01") != std::string_view::npos) {
    file.refuse("flags: expected three digits 0 or 1 (vertex labels, arc loads, vertex loads)");
  }
  header.labels = flags[0] == '1';
  header.arc_loads = flags[1] == '1';
  header.vertex_loads = flags[2] == '1';
  file.expect_line_end();
  return header;
}

struct ScotchArc {
  Rank from;
  std::int64_t to;  // a label, or a number from the base
  double weight;
  std::size_t line;
};

// Vertices are named by number or, when they have labels, by label. All labels are known only after the last line.
class ScotchBody {
 public:
  ScotchBody(TextReader& file, const ScotchHeader& header) : file_(file), header_(header) {}

  void read_vertex(Rank vertex) {
    if (!file_.next_data_line("")) {
      file_.refuse_at(file_.line_number() + 1, "the file ends, expected " + std::to_string(header_.vertices) +
                                                   " lines of vertices, found " + std::to_string(vertex));
    }
    if (header_.labels && !numbers_.emplace(file_.integer("label", 0, kMostEdges), vertex).second) {
      file_.refuse("duplicate entry: the label is already taken");
    }
    if (header_.vertex_loads) file_.amount("vertex load");
    const std::int64_t degree = file_.integer("degree", 0, header_.arcs);
    for (std::int64_t i = 0; i < degree; ++i) {
      const double weight = header_.arc_loads ? file_.amount("arc load") : 1;
      const std::int64_t to = header_.labels
                                  ? file_.integer("neighbour's label", 0, kMostEdges)
                                  : file_.integer("neighbour", header_.base, header_.vertices + header_.base - 1);
      arcs_.push_back({vertex, to, weight, file_.line_number()});
    }
    file_.expect_line_end();
  }

  [[nodiscard]] ArcList arcs() const {
    ArcList result;
    for (const ScotchArc& arc : arcs_) {
      const auto known = numbers_.find(arc.to);
      if (header_.labels && known == numbers_.end()) {
        file_.refuse_at(arc.line, "neighbour's label " + std::to_string(arc.to) + " belongs to no vertex");
      }
      const Rank to = header_.labels ? known->second : static_cast<Rank>(arc.to - header_.base);
      result.add(arc.from, to, arc.weight, file_, arc.line);
    }
    return result;
  }

 private:
  TextReader& file_;
  const ScotchHeader& header_;
  std::vector<ScotchArc> arcs_;
  std::unordered_map<std::int64_t, Rank> numbers_;
};

}  // namespace

Pattern read_metis_graph(std::string_view bytes, const std::string& origin, MetricChoice metric, Warnings& warnings) {
  TextReader file(bytes, origin);
  const std::optional<Metric> written = need_line_behind_comments(file, "the header 'vertices edges [fmt [ncon]]'");
  const MetisHeader header = read_metis_header(file);
  const Metric meaning = metric.value_or(written.value_or(Metric::kSize));
  warn_of_one_number(kMetis, meaning, warnings);
  ArcList arcs;
  for (std::int64_t vertex = 0; vertex < header.vertices; ++vertex) {
    need_vertex_line(file, header, vertex);
    read_metis_vertex(file, header, static_cast<Rank>(vertex), arcs);
  }
  if (file.next_data_line(kMetisComment)) {
    file.refuse("expected the end of the file after " + std::to_string(header.vertices) + " vertices");
  }
  Pattern pattern = arcs.build(static_cast<Rank>(header.vertices), meaning, file);
  if (static_cast<std::int64_t>(arcs.size()) != 2 * header.edges) {
    file.refuse("expected " + std::to_string(header.edges) + " edges as the header declares, found " +
                std::to_string(arcs.size() / 2));
  }
  return pattern;
}

std::string write_metis_graph(const Pattern& pattern, Metric metric, Warnings& warnings) {
  const Affinity graph = undirected(pattern, metric, kMetis, warnings);
  std::string text =
      metric_comment(metric) + std::to_string(graph.ranks) + " " + std::to_string(graph.indices.size() / 2) + " 001\n";
  for (Rank vertex = 0; vertex < graph.ranks; ++vertex) {
    const auto neighbours = graph.neighbours(vertex);
    const auto weights = graph.weights_of(vertex);
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (i > 0) text += ' ';
      append_number(text, std::int64_t{neighbours[i]} + 1);
      text += ' ';
      append_number(text, whole_weight(weights[i], kMetis));
    }
    text += '\n';
  }
  return text;
}

Pattern read_scotch_graph(std::string_view bytes, const std::string& origin, MetricChoice metric, Warnings& warnings) {
  TextReader file(bytes, origin);
  const ScotchHeader header = read_scotch_header(file);
  const Metric meaning = metric.value_or(Metric::kSize);
  warn_of_one_number(kScotch, meaning, warnings);
  ScotchBody body(file, header);
  for (std::int64_t vertex = 0; vertex < header.vertices; ++vertex) body.read_vertex(static_cast<Rank>(vertex));
  if (file.next_data_line("")) {
    file.refuse("expected the end of the file after " + std::to_string(header.vertices) + " vertices");
  }
  ArcList arcs = body.arcs();
  if (static_cast<std::int64_t>(arcs.size()) != header.arcs) {
    file.refuse("expected " + std::to_string(header.arcs) + " arcs as the header declares, found " +
                std::to_string(arcs.size()));
  }
  return arcs.build(static_cast<Rank>(header.vertices), meaning, file);
}

std::string write_scotch_graph(const Pattern& pattern, Metric metric, Warnings& warnings) {
  const Affinity graph = undirected(pattern, metric, kScotch, warnings);
  std::string text = "0\n" + std::to_string(graph.ranks) + " " + std::to_string(graph.indices.size()) + "\n0 010\n";
  for (Rank vertex = 0; vertex < graph.ranks; ++vertex) {
    const auto neighbours = graph.neighbours(vertex);
    const auto weights = graph.weights_of(vertex);
    append_number(text, static_cast<std::int64_t>(neighbours.size()));
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      text += ' ';
      append_number(text, whole_weight(weights[i], kScotch));
      text += ' ';
      append_number(text, std::int64_t{neighbours[i]});
    }
    text += '\n';
  }
  return text;
}

}  // namespace ranktree::io
