// The output of Open MPI's monitoring components (pml_monitoring_enable_output 3), lines of fields separated by tabs:
//   E src dst B bytes M msgs sent [histogram]   point-to-point messages of the program
//   I src dst B bytes M msgs sent [histogram]   messages of the library: collectives as decomposed, set-up, barriers
//   S src dst B bytes M msgs sent               one-sided, data leaving src
//   R src dst B bytes M msgs sent               one-sided, data that src fetched from dst
//   C src dst B bytes M msgs sent               collectives by a flat model: not messages
//   D, O2A, A2O, A2A                            totals of communicators
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::pattern::Class;
using core::pattern::Entry;
using core::pattern::Pattern;
using core::pattern::Rank;

constexpr std::string_view kIgnored[] = {"C", "D", "O2A", "A2O", "A2A"};

struct Line {
  char letter = 0;
  Rank source = 0;
  Rank destination = 0;
  double bytes = 0;
  double messages = 0;
};

void need_word(TextReader& file, std::string_view word) {
  if (file.word() != word) file.refuse("expected '" + std::string(word) + "'");
}

Line read_line(TextReader& file, char letter) {
  constexpr std::int64_t kLastRank = std::numeric_limits<Rank>::max() - 1;
  Line line{.letter = letter};
  line.source = static_cast<Rank>(file.integer("source", 0, kLastRank));
  line.destination = static_cast<Rank>(file.integer("destination", 0, kLastRank));
  line.bytes = file.amount("bytes");
  need_word(file, "bytes");
  line.messages = file.amount("messages");
  need_word(file, "msgs");
  need_word(file, "sent");
  return line;  // a histogram may follow
}

Entry entry_of_line(const Line& line) {
  Entry entry{.from = line.source, .to = line.destination, .messages = line.messages, .bytes = line.bytes};
  if (line.letter == 'E') entry.kind = Class::kPointToPoint;
  if (line.letter == 'I') entry.kind = Class::kCollective;
  if (line.letter == 'S' || line.letter == 'R') entry.kind = Class::kRma;
  if (line.letter == 'R') std::swap(entry.from, entry.to);
  return entry;
}

// Combines the files of all ranks.
class Collector {
  using Key = std::tuple<char, Rank, Rank, std::size_t>;  // letter, source, destination, line

 public:
  void read(const MonitoringFile& input) {
    TextReader file(input.bytes, input.origin);
    if (input.bytes.empty()) file.refuse_at(1, "the file is empty, expected '# POINT TO POINT'");
    // Every line is written with its end.
    if (input.bytes.back() != '\n') refuse_truncated(file);
    if (input.rank) note(*input.rank);
    joined_ = joined_ || !input.rank;
    keys_.clear();
    while (file.next_data_line("#")) read_one(file, input.rank);
    refuse_duplicates(file);
  }

  Pattern finish(const std::string& origin, Warnings& warnings) {
    const auto ranks = static_cast<std::int64_t>(last_) + 1;
    if (ranks == 0) throw core::Error(core::Fault::kInput, origin + ": it names no rank");
    const std::int64_t missing = ranks - static_cast<std::int64_t>(present_.size());
    // Ranks that only receive appear as destinations, but most files of a run must be there. A file of all ranks does
    // not show which are missing.
    if (!joined_ && missing > static_cast<std::int64_t>(present_.size())) {
      throw core::Error(core::Fault::kInput, origin + ": expected the files of ranks 0.." + std::to_string(last_) +
                                                 ", found " + std::to_string(present_.size()));
    }
    Pattern pattern = core::pattern::from_entries(static_cast<Rank>(ranks), entries_);
    if (!joined_) note_missing(pattern, warnings);
    warn(warnings);
    pattern.metadata.source =
        "Open MPI monitoring (persistent sends missing; linear alltoall counted as point-to-point; collectives with "
        "set-up messages and barriers; one-sided counted twice over osc/pt2pt)";
    pattern.metadata.mpi = "Open MPI";
    return pattern;
  }

 private:
  [[noreturn]] static void refuse_truncated(TextReader& file) {
    while (file.next_line()) {
    }
    file.refuse("the line is incomplete: the file is truncated");
  }

  void note(Rank rank) {
    present_.insert(rank);
    last_ = std::max(last_, rank);
  }

  void read_one(TextReader& file, std::optional<Rank> rank) {
    const std::string_view word = file.word();
    if (std::find(std::begin(kIgnored), std::end(kIgnored), word) != std::end(kIgnored)) return;
    if (word.size() != 1 || std::string_view("EISR").find(word) == std::string_view::npos) {
      file.refuse("expected a line of Open MPI's monitoring (E, I, S, R, C, D, O2A, A2O or A2A)");
    }
    const Line line = read_line(file, word.front());
    if (rank && line.source != *rank) {
      file.refuse("source: expected " + std::to_string(*rank) + ", the file's rank, found " +
                  std::to_string(line.source));
    }
    keys_.emplace_back(line.letter, line.source, line.destination, file.line_number());
    note(line.source);
    last_ = std::max(last_, line.destination);
    seen_.insert(line.letter);
    entries_.push_back(entry_of_line(line));
  }

