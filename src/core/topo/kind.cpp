#include "core/topo/kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ranktree::core::topo {
namespace {

struct Spelling {
  std::string_view word;  // lower case
  Kind kind;
};

constexpr std::array<std::string_view, 14> kNames{"Cluster", "Switch",   "Node",    "Group",   "Package",
                                                  "Die",     "NUMANode", "L5Cache", "L4Cache", "L3Cache",
                                                  "L2Cache", "L1Cache",  "Core",    "PU"};

// hwloc's synthetic grammar accepts short and long words; Ranktree's grammar adds the first three kinds.
constexpr std::array kSpellings{Spelling{"cluster", Kind::kCluster},
                                Spelling{"switch", Kind::kSwitch},
                                Spelling{"node", Kind::kNode},
                                Spelling{"machine", Kind::kNode},
                                Spelling{"group", Kind::kGroup},
                                Spelling{"package", Kind::kPackage},
                                Spelling{"pack", Kind::kPackage},
                                Spelling{"socket", Kind::kPackage},
                                Spelling{"die", Kind::kDie},
                                Spelling{"numanode", Kind::kNumaNode},
                                Spelling{"numa", Kind::kNumaNode},
                                Spelling{"l5", Kind::kL5},
                                Spelling{"l5cache", Kind::kL5},
                                Spelling{"l4", Kind::kL4},
                                Spelling{"l4cache", Kind::kL4},
                                Spelling{"l3", Kind::kL3},
                                Spelling{"l3cache", Kind::kL3},
                                Spelling{"l2", Kind::kL2},
                                Spelling{"l2cache", Kind::kL2},
                                Spelling{"l1", Kind::kL1},
                                Spelling{"l1d", Kind::kL1},
                                Spelling{"l1cache", Kind::kL1},
                                Spelling{"l1dcache", Kind::kL1},
                                Spelling{"core", Kind::kCore},
                                Spelling{"pu", Kind::kPu}};

}  // namespace

std::string_view kind_name(Kind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<Kind> kind_from_name(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Spelling& spelling : kSpellings) {
    if (spelling.word == lower) return spelling.kind;
  }
  return std::nullopt;
}

}  // namespace ranktree::core::topo
