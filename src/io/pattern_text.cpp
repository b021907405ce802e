// Code that the text formats share.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/text.h"

namespace ranktree::io {

using core::pattern::Entry;
using core::pattern::Metric;
using core::pattern::Pattern;
using core::pattern::Rank;
using core::pattern::Traffic;

namespace {

constexpr std::string_view kMetricComment = "% ranktree metric ";

void check_metric(Metric metric, const char* format) {
  if (metric != Metric::kAverage) return;
  throw core::Error(core::Fault::kInput, std::string(format) + " holds bytes (size) or messages (msg), not avg");
}

}  // namespace

std::vector<double> one_number(const Pattern& pattern, Metric metric, const char* format, Warnings& warnings) {
  check_metric(metric, format);
  Traffic sum = core::pattern::total(pattern);
  const bool size = metric == Metric::kSize;
  if (core::pattern::any_nonzero(size ? sum.messages : sum.bytes)) {
    warnings.push_back(
        std::string(format) + " holds one number a pair: " +
        (size ? "bytes are written, numbers of messages are lost" : "numbers of messages are written, bytes are lost"));
  }
  for (std::size_t kind = 1; kind < core::pattern::kClassCount; ++kind) {
    const Traffic& traffic = pattern.traffic.at(kind);
    if (!core::pattern::any_nonzero(traffic.messages) && !core::pattern::any_nonzero(traffic.bytes)) continue;
    warnings.push_back(std::string(format) +
                       " holds no classes: point-to-point, collective and one-sided traffic are added");
    break;
  }
  warn_of_lost_calls(pattern, format, warnings);
  return size ? std::move(sum.bytes) : std::move(sum.messages);
}

void warn_of_lost_calls(const Pattern& pattern, const char* format, Warnings& warnings) {
  if (!pattern.collectives.empty()) {
    warnings.push_back(std::string(format) + " holds no collective calls: " +
                       std::to_string(pattern.collectives.size()) + " records are lost unless expanded to pairs first");
  }
  if (!pattern.metadata.unattributed.empty()) {
    warnings.push_back(std::string(format) + " holds no unattributed calls: their counts are lost");
  }
  if (!pattern.metadata.complete) {
    warnings.push_back(std::string(format) + " cannot mark a trace as incomplete, and this one is incomplete");
  }
}

Entry entry_of(Rank from, Rank to, double value, Metric metric) {
  Entry entry{.from = from, .to = to};
  (metric == Metric::kSize ? entry.bytes : entry.messages) = value;
  return entry;
}

void warn_of_one_number(const char* format, Metric metric, Warnings& warnings) {
  check_metric(metric, format);
  warnings.push_back(std::string(format) + " holds one number a pair: read as " +
                     (metric == Metric::kSize ? "bytes; numbers of messages are unknown (0)"
                                              : "numbers of messages; bytes are unknown (0)"));
}

std::string metric_comment(Metric metric) {
  return std::string(kMetricComment) + std::string(core::pattern::metric_name(metric)) + "\n";
}

MetricChoice need_line_behind_comments(TextReader& file, const char* what) {
  MetricChoice found;
  while (file.next_line()) {
    if (file.line().starts_with(kMetricComment)) {
      found = core::pattern::metric_from_name(file.line().substr(kMetricComment.size()));
    } else if (!file.at_line_end() && !file.line().starts_with('%')) {
      return found;
    }
  }
  file.refuse_at(file.line_number() + 1, std::string("the file ends, expected ") + what);
}

}  // namespace ranktree::io
