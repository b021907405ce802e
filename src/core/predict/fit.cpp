#include "core/predict/fit.h"

#include <span>

#include "core/predict/closed_forms.h"

namespace ranktree::core::predict {
namespace {

// Sums with weights 1 / seconds^2.
struct Sums {
  double weight = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
};

Sums sums_of(std::span<const Sample> samples) {
  Sums sums;
  for (const Sample& sample : samples) {
    const double weight = 1 / (sample.seconds * sample.seconds);
    sums.weight += weight;
    sums.x += weight * sample.bytes;
    sums.y += weight * sample.seconds;
    sums.xx += weight * sample.bytes * sample.bytes;
    sums.xy += weight * sample.bytes * sample.seconds;
  }
  return sums;
}

}  // namespace

Line fit_line(std::span<const Sample> samples) {
  const Sums sums = sums_of(samples);
  const double spread = sums.weight * sums.xx - sums.x * sums.x;
  if (!(spread > 1e-12 * sums.weight * sums.xx)) return {.latency = sums.y / sums.weight, .per_byte = 0};
  Line line;
  line.per_byte = (sums.weight * sums.xy - sums.x * sums.y) / spread;
  line.latency = (sums.y - line.per_byte * sums.x) / sums.weight;
  if (line.per_byte < 0) return {.latency = sums.y / sums.weight, .per_byte = 0};
  if (line.latency < 0) return {.latency = 0, .per_byte = sums.xy / sums.xx};
  return line;
}

}  // namespace ranktree::core::predict
