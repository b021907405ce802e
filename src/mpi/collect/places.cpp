#include "mpi/collect/places.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/split/chain.h"

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

}  // namespace

std::vector<std::int32_t> numbered(const std::vector<std::int64_t>& values) {
  std::map<std::int64_t, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  numbers.reserve(values.size());
  for (const std::int64_t value : values) {
    numbers.push_back(known.emplace(value, static_cast<std::int32_t>(known.size())).first->second);
  }
  return numbers;
}

Places places_of(const std::vector<Chain>& chains) {
  const Chain& deepest = longest(chains);
  std::vector<std::vector<std::int32_t>> colours;
  std::vector<std::string> names;
  for (std::size_t level = 0; level < deepest.size(); ++level) {
    std::vector<std::int64_t> values;
    values.reserve(chains.size());
    for (const Chain& chain : chains) values.push_back(colour_at(chain, level));
    colours.push_back(numbered(values));
    names.push_back(core::split::type_name(deepest, level));
  }
  return {Hierarchy::from_colours(colours), std::move(names)};
}

}  // namespace ranktree::mpi::collect
