// Any small pattern, written in every format: what is written can be read, has the same sum of bytes, and is written
// the same once more.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "bytes.h"
#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"

namespace {

namespace io = ranktree::io;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::Entry;
using ranktree::core::pattern::Metric;
using ranktree::core::pattern::Pattern;

std::string some_text(Bytes& bytes) {
  std::string found;
  for (int left = bytes.next(16); left > 0; --left) found.push_back(static_cast<char>(bytes.next(256)));
  return found;
}

Pattern some_pattern(Bytes& bytes) {
  const int ranks = 1 + bytes.next(9);
  std::vector<std::string> texts{some_text(bytes), some_text(bytes), some_text(bytes)};
  const bool with_hosts = bytes.next(2) == 1;
  std::vector<std::string> hosts;
  for (int rank = 0; with_hosts && rank < ranks; ++rank) hosts.push_back(some_text(bytes));
  std::vector<Entry> entries;
  while (bytes.any()) {
    const double scale = static_cast<double>(std::int64_t{1} << bytes.next(40));
    entries.push_back({bytes.next(ranks), bytes.next(ranks), static_cast<Class>(bytes.next(4)),
                       static_cast<double>(bytes.next(256)), bytes.next(256) * scale});
  }
  Pattern pattern = ranktree::core::pattern::from_entries(ranks, entries);
  pattern.metadata.program = texts[0];
  pattern.metadata.launch = {texts[1], texts[2]};
  pattern.metadata.hosts = hosts;
  return pattern;
}

double bytes_of(const Pattern& pattern) {
  const std::vector<double> amounts = ranktree::core::pattern::total(pattern).bytes;
  return std::accumulate(amounts.begin(), amounts.end(), 0.0);
}

void require(bool holds) {
  if (!holds) std::abort();
}

// A pattern that the format cannot hold is refused by the writer; what it writes, the reader takes.
template <typename Write, typename Read>
void there_and_back(const Pattern& pattern, const Write& write, const Read& read) {
  std::string text;
  try {
    text = write(pattern);
  } catch (const ranktree::core::Error&) {
    return;
  }
  const Pattern again = read(text);
  require(bytes_of(again) == bytes_of(pattern));
  require(write(again) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const Pattern pattern = some_pattern(bytes);
  io::Warnings warnings;
  there_and_back(pattern, io::write_pattern_npz,
                 [](const std::string& text) { return io::read_pattern_npz(text, "npz"); });
  there_and_back(
      pattern, [&](const Pattern& each) { return io::write_pattern_csv(each, warnings); },
      [&](const std::string& text) { return io::read_pattern_csv(text, "csv", warnings); });
  there_and_back(
      pattern, [&](const Pattern& each) { return io::write_matrix_market(each, Metric::kSize, warnings); },
      [&](const std::string& text) { return io::read_matrix_market(text, "mtx", {}, warnings); });
  there_and_back(
      pattern, [&](const Pattern& each) { return io::write_treematch_mat(each, Metric::kSize, warnings); },
      [&](const std::string& text) { return io::read_treematch_mat(text, "mat", {}, warnings); });
  try {
    // Undirected: self messages have no edge, so the sums may differ.
    (void)io::read_metis_graph(io::write_metis_graph(pattern, Metric::kSize, warnings), "metis", {}, warnings);
    (void)io::read_scotch_graph(io::write_scotch_graph(pattern, Metric::kSize, warnings), "scotch", {}, warnings);
  } catch (const ranktree::core::Error&) {
    std::abort();
  }
  return 0;
}
