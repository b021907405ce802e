#include "mpi/collect/select/links.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/predict/parameters.h"
#include "core/topo/kind.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/select/link_pairs.h"
#include "mpi/collect/settings.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::LevelParameters;
using core::predict::Parameters;

constexpr int kShortBytes = 8;
constexpr int kLongBytes = 16384;  // still sent eagerly, without a rendezvous
using Pair = std::pair<int, int>;

// Seconds of half a round trip, the least of some.
double one_way(MPI_Comm comm, const Pair& pair, int rank, int bytes, int times, int tag) {
  std::array<char, kLongBytes> buffer{};
  const bool first = rank == pair.first;
  const int peer = first ? pair.second : pair.first;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const double start = PMPI_Wtime();
    if (first) check(PMPI_Send(buffer.data(), bytes, MPI_CHAR, peer, tag, comm), "MPI_Send");
    check(PMPI_Recv(buffer.data(), bytes, MPI_CHAR, peer, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    if (!first) check(PMPI_Send(buffer.data(), bytes, MPI_CHAR, peer, tag, comm), "MPI_Send");
    least = std::min(least, (PMPI_Wtime() - start) / 2);
  }
  return least;
}

// Levels between nodes, as given: down to the last that is across nodes.
int given_levels_across_nodes(const Context& context) {
  if (context.node_count() < 2) return 0;
  const std::vector<std::string>& names = context.level_names();
  const auto node = std::find(names.begin(), names.end(), core::topo::kind_name(core::topo::Kind::kNode));
  return node == names.end() ? 1 : static_cast<int>(node - names.begin()) + 1;
}

}  // namespace

Parameters parameters_for(const Context& context, const Settings& settings) {
  const int levels = context.machine().given_levels();
  const int across = std::min(given_levels_across_nodes(context), levels);
  if (settings.parameters) return matched(*settings.parameters, levels, across);
  Parameters usual = core::predict::usual_parameters(levels, across);
  if constexpr (kRanksShareProcess) {  // SimGrid's links share bytes, and count no messages
    for (LevelParameters& level : usual.levels) level.gap = 0;
  }
  return usual;
}

void measure_links(Parameters& parameters, Context& context) {
  constexpr int kShortTimes = 7;
  constexpr int kLongTimes = 3;
  const std::array<Pair, 2> pairs = pairs_to_measure(context.node_of(), context.node_count());
  const int tag = context.next_tag();
  std::array<double, 4> found{};  // latency and seconds per byte, between nodes and inside
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    // One pair after the other, while no other rank sends: the caller has synchronised.
    if (i > 0) check(PMPI_Barrier(context.comm()), "MPI_Barrier");
    if (pair.second == 0 || (context.rank() != pair.first && context.rank() != pair.second)) continue;
    const double latency = one_way(context.comm(), pair, context.rank(), kShortBytes, kShortTimes, tag);
    const double longer = one_way(context.comm(), pair, context.rank(), kLongBytes, kLongTimes, tag);
    found[2 * i] = latency;
    found[2 * i + 1] = std::max(longer - latency, 0.0) / (kLongBytes - kShortBytes);
  }
  check(PMPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(found.size()), MPI_DOUBLE, MPI_MAX, context.comm()),
        "MPI_Allreduce");
  const auto across = static_cast<std::size_t>(core::predict::levels_across_nodes(parameters));
  for (std::size_t level = 0; level < parameters.levels.size(); ++level) {
    LevelParameters& each = parameters.levels[level];
    const std::size_t kind = level < across ? 0 : 2;
    if (found[kind] > 0) each.latency = found[kind];
    if (found[kind + 1] > 0) each.per_byte = found[kind + 1];
  }
}

}  // namespace ranktree::mpi::collect
