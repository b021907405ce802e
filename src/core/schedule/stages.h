// Segments that pass through a pipeline of stages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

struct Segment {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  [[nodiscard]] Range of(const Range& whole) const { return within(whole, first, count); }
};

using Stage = std::function<void(const Segment&)>;

// Scratch areas that `stages` stages need: one for each segment in flight, and two more so that the next segments can
// begin before the oldest completes.
inline int arenas_for(std::size_t stages) { return static_cast<int>(stages) + 2; }

// At time t stage k works on segment t-k, earlier stages first. All ranks write their steps in this order, so messages
// of two stages between the same two ranks match although later segments overtake earlier ones.
inline void pipeline(Builder& builder, std::int64_t count, std::int64_t segment, const std::vector<Stage>& stages) {
  const std::int64_t size = segment_of(count, segment);
  const std::int64_t segments = (count + size - 1) / size;
  const auto depth = static_cast<std::int64_t>(stages.size());
  for (std::int64_t time = 0; segments > 0 && time < segments + depth - 1; ++time) {
    for (std::int64_t stage = 0; stage < depth; ++stage) {
      const std::int64_t index = time - stage;
      if (index < 0 || index >= segments) continue;
      builder.enter(index);
      const std::int64_t first = index * size;
      stages[static_cast<std::size_t>(stage)]({index, first, std::min(size, count - first)});
    }
  }
}

// The same for the segments of one call.
inline void run_stages(const Levels& levels, const std::vector<Stage>& stages) {
  pipeline(levels.builder, levels.request.count, levels.composition.segment, stages);
}

// What the stages of one segment pass to each other.
template <class Value>
class Handed {
 public:
  explicit Handed(std::size_t stages) : values_(static_cast<std::size_t>(arenas_for(stages))) {}
  Value& operator[](const Segment& segment) {
    return values_[static_cast<std::size_t>(segment.index) % values_.size()];
  }

 private:
  std::vector<Value> values_;
};

}  // namespace ranktree::core::schedule
