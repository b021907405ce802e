#include "mpi/rebalance.h"

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/enforce/positions.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/chains.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/handle.h"
#include "mpi/location.h"
#include "mpi/rearrange.h"
#include "mpi/reorder.h"
#include "mpi/reorder_options.h"
#include "mpi/split.h"
#include "mpi/split_options.h"
#include "mpi/traced.h"

namespace ranktree::mpi {
namespace {

constexpr int kRoot = 0;

// What moving is weighed by.
struct Terms {
  double horizon = 1;      // how many times as long as the interval seen the future is
  double state_bytes = 0;  // of each rank
};

double number(MPI_Info info, const char* key, double otherwise) {
  const auto word = info_value(info, key);
  if (!word) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), value);
  if (error != std::errc() || end != word->data() + word->size() || !std::isfinite(value) || value < 0) {
    throw core::Error(core::Fault::kInput,
                      "info key " + std::string(key) + ": expected a number, 0 or more, found '" + *word + "'");
  }
  return value;
}

Terms read_terms(MPI_Info info) {
  Terms terms;
  terms.horizon = number(info, "ranktree_horizon", terms.horizon);
  terms.state_bytes = number(info, "ranktree_state_bytes", terms.state_bytes);
  return terms;
}

std::vector<ranktree_traced_pair> traced(MPI_Comm comm) {
  using Function = decltype(&ranktree_traced_pairs);
  const auto copy = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "ranktree_traced_pairs"));
  Group group;
  check(MPI_Comm_group(comm, group.receive()), "MPI_Comm_group");
  std::vector<ranktree_traced_pair> pairs;
  std::int64_t found = copy == nullptr ? -1 : copy(group.get(), nullptr, 0);
  while (copy != nullptr && found > static_cast<std::int64_t>(pairs.size())) {
    pairs.resize(static_cast<std::size_t>(found));
    found = copy(group.get(), pairs.data(), found);
  }
  if (found < 0) {
    throw core::Error(core::Fault::kUnsupported,
                      "traffic: nothing is recorded; run the program with 'ranktree trace -o app.npz -- ...', or the "
                      "preload library and RANKTREE_TRACE=-");
  }
  pairs.resize(static_cast<std::size_t>(found));
  return pairs;
}

Traffic traffic_of(const std::vector<ranktree_traced_pair>& pairs) {
  Traffic traffic;
  for (const ranktree_traced_pair& pair : pairs) traffic[pair.process] = pair.bytes;
  return traffic;
}

// Bytes by rank since `before`.
std::map<int, double> growth(const std::vector<ranktree_traced_pair>& pairs, const Traffic* before) {
  std::map<int, double> bytes;
  for (const ranktree_traced_pair& pair : pairs) {
    std::uint64_t more = pair.bytes;
    if (before != nullptr) {
      if (const auto old = before->find(pair.process); old != before->end()) more -= old->second;
    }
    if (more > 0) bytes[static_cast<int>(pair.rank)] = static_cast<double>(more);
  }
  return bytes;
}

// Collective: each process has counted what it sends, its partners what they do; both together make an edge.
VertexEdges both_directions(MPI_Comm comm, int rank, std::map<int, double> bytes) {
  bytes.erase(rank);
  std::map<int, Bytes> messages;
  for (const auto& [peer, count] : bytes) {
    Bytes& message = messages[peer];
    message.resize(sizeof count);
    std::memcpy(message.data(), &count, sizeof count);
  }
  for (const auto& [peer, message] : exchange_alone(comm, messages)) {
    double count = 0;
    std::memcpy(&count, message.data(), sizeof count);
    bytes[peer] += count;
  }
  VertexEdges edges;
  for (const auto& [peer, count] : bytes) {
    edges.peers.push_back(peer);
    edges.weights.push_back(count);
  }
  return edges;
}

// At the root: the hops that the state of rank newranks[i] takes to process i, for all.
double hops_moved(const std::vector<core::split::Chain>& chains, const std::vector<int>& newranks) {
  const auto positions = core::enforce::positions_of(chains);
  double hops = 0;
  for (std::size_t process = 0; process < newranks.size(); ++process) {
    const auto role = static_cast<std::size_t>(newranks[process]);
    hops += positions.tree.distance(positions.home.leaf_of[process], positions.home.leaf_of[role]);
  }
  return hops;
}

