#include "core/topo/level_order.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"

namespace ranktree::core::topo {

void LevelOrder::add(const std::vector<LevelKey>& path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::set<LevelKey>& above = above_[path[i]];
    if (i > 0) above.insert(path[i - 1]);
  }
}

// Repeatedly takes the first level by kind that has no remaining level above it. O(levels^2); there are few levels.
std::vector<LevelKey> LevelOrder::merge() const {
  std::vector<LevelKey> order;
  std::map<LevelKey, std::set<LevelKey>> rest = above_;
  while (!rest.empty()) {
    const auto next = std::find_if(rest.begin(), rest.end(), [](const auto& each) { return each.second.empty(); });
    if (next == rest.end()) {
      throw Error(Fault::kUnsupported, "machine: level " + std::string(kind_name(rest.begin()->first.first)) +
                                           " lies above a level in one place and below it in another");
    }
    const LevelKey key = next->first;
    rest.erase(next);
    for (auto& [other, above] : rest) above.erase(key);
    order.push_back(key);
  }
  return order;
}

}  // namespace ranktree::core::topo