  void refuse_duplicates(const TextReader& file) {
    std::sort(keys_.begin(), keys_.end());
    const auto same = [](const Key& a, const Key& b) {
      return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b) && std::get<2>(a) == std::get<2>(b);
    };
    const auto found = std::adjacent_find(keys_.begin(), keys_.end(), same);
    if (found == keys_.end()) return;
    file.refuse_at(std::get<3>(*std::next(found)),
                   "duplicate entry: the pair is already on line " + std::to_string(std::get<3>(*found)));
  }

  void note_missing(Pattern& pattern, Warnings& warnings) const {
    for (Rank rank = 0; rank < pattern.ranks; ++rank) {
      if (!present_.contains(rank)) pattern.metadata.missing.push_back(rank);
    }
    if (pattern.metadata.missing.empty()) return;
    pattern.metadata.complete = false;
    warnings.push_back("Open MPI monitoring: no file of rank " + std::to_string(pattern.metadata.missing.front()) +
                       (pattern.metadata.missing.size() > 1
                            ? " and " + std::to_string(pattern.metadata.missing.size() - 1) + " others"
                            : "") +
                       ": the pattern is incomplete");
  }

  void warn(Warnings& warnings) const {
    const auto has = [this](char letter) { return seen_.contains(letter); };
    const std::string name = "Open MPI monitoring: ";
    warnings.push_back(name + "persistent sends (MPI_Send_init, MPI_Start) are not recorded");
    if (has('E')) warnings.push_back(name + "linear alltoall is counted as point-to-point");
    if (has('I')) {
      warnings.push_back(name +
                         "collectives are as the library decomposed them in that run, with barriers and the "
                         "set-up of communicators");
    }
    if (has('S') || has('R')) {
      warnings.push_back(name +
                         "one-sided traffic is counted twice over osc/pt2pt (again as point-to-point), and each "
                         "MPI_Get adds an empty message to its target");
    }
  }

  std::vector<Entry> entries_;
  std::vector<Key> keys_;  // of the file being read
  std::set<Rank> present_;
  bool joined_ = false;  // a file is of all ranks
  std::set<char> seen_;
  Rank last_ = -1;
};

void append_line(std::string& text, char letter, Rank from, Rank to, double messages, double bytes) {
  text += letter;
  text += '\t';
  append_number(text, std::int64_t{from});
  text += '\t';
  append_number(text, std::int64_t{to});
  text += '\t';
  append_number(text, bytes);
  text += " bytes\t";
  append_number(text, messages);
  text += " msgs sent\n";
}

// One letter's traffic of one rank: the sum of the classes it represents.
void append_lines(std::string& text, const Pattern& pattern, Rank rank, char letter, const std::vector<Class>& kinds) {
  for (std::int64_t i = pattern.indptr[rank]; i < pattern.indptr[rank + 1]; ++i) {
    double messages = 0;
    double bytes = 0;
    for (const Class kind : kinds) {
      messages += pattern.of(kind).messages[i];
      bytes += pattern.of(kind).bytes[i];
    }
    if (messages != 0 || bytes != 0) append_line(text, letter, rank, pattern.indices[i], messages, bytes);
  }
}

}  // namespace

Pattern read_monitoring(const std::vector<MonitoringFile>& files, Warnings& warnings) {
  Collector collector;
  for (const MonitoringFile& file : files) collector.read(file);
  return collector.finish(files.empty() ? "monitoring" : files.front().origin, warnings);
}

std::vector<std::string> write_monitoring(const Pattern& pattern, Warnings& warnings) {
  warn_of_lost_calls(pattern, "Open MPI monitoring", warnings);
  for (const double messages : pattern.of(Class::kNeighbor).messages) {
    if (messages == 0) continue;
    warnings.emplace_back(
        "Open MPI monitoring holds no class of neighbourhood collectives: added to the library's messages (I)");
    break;
  }
  std::vector<std::string> texts(static_cast<std::size_t>(pattern.ranks));
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    std::string& text = texts[static_cast<std::size_t>(rank)];
    text = "# POINT TO POINT\n";
    append_lines(text, pattern, rank, 'E', {Class::kPointToPoint});
    append_lines(text, pattern, rank, 'I', {Class::kNeighbor, Class::kCollective});
    text += "# OSC\n";
    append_lines(text, pattern, rank, 'S', {Class::kRma});
    text += "# COLLECTIVES\n";
  }
  return texts;
}

}  // namespace ranktree::io
