#include "mpi/reorder/calls.h"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"
#include "io/pattern_file.h"
#include "mpi/agree.h"
#include "mpi/split/split.h"

namespace ranktree::mpi {
namespace {

using core::pattern::Metric;
using core::pattern::Pattern;

Metric metric_of(const std::string& word) {
  const auto metric = core::pattern::metric_from_name(word);
  if (!metric) throw core::Error(core::Fault::kInput, "metric: expected size, msg or avg, found '" + word + "'");
  return *metric;
}

std::vector<double> measured(const Pattern& pattern, Metric metric) {
  core::pattern::Traffic traffic = core::pattern::total(pattern);
  if (metric == Metric::kMessages) return traffic.messages;
  if (metric == Metric::kAverage) {
    for (std::size_t i = 0; i < traffic.bytes.size(); ++i) {
      if (traffic.messages[i] > 0) traffic.bytes[i] /= traffic.messages[i];
    }
  }
  return traffic.bytes;
}

// All by one factor where some are too large for MPI; what is not zero stays so.
std::vector<int> whole(const std::vector<double>& amounts) {
  const double largest = amounts.empty() ? 0 : *std::max_element(amounts.begin(), amounts.end());
  const double factor = largest > INT_MAX ? INT_MAX / largest : 1;
  std::vector<int> weights(amounts.size());
  std::transform(amounts.begin(), amounts.end(), weights.begin(), [factor](double amount) {
    const double scaled = std::clamp(std::round(amount * factor), 0.0, static_cast<double>(INT_MAX));
    return static_cast<int>(amount > 0 ? std::max(scaled, 1.0) : 0.0);
  });
  return weights;
}

RecordedGraph graph_of(const Pattern& pattern, Metric metric) {
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  RecordedGraph graph;
  graph.sources.resize(ranks);
  graph.degrees.resize(ranks);
  std::iota(graph.sources.begin(), graph.sources.end(), 0);
  for (std::size_t i = 0; i < ranks; ++i) {
    graph.degrees[i] = static_cast<int>(pattern.indptr[i + 1] - pattern.indptr[i]);
  }
  graph.destinations = pattern.indices;
  graph.weights = whole(measured(pattern, metric));
  return graph;
}

}  // namespace

Pattern load_pattern(const std::string& file, int size, std::optional<Metric> metric) {
  Pattern pattern = [&] {
    try {
      return io::load_pattern(file, std::nullopt, metric).pattern;
    } catch (const core::Error& error) {
      throw AgreedError(MPI_ERR_FILE, error.what());
    }
  }();
  if (pattern.ranks != size) {
    throw core::Error(core::Fault::kMismatch, file + ": expected a pattern of " + std::to_string(size) +
                                                  " ranks, found " + std::to_string(pattern.ranks));
  }
  return core::pattern::expand(pattern, core::pattern::natural_model(pattern));
}

RecordedGraph read_pattern(const char* file, const char* metric, int rank, int size) {
  require(file, "file");
  require(metric, "metric");
  const Metric wanted = metric_of(metric);
  if (rank != 0) return {};
  // A number a pair is a number of bytes unless messages are wanted.
  const bool counts = wanted == Metric::kMessages;
  const Pattern pattern = load_pattern(file, size, counts ? std::optional(wanted) : std::nullopt);
  core::pattern::require_counted(wanted, pattern);
  return graph_of(pattern, wanted);
}

}  // namespace ranktree::mpi
