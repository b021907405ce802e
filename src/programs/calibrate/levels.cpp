#include "programs/calibrate/levels.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/topo/kind.h"
#include "mpi/collect/context.h"

namespace ranktree::mpi::calibrate {
namespace {

using core::schedule::Hierarchy;

std::string name_of(const std::vector<std::string>& names, std::size_t given) {
  if (given >= names.size()) return "core";
  std::string name = names[given];
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return name;
}

// The first ranks of the first two children of groups.
std::vector<Pair> pairs_on(const Hierarchy& hierarchy, int level, int most) {
  std::int32_t groups = 1;
  for (int above = 0; above < level; ++above) groups = hierarchy.first_child(above, groups);
  std::vector<Pair> pairs;
  for (std::int32_t group = 0; group < groups && static_cast<int>(pairs.size()) < most; ++group) {
    if (hierarchy.children(level, group) < 2) continue;
    const std::int32_t child = hierarchy.first_child(level, group);
    pairs.push_back({hierarchy.rank_at(hierarchy.first_position(level, child)),
                     hierarchy.rank_at(hierarchy.first_position(level, child + 1))});
  }
  return pairs;
}

}  // namespace

std::vector<MeasuredLevel> levels_of(const collect::Context& context, int most) {
  const Hierarchy& hierarchy = context.machine();
  const std::vector<std::string>& names = context.level_names();
  const auto node = std::find(names.begin(), names.end(), core::topo::kind_name(core::topo::Kind::kNode));
  const auto across = node == names.end() ? std::size_t{0} : static_cast<std::size_t>(node - names.begin()) + 1;
  const bool alone = context.node_count() == context.size();
  const auto given = std::max(static_cast<std::size_t>(hierarchy.given_levels()), names.size() + 1);

  std::vector<MeasuredLevel> levels;
  for (std::size_t level = 0; level < given; ++level) {
    const bool crosses = level < across;
    if (crosses ? context.node_count() == 1 : alone && across > 0) continue;
    std::string name = name_of(names, level);
    const auto same = [&](const MeasuredLevel& other) { return other.name == name; };
    // "core" is the last level's, also where ranks are bound to threads; groups may be nested.
    const bool last = level + 1 == given;
    if (!last && (name == "core" || std::any_of(levels.begin(), levels.end(), same))) name += std::to_string(level);
    levels.push_back({.name = name, .crosses = crosses, .pairs = {}});
    for (int present = 0; present < hierarchy.levels(); ++present) {
      if (static_cast<std::size_t>(hierarchy.given_level(present)) != level) continue;
      levels.back().pairs = pairs_on(hierarchy, present, most);
    }
  }
  return levels;
}

}  // namespace ranktree::mpi::calibrate
