#include "mpi/split/query.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/kind.h"
#include "hw/node_here.h"
#include "hw/place_here.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/split/chains.h"
#include "mpi/split/split.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;

// The chains of the ranks queried, after all ranks have agreed that all arguments are valid.
std::map<int, Chain> query_ranks(MPI_Comm comm, std::span<const int> ranks,
                                 const std::function<void()>& check_arguments) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::set<int> wanted;
  Start begun = start(comm, 0, nullptr, [&](Caller&) {
    check_arguments();
    wanted.insert(ranks.begin(), ranks.end());
    for (const int rank : ranks) {
      if (rank >= 0 && rank < size) continue;
      throw AgreedError(MPI_ERR_RANK,
                        "ranks: expected ranks in 0.." + std::to_string(size - 1) + ", found " + std::to_string(rank));
    }
  });
  keep(comm, begun.caller);
  agree_or_throw(comm, core::split::summarize_absent(), begun.failure);
  return fetch_chains(comm, begun.caller.chain, wanted);
}

std::size_t common_prefix(const std::map<int, Chain>& chains) {
  const Chain& first = chains.begin()->second;
  std::size_t depth = first.size();
  for (const auto& [rank, chain] : chains) {
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(std::min(depth, chain.size()));
    depth = static_cast<std::size_t>(std::mismatch(first.begin(), end, chain.begin()).first - first.begin());
  }
  return depth;
}

}  // namespace

std::string min_hlevel(MPI_Comm comm, std::span<const int> ranks, const std::function<void()>& check_arguments) {
  const std::map<int, Chain> chains = query_ranks(comm, ranks, check_arguments);
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  if (!chains.contains(rank)) return "Unknown";
  const std::size_t depth = common_prefix(chains);
  return depth == 0 ? "Cluster" : core::split::type_name(chains.at(rank), depth - 1);
}

Chain location(MPI_Comm comm, int rank, const std::function<void()>& check_arguments) {
  return query_ranks(comm, std::span(&rank, 1), check_arguments).at(rank);
}

MPI_Info hw_resource_info() {
  const core::split::NodeMap& node = hw::node_map();
  const Chain around = node.locate_all(hw::pus_here());
  Info info;
  check(PMPI_Info_create(info.receive()), "MPI_Info_create");
  for (const core::topo::Kind kind : node.kinds()) {
    const bool within = kind == core::topo::Kind::kNode ||
                        std::any_of(around.begin(), around.end(), [&](const auto& link) { return link.kind == kind; });
    const std::string key = "hwloc://" + std::string(core::split::resource_name(kind));
    check(PMPI_Info_set(info.get(), key.c_str(), within ? "true" : "false"), "MPI_Info_set");
  }
  return info.release();
}

}  // namespace ranktree::mpi
