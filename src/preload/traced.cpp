#include "mpi/reorder/traced.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "io/trace_layout.h"
#include "preload/call.h"
#include "preload/process.h"

namespace ranktree::preload {
namespace {

// By world rank.
using Traffic = std::map<int, ranktree_traced_pair>;

bool read_traffic(Traffic& traffic) {
  return Process::instance().visit_pairs([&](const layout::PairCell& cell) {
    ranktree_traced_pair& pair = traffic[static_cast<int>(layout::key_peer(cell.key))];
    pair.process = static_cast<std::int64_t>(layout::key_peer(cell.key));
    pair.messages += cell.messages;
    pair.bytes += cell.bytes;
  });
}

// By rank in `group`; others are left out.
Traffic translated(const Traffic& traffic, MPI_Group group) {
  std::vector<int> ranks;
  ranks.reserve(traffic.size());
  for (const auto& [rank, pair] : traffic) ranks.push_back(rank);
  std::vector<int> inside(ranks.size(), MPI_UNDEFINED);
  PMPI_Group_translate_ranks(Process::instance().world_group(), static_cast<int>(ranks.size()), ranks.data(), group,
                             inside.data());
  Traffic result;
  std::size_t i = 0;
  for (const auto& [rank, pair] : traffic) {
    const int found = inside[i++];
    if (found == MPI_UNDEFINED) continue;
    result[found] = pair;
    result[found].rank = found;
  }
  return result;
}

}  // namespace
}  // namespace ranktree::preload

std::int64_t ranktree_traced_pairs(MPI_Group group, ranktree_traced_pair* pairs, std::int64_t length) noexcept {
  using namespace ranktree::preload;  // NOLINT(google-build-using-namespace)
  std::int64_t count = -1;
  shielded([&] {
    const Call call;
    Traffic traffic;
    if (!read_traffic(traffic)) return;
    std::int64_t found = 0;
    for (const auto& [rank, pair] : translated(traffic, group)) {
      if (found < length) pairs[found] = pair;
      ++found;
    }
    count = found;
  });
  return count;
}
