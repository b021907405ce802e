#include <cstdint>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {

void arrive(Builder& builder, const Team& team, Algorithm tree, std::vector<std::int32_t>& waits) {
  const Node node = node_of(tree, team.me(), team.size());
  std::vector<std::int32_t> arrived;
  arrived.reserve(node.children.size());
  for (const Rank child : node.children) arrived.push_back(builder.await(team.rank(child), {}));
  waits.insert(waits.end(), arrived.begin(), arrived.end());
  if (node.parent >= 0) builder.signal(team.rank(node.parent), waits);
}

void release(Builder& builder, const Team& team, Algorithm tree, std::vector<std::int32_t>& waits) {
  const Node node = node_of(tree, team.me(), team.size());
  if (node.parent >= 0) waits = {builder.await(team.rank(node.parent), {})};
  for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
    builder.signal(team.rank(*child), waits);
  }
}

// Dissemination: D. Hensgen, R. Finkel, U. Manber, Two algorithms for barrier synchronization, 1988.
void barrier(Builder& builder, const Team& team, Algorithm algorithm, std::vector<std::int32_t>& waits) {
  if (algorithm != Algorithm::kDissemination) {
    arrive(builder, team, algorithm, waits);
    release(builder, team, algorithm, waits);
    return;
  }
  for (std::int64_t distance = 1; distance < team.size(); distance *= 2) {
    builder.signal(team.rank(static_cast<Rank>((team.me() + distance) % team.size())), waits);
    waits.push_back(
        builder.await(team.rank(static_cast<Rank>((team.me() - distance + team.size()) % team.size())), {}));
  }
}

}  // namespace ranktree::core::schedule
