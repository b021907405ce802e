// Shared code of the tests of schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "helpers/collectives.h"
#include "helpers/sanitized.h"
#include "prove.h"

namespace ranktree::core::schedule {

// The work grows by the cube of the number of ranks.
inline constexpr Rank kMostRanks = test::kSanitized ? 17 : 33;

using test::kEveryCollective;

inline bool takes_lists(Collective collective) {
  return collective == Collective::kGather || collective == Collective::kScatter ||
         collective == Collective::kAllgather || collective == Collective::kReduceScatter;
}

inline std::string describe(const Request& request) {
  return std::string(collective_name(request.collective)) + " ranks " + std::to_string(request.ranks) + " root " +
         std::to_string(request.root) + " count " + std::to_string(request.count) +
         (request.counts.empty() ? "" : " lists") + (request.commutative ? "" : " in rank order");
}

// The flaw in the programs that `maker` makes for the request; empty when they are proved.
inline std::string flaw_of(const Request& request, const std::function<Program(const Request&, Rank)>& maker,
                           std::uint64_t seed, const std::vector<bool>& in_place = {}) {
  try {
    Schedule schedule;
    for (Rank rank = 0; rank < request.ranks; ++rank) {
      Request own = request;
      own.in_place = !in_place.empty() && in_place[static_cast<std::size_t>(rank)];
      schedule.push_back(maker(own, rank));
    }
    prove(request, schedule, seed, in_place);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Ranks on up to `ranks` nodes, in any order.
inline std::vector<std::int32_t> random_nodes(Random& random, Rank ranks) {
  const std::uint64_t nodes = 1 + random.below(static_cast<std::uint64_t>(ranks));
  std::vector<std::int32_t> node_of;
  for (Rank rank = 0; rank < ranks; ++rank) node_of.push_back(static_cast<std::int32_t>(random.below(nodes)));
  return node_of;
}

// MPI_IN_PLACE at the root of gathers, scatters and reductions; on all ranks where all ranks have a result.
inline std::vector<bool> in_place_of(const Request& request) {
  const bool rooted = has_root(request.collective);
  std::vector<bool> in_place(static_cast<std::size_t>(request.ranks), !rooted);
  if (rooted && request.collective != Collective::kBroadcast) in_place[static_cast<std::size_t>(request.root)] = true;
  return in_place;
}

}  // namespace ranktree::core::schedule
