#include "mpi/collect/places.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/split/chain.h"
#include "mpi/split/chains.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Hierarchy;
using core::split::Chain;

const Chain& longest(const std::vector<Chain>& chains) {
  return *std::max_element(chains.begin(), chains.end(),
                           [](const Chain& a, const Chain& b) { return a.size() < b.size(); });
}

// -1: the chain has ended. No link has a code of 64 bits.
std::int64_t colour_at(const Chain& chain, std::size_t level) {
  return level < chain.size() ? static_cast<std::int64_t>(core::split::code_of(chain[level])) : -1;
}

// Numbers 0, 1, ... for different values, in the order in which they are met.
std::vector<std::int32_t> numbered(const std::vector<std::int64_t>& values) {
  std::map<std::int64_t, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  numbers.reserve(values.size());
  for (const std::int64_t value : values) {
    numbers.push_back(known.emplace(value, static_cast<std::int32_t>(known.size())).first->second);
  }
  return numbers;
}

// One level for each link of the longest chain: ranks with the same beginnings come together, and so do those whose
// chains have ended.
void find_levels(const std::vector<Chain>& chains, Places& places) {
  const Chain& deepest = longest(chains);
  std::vector<std::vector<std::int32_t>> colours;
  for (std::size_t level = 0; level < deepest.size(); ++level) {
    std::vector<std::int64_t> values;
    values.reserve(chains.size());
    for (const Chain& chain : chains) values.push_back(colour_at(chain, level));
    colours.push_back(numbered(values));
    places.level_names.push_back(core::split::type_name(deepest, level));
  }
  places.machine = Hierarchy::from_colours(colours);
}

}  // namespace

Places places_of(std::span<const std::uint64_t> rows, std::size_t width) {
  std::vector<Chain> chains;
  std::vector<std::int64_t> nodes;
  for (; !rows.empty(); rows = rows.subspan(width)) {
    chains.push_back(unpacked(rows.subspan(1, width - 1)));
    nodes.push_back(static_cast<std::int64_t>(rows.front()));
  }
  Places places;
  places.node_of = numbered(nodes);
  places.node_count = 1 + *std::max_element(places.node_of.begin(), places.node_of.end());
  places.nodes = Hierarchy::from_colours(std::span(&places.node_of, 1));
  find_levels(chains, places);
  return places;
}

}  // namespace ranktree::mpi::collect
