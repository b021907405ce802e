// The traffic of messages by the level of their ends' lowest common ancestor, and over each link.
#pragma once

#include <optional>
#include <vector>

#include "core/simulate/platform.h"
#include "core/topo/tree.h"

namespace ranktree::core::simulate {

struct LevelTraffic {
  double messages = 0;
  double bytes = 0;
};

struct LinkLoad {
  LinkId link = 0;
  double bytes = 0;
  double seconds = 0;  // that the link takes for them at its bandwidth
};

class Traffic {
 public:
  // The platform must outlive it.
  explicit Traffic(const Platform& platform);

  void add(topo::Leaf from, topo::Leaf to, double bytes) { add(from, to, bytes, platform_.route(from, to).links); }
  // Where the route is known.
  void add(topo::Leaf from, topo::Leaf to, double bytes, const std::vector<LinkId>& links);

  // One entry a level of the tree, root first; the last is of messages between ranks on one leaf.
  [[nodiscard]] const std::vector<LevelTraffic>& levels() const { return levels_; }
  [[nodiscard]] double bytes_over(LinkId link) const { return bytes_[static_cast<std::size_t>(link)]; }
  // The link that takes longest for its bytes, of equals the first; nothing where no link was passed. O(links).
  [[nodiscard]] std::optional<LinkLoad> most_loaded() const;

 private:
  const Platform& platform_;
  std::vector<LevelTraffic> levels_;
  std::vector<double> bytes_;
};

}  // namespace ranktree::core::simulate
