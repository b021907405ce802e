#include "core/predict/rules.h"

#include <algorithm>
#include <cstdint>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

const Rule* find_rule(const Rules& rules, schedule::Collective collective, schedule::Rank ranks, schedule::Rank nodes,
                      std::int64_t bytes) {
  const auto found = std::find_if(rules.rules.begin(), rules.rules.end(), [&](const Rule& rule) {
    return rule.collective == collective && rule.ranks.has(ranks) && rule.nodes.has(nodes) && rule.bytes.has(bytes);
  });
  return found == rules.rules.end() ? nullptr : &*found;
}

}  // namespace ranktree::core::predict
