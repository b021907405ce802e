#include "core/simulate/traffic.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "core/simulate/network_links.h"
#include "core/simulate/platform.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {

Traffic::Traffic(const Platform& platform)
    : platform_(platform),
      levels_(static_cast<std::size_t>(platform.tree().level_count())),
      bytes_(static_cast<std::size_t>(platform.link_count()), 0) {}

void Traffic::add(topo::Leaf from, topo::Leaf to, double bytes, const std::vector<LinkId>& links) {
  LevelTraffic& level = levels_[static_cast<std::size_t>(platform_.tree().common_level(from, to))];
  level.messages += 1;
  level.bytes += bytes;
  for (const LinkId link : links) bytes_[static_cast<std::size_t>(link)] += bytes;
}

std::optional<LinkLoad> Traffic::most_loaded() const {
  std::optional<LinkLoad> most;
  for (LinkId link = 0; link < platform_.link_count(); ++link) {
    const double bytes = bytes_over(link);
    const double seconds = bytes / platform_.bandwidth(link);
    if (bytes > 0 && (!most || seconds > most->seconds)) most = LinkLoad{link, bytes, seconds};
  }
  return most;
}

}  // namespace ranktree::core::simulate
