#include "core/predict/parameters.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace ranktree::core::predict {
namespace {

// Between nodes of an ordinary cluster, 100 Gb/s; each layer of switches further out adds latency.
constexpr double kWireLatency = 2e-6;
constexpr double kSwitchLatency = 5e-7;
constexpr double kWirePerByte = 1e-10;
constexpr double kWireGap = 1e-7;
constexpr double kWireOverhead = 3e-7;
// Between two ranks of a node through the MPI; the more levels they share, the less.
constexpr double kMemoryLatency = 5e-7;
constexpr double kMemoryPerByte = 2e-10;
constexpr double kMemoryOverhead = 1e-7;
// A core streaming through memory.
constexpr double kReducePerByte = 1e-10;
constexpr double kCopyPerByte = 1e-10;
constexpr double kSharedLatency = 2e-7;

}  // namespace

int levels_across_nodes(const Parameters& parameters) {
  const auto& levels = parameters.levels;
  const auto node =
      std::find_if(levels.begin(), levels.end(), [](const LevelParameters& level) { return level.name == "node"; });
  return node == levels.end() ? 0 : static_cast<int>(node - levels.begin()) + 1;
}

Parameters usual_parameters(int levels, int across) {
  Parameters usual;
  for (int level = 0; level < levels; ++level) {
    const int inside = level - across;
    if (inside < 0) {
      const int above = -inside - 1;  // layers of switches between this level and the nodes
      usual.levels.push_back({.name = above == 0 ? "node" : "switch" + std::to_string(level),
                              .latency = kWireLatency + above * kSwitchLatency,
                              .per_byte = kWirePerByte,
                              .overhead_send = kWireOverhead,
                              .overhead_receive = kWireOverhead,
                              .gap = kWireGap});
      continue;
    }
    const bool last = level + 1 == levels;
    usual.levels.push_back({.name = last ? "core" : "part" + std::to_string(inside),
                            .latency = kMemoryLatency,
                            .per_byte = kMemoryPerByte,
                            .overhead_send = kMemoryOverhead,
                            .overhead_receive = kMemoryOverhead,
                            .gap = kMemoryOverhead});
  }
  usual.reduce_per_byte = kReducePerByte;
  usual.copy_per_byte = kCopyPerByte;
  usual.shared_latency = kSharedLatency;
  usual.shared_per_byte = kCopyPerByte;
  return usual;
}

Parameters usual_parameters(int levels) { return usual_parameters(levels, 1); }

Parameters matched(const Parameters& parameters, int levels, int across) {
  const auto known = static_cast<int>(parameters.levels.size());
  const int known_across = levels_across_nodes(parameters);
  const Parameters usual = usual_parameters(levels, across);
  Parameters fitted = parameters;
  fitted.levels.clear();
  for (int level = 0; level < levels; ++level) {
    // Counted from the node: outwards above it, inwards below it.
    const int wanted = known_across + level - across;
    const bool wire = level < across;
    const int first = wire ? 0 : known_across;
    const int end = wire ? known_across : known;
    const auto at = static_cast<std::size_t>(level);
    LevelParameters found = first < end
                                ? parameters.levels[static_cast<std::size_t>(std::clamp(wanted, first, end - 1))]
                                : usual.levels[at];
    found.name = usual.levels[at].name;
    fitted.levels.push_back(found);
  }
  if (fitted.shared_latency == 0 && fitted.shared_per_byte == 0) {  // measured with one rank per node
    fitted.shared_latency = usual.shared_latency;
    fitted.shared_per_byte = usual.shared_per_byte;
  }
  return fitted;
}

}  // namespace ranktree::core::predict