// An order, and whether it pays.
struct Proposal {
  Order order;
  std::vector<int> newranks;  // by rank of comm
  double gain = 0;            // hop-bytes over the horizon
  double cost = 0;            // hop-bytes of moving
  [[nodiscard]] bool pays() const { return order.changed && gain > cost; }
};

// Collective. Throws AgreedError where the root cannot count.
Proposal weigh(const Rearrangement& begun, const core::split::Chain& chain, Order order, const Terms& terms) {
  Proposal proposal{std::move(order), {}, 0, 0};
  if (!proposal.order.changed) return proposal;
  MPI_Comm comm = begun.alone.get();
  attempt_together(comm, [&] { proposal.newranks.resize(static_cast<std::size_t>(begun.size)); });
  check(MPI_Allgather(&proposal.order.vertex, 1, MPI_INT, proposal.newranks.data(), 1, MPI_INT, comm), "MPI_Allgather");
  proposal.gain = (proposal.order.record.before.value_or(0) - proposal.order.record.after.value_or(0)) * terms.horizon;
  if (terms.state_bytes == 0) return proposal;
  const auto chains = gather_chains(comm, chain, kRoot);
  attempt_together(comm, [&] {
    if (begun.rank == kRoot) proposal.cost = hops_moved(chains, proposal.newranks) * terms.state_bytes;
  });
  check(MPI_Bcast(&proposal.cost, 1, MPI_DOUBLE, kRoot, comm), "MPI_Bcast");
  return proposal;
}

std::string message_of(const Proposal& proposal, const Terms& terms) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "rebalance: gain %.6g hop-bytes at horizon %.6g, cost %.6g hop-bytes",
                proposal.gain, terms.horizon, proposal.cost);
  const std::string& reason = proposal.order.record.reason;
  return text.data() + (reason.empty() ? std::string() : ": " + reason);
}

Communicator moved(const Rearrangement& begun, const Proposal& proposal) {
  if (!proposal.pays()) return {};
  Communicator processes = arranged(begun, proposal.order);
  annotate(processes.get(), begun, proposal.order.record);
  return processes;
}

}  // namespace

void rebalance(MPI_Comm comm, MPI_Info info, int newranks[], MPI_Comm* made) {
  Terms terms;
  std::vector<ranktree_traced_pair> pairs;
  ReorderCall call{"comm_rebalance", &info, true, 0, {}};
  call.check = [&] {
    require(made, "newcomm");
    terms = read_terms(info);
    pairs = traced(comm);
    call.arguments = mix(mix(newranks == nullptr ? 1 : 2, std::bit_cast<std::uint64_t>(terms.horizon)),
                         std::bit_cast<std::uint64_t>(terms.state_bytes));
  };
  Rearrangement begun = begin(comm, call);
  MPI_Comm alone = begun.alone.get();
  std::map<int, double> grown;
  attempt_together(alone, [&] { grown = growth(pairs, begun.annotation.traffic.get()); });
  const VertexEdges own = both_directions(alone, begun.rank, grown);
  const Communicator node = learn_node(comm, 0, begun.annotation);
  core::split::Chain chain;
  attempt_together(alone, [&] { chain = chain_here(begun.split, begun.annotation); });
  const ReorderInput input{alone, &own, &chain, begun.deadline};
  const Proposal proposal = weigh(begun, chain, find_order(input, begun.reorder), terms);
  say(begun.annotation, message_of(proposal, terms));
  attempt_together(alone,
                   [&] { begun.annotation.traffic = std::make_shared<const Traffic>(traffic_of(traced(comm))); });
  set_annotation(comm, begun.annotation);
  Communicator processes = moved(begun, proposal);
  if (proposal.pays() && newranks != nullptr)
    std::memcpy(newranks, proposal.newranks.data(), proposal.newranks.size() * sizeof(int));
  *made = processes.release();
}

}  // namespace ranktree::mpi
