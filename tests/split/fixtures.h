// Splits as the ranks of a communicator would do them together, without MPI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/kind.h"
#include "reference.h"

namespace ranktree::core::split {

// The chain of a rank as src/mpi makes it.
inline Chain chain_of(const Spot& spot) {
  Chain chain;
  for (const std::string& name : spot.switches) chain.push_back({topo::Kind::kSwitch, name_id(name)});
  chain.push_back({topo::Kind::kNode, spot.node});
  const Chain inside = NodeMap(*spot.tree).locate(spot.pus);
  chain.insert(chain.end(), inside.begin(), inside.end());
  return chain;
}

// Merges in a random order, as an allreduce may.
inline Summary merge_all(std::vector<Summary> summaries, Random& random) {
  while (summaries.size() > 1) {
    const std::size_t i = random.below(summaries.size());
    std::swap(summaries[i], summaries.back());
    const Summary taken = summaries.back();
    summaries.pop_back();
    merge(taken, summaries[random.below(summaries.size())]);
  }
  return summaries.front();
}

// Like reference_split(), by summaries. Counts and indices are 0 where the parts are too many to be listed.
inline std::vector<Outcome> fast_split(std::span<const Spot> ranks, std::span<const int> keys, Leftover leftover,
                                       Random& random) {
  std::vector<Chain> chains;
  std::vector<Summary> summaries;
  const auto key_of = [&](std::size_t i) { return keys.empty() ? 0 : keys[i]; };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    chains.push_back(chain_of(ranks[i]));
    summaries.push_back(summarize(chains[i], {static_cast<int>(i), key_of(i), 0}, leftover));
  }
  const Summary all = merge_all(summaries, random);
  std::vector<std::uint64_t> codes;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    codes.push_back(own_code(all, chains[i], static_cast<int>(i), leftover));
  }
  std::vector<Outcome> outcomes(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!gets_part(all, codes[i], leftover)) continue;
    Outcome& outcome = outcomes[i];
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      if (codes[j] == codes[i]) outcome.members.push_back(static_cast<int>(j));
    }
    std::stable_sort(outcome.members.begin(), outcome.members.end(), [&](int a, int b) {
      return key_of(static_cast<std::size_t>(a)) < key_of(static_cast<std::size_t>(b));
    });
    const Part part = number_part(all, codes[i], leftover).value_or(Part{});
    outcome.count = part.count;
    outcome.index = part.index;
    outcome.type = !is_leftover(codes[i]) ? type_name(chains[i], all.depth)
                   : all.depth == 0       ? "Cluster"
                                          : type_name(chains[i], all.depth - std::size_t{1});
  }
  return outcomes;
}

}  // namespace ranktree::core::split
