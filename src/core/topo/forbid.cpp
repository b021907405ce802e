#include "core/topo/forbid.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/topo/tree.h"

namespace ranktree::core::topo {

Tree forbid(const Tree& tree, std::optional<std::string_view> host, std::span<const int> pus) {
  std::vector<int> wanted(pus.begin(), pus.end());
  std::sort(wanted.begin(), wanted.end());
  std::vector<std::uint8_t> found(wanted.size(), 0);
  std::vector<Leaf> allowed;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    const Object node = tree.node_of(leaf);
    bool hit = false;
    if (!host || (node >= 0 && tree.name(node) == *host)) {
      for (const int pu : tree.pus(leaf)) {
        const auto [first, last] = std::equal_range(wanted.begin(), wanted.end(), pu);
        std::fill(found.begin() + (first - wanted.begin()), found.begin() + (last - wanted.begin()), std::uint8_t{1});
        hit = hit || first != last;
      }
    }
    if (tree.allowed(leaf) && !hit) allowed.push_back(leaf);
  }
  const auto missing = std::find(found.begin(), found.end(), std::uint8_t{0});
  if (missing != found.end()) {
    throw Error(Fault::kInput, "the machine has no such PU: " + (host ? std::string(*host) + ":" : std::string()) +
                                   std::to_string(wanted[static_cast<std::size_t>(missing - found.begin())]));
  }
  return tree.with_allowed(allowed);
}

}  // namespace ranktree::core::topo
