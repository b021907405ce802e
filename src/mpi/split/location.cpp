#include "mpi/split/location.h"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "hw/node_here.h"
#include "hw/place_here.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/split/options.h"

namespace ranktree::mpi {
namespace {

using core::split::Chain;
using core::topo::Kind;

const Network& network_here(const std::string& source, Annotation& annotation) {
  if (!annotation.network || annotation.network->source != source) {
    Network network{source, {}};
    for (const std::string& name : hw::switches_here(source)) {
      network.switches.push_back({Kind::kSwitch, core::split::name_id(name)});
    }
    annotation.network = std::make_shared<const Network>(std::move(network));
    annotation.changed = true;
  }
  return *annotation.network;
}

// 0 where the host has no name: other ranks wait for this one's broadcast.
std::uint32_t host_hash() noexcept {
  try {
    return static_cast<std::uint32_t>(core::split::name_id(hw::host_here())) | 1U;
  } catch (...) {
    return 0;
  }
}

std::int64_t node_id(const SplitOptions& options, const Annotation& annotation) {
  if (!options.node_identity) return node_of(annotation).id;
  return core::split::name_id(hw::node_name(*options.node_identity));
}

}  // namespace

const SharedNode& node_of(const Annotation& annotation) {
  if (!annotation.node) throw core::Error(core::Fault::kUnsupported, "the communicator's nodes are not known");
  return *annotation.node;
}

// The node's first rank lends its number in `comm`, which no other node's has.
Communicator learn_node(MPI_Comm comm, int key, Annotation& annotation) {
  Communicator node;
  if (annotation.node) return node;
#ifdef SMPI_H
  // A host of the simulator is one core, which has no memory in common with others. By both halves of the host's
  // number: of 16,384 names two have 31 equal bits with a probability of 6 %.
  constexpr unsigned kBits = 31;
  const auto id = static_cast<std::uint64_t>(core::split::name_id(hw::host_here()));
  Communicator alike;
  check(PMPI_Comm_split(comm, static_cast<int>(id & ((1U << kBits) - 1)), key, alike.receive()), "MPI_Comm_split");
  check(PMPI_Comm_split(alike.get(), static_cast<int>(id >> kBits), key, node.receive()), "MPI_Comm_split");
#else
  check(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, node.receive()), "MPI_Comm_split_type");
#endif
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::uint32_t host = host_hash();
  std::array<std::int64_t, 2> first{rank, host};
  check(PMPI_Bcast(first.data(), 2, MPI_INT64_T, 0, node.get()), "MPI_Bcast");
  annotation.node = SharedNode{first[0], host, first[1] != host};
  annotation.changed = true;
  return node;
}

Chain chain_to_node(const SplitOptions& options, Annotation& annotation) {
  Chain chain = network_here(options.network, annotation).switches;
  chain.push_back({Kind::kNode, node_id(options, annotation)});
  return chain;
}

Chain chain_here(const SplitOptions& options, Annotation& annotation) {
  Chain chain = chain_to_node(options, annotation);
  const Chain inside = hw::node_map().locate(hw::pus_here());
  chain.insert(chain.end(), inside.begin(), inside.end());
  return chain;
}

}  // namespace ranktree::mpi
