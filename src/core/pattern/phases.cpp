#include "core/pattern/phases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

std::vector<Entry> entries_of(const Pattern& pattern, const Phase& phase) {
  std::vector<Entry> entries;
  entries.reserve(phase.pairs.size());
  Rank from = 0;
  for (std::size_t i = 0; i < phase.pairs.size(); ++i) {
    while (pattern.indptr[at(from) + 1] <= phase.pairs[i]) ++from;
    entries.push_back({.from = from,
                       .to = pattern.indices[at(phase.pairs[i])],
                       .messages = phase.traffic.messages[i],
                       .bytes = phase.traffic.bytes[i]});
  }
  return entries;
}

Phase make_phase(const Pattern& pattern, std::string name, double count, std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  Phase phase{.name = std::move(name), .count = count, .pairs = {}, .traffic = {}};
  for (const Entry& entry : entries) {
    const auto row = pattern.indices.begin() + pattern.indptr[at(entry.from)];
    const auto end = pattern.indices.begin() + pattern.indptr[at(entry.from) + 1];
    const auto found = std::lower_bound(row, end, entry.to);
    if (found == end || *found != entry.to || (entry.messages == 0 && entry.bytes == 0)) continue;
    const std::int64_t pair = found - pattern.indices.begin();
    if (phase.pairs.empty() || phase.pairs.back() != pair) {
      phase.pairs.push_back(pair);
      phase.traffic.messages.push_back(0);
      phase.traffic.bytes.push_back(0);
    }
    phase.traffic.messages.back() += entry.messages;
    phase.traffic.bytes.back() += entry.bytes;
  }
  return phase;
}

void limit_phases(std::vector<Phase>& phases) {
  if (phases.size() <= kMostPhases) return;
  std::vector<std::size_t> order(phases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto weight = [&](std::size_t i) {
    return std::pair(sum(phases[i].traffic.bytes), sum(phases[i].traffic.messages));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
  order.resize(kMostPhases);
  std::sort(order.begin(), order.end());
  std::vector<Phase> kept;
  kept.reserve(order.size());
  for (const std::size_t i : order) kept.push_back(std::move(phases[i]));
  phases = std::move(kept);
}

}  // namespace ranktree::core::pattern
