#include "hw/machine.h"

#include <charconv>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::hw {

core::topo::Tree load_tree(const std::string& spec) {
  using core::topo::Kind;
  std::vector<core::topo::Level> levels{{Kind::kCluster, {}, {}}};
  std::vector<int> arities;
  std::istringstream words(spec);
  for (std::string word; words >> word;) {
    const auto colon = word.find(':');
    const auto kind = core::topo::kind_from_name(word.substr(0, colon));
    int arity = 0;
    if (kind && colon != std::string::npos) {
      std::from_chars(word.data() + colon + 1, word.data() + word.size(), arity);
    }
    if (arity < 1)
      throw core::Error(core::Fault::kInput, "machine '" + spec + "': expected kind:count, found '" + word + "'");
    levels.push_back({*kind, {}, {}});
    arities.push_back(arity);
  }
  return core::topo::uniform_tree(levels, arities);
}

}  // namespace ranktree::hw
