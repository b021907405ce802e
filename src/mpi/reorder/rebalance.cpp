#include "mpi/reorder/calls.h"

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
#include "core/objective/model.h"
#include "core/reorder/slots.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/guard.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/options.h"
#include "mpi/reorder/rearrangement.h"
#include "mpi/reorder/root.h"
#include "mpi/reorder/traced.h"
#include "mpi/split/options.h"
#include "mpi/split/split.h"
#include "mpi/text.h"

namespace ranktree::mpi {
namespace {

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
  // What moving costs is counted in hop-bytes, too.
  if (read_reorder_options(info).objective != core::objective::Objective::kBytes) {
    throw core::Error(core::Fault::kInput,
                      "info key ranktree_objective: ranktree_Comm_rebalance expects bytes, found '" +
                          info_value(info, "ranktree_objective").value_or("") + "'");
  }
  terms.horizon = number(info, "ranktree_horizon", terms.horizon);
  terms.state_bytes = number(info, "ranktree_state_bytes", terms.state_bytes);
  return terms;
}

std::vector<ranktree_traced_pair> traced(MPI_Comm comm) {
  using Function = decltype(&ranktree_traced_pairs);
  const auto copy = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "ranktree_traced_pairs"));
  Group group;
  check(PMPI_Comm_group(comm, group.receive()), "MPI_Comm_group");
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

// Collective: each process has counted what it sends, its partners what they do; both together make an edge. Throws
// AgreedError.
VertexEdges both_directions(Rearrangement& begun, const std::vector<ranktree_traced_pair>& pairs) {
  std::map<int, double> bytes;
  Messages messages;
  begun.order.run([&] {
    bytes = growth(pairs, begun.annotation.traffic.get());
    bytes.erase(begun.rank);
    for (const auto& [peer, count] : bytes) {
      Bytes& message = messages[peer];
      message.resize(sizeof count);
      std::memcpy(message.data(), &count, sizeof count);
    }
  });
  const Messages received = exchange(begun.mailbox, begun.order, messages);
  VertexEdges edges;
  begun.order.run([&] {
    for (const auto& [peer, message] : received) {
      double count = 0;
      std::memcpy(&count, message.data(), sizeof count);
      bytes[peer] += count;
    }
    for (const auto& [peer, count] : bytes) {
      edges.peers.push_back(peer);
      edges.weights.push_back(count);
    }
  });
  return edges;
}

// At the root: the hops that the state of rank newranks[i] takes to process i, for all.
double hops_moved(const std::vector<core::split::Chain>& chains, const std::vector<int>& newranks) {
  const auto slots = core::reorder::slots_of(chains);
  double hops = 0;
  for (std::size_t process = 0; process < newranks.size(); ++process) {
    const auto role = static_cast<std::size_t>(newranks[process]);
    hops += slots.tree.distance(slots.home.leaf_of[process], slots.home.leaf_of[role]);
  }
  return hops;
}

// Memory for what moving costs, made before the ranks look for an order.
struct Moves {
  std::vector<int> newranks;  // by rank of comm
  RootBuffers buffers;

  Moves() = default;
  Moves(MPI_Comm comm, const Terms& terms) {
    int rank = 0;
    int size = 0;
    check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
    newranks.resize(static_cast<std::size_t>(size));
    if (rank == kRoot && terms.state_bytes > 0) buffers = RootBuffers(size);
  }
};

// An order, and whether it pays.
struct Proposal {
  Order order;
  double gain = 0;  // hop-bytes over the horizon
  double cost = 0;  // hop-bytes of moving
  [[nodiscard]] bool pays() const { return order.changed && gain > cost; }
};

// Collective: hop-bytes of moving. Throws AgreedError.
double cost_of(Rearrangement& begun, const core::split::Chain& chain, const Terms& terms, Moves& moves) {
  const int merged = gather_reports(begun.comm, begun.order, chain, 0, moves.buffers);
  if (merged == 0 && begun.rank == kRoot) {
    begun.order.run([&] {
      const double hops = hops_moved(chains_of(moves.buffers), moves.newranks);
      for (RankAnswer& answer : moves.buffers.answers) answer.after = hops * terms.state_bytes;
    });
  }
  return receive_answer(begun.comm, begun.order, merged, moves.buffers).after;
}

// Collective: fills `proposal`, and returns its order. Throws AgreedError.
Order propose(Rearrangement& begun, const std::vector<ranktree_traced_pair>& pairs, const Terms& terms, Moves& moves,
              Proposal& proposal) {
  OwnPart own{both_directions(begun, pairs), {}};
  const Order order = order_of_graph(begun, own);
  if (!order.changed) return order;
  check(PMPI_Allgather(&order.vertex, 1, MPI_INT, moves.newranks.data(), 1, MPI_INT, begun.comm), "MPI_Allgather");
  if (terms.state_bytes > 0) proposal.cost = cost_of(begun, own.chain, terms, moves);
  proposal.gain = (order.record.before.value_or(0) - order.record.after.value_or(0)) * terms.horizon;
  return order;
}

Text message_of(const Proposal& proposal, const Terms& terms) {
  std::array<char, 1200> text{};
  const Text& reason = proposal.order.record.reason;
  std::snprintf(text.data(), text.size(), "rebalance: gain %.6g hop-bytes at horizon %.6g, cost %.6g hop-bytes%s%s",
                proposal.gain, terms.horizon, proposal.cost, reason.empty() ? "" : ": ", reason.c_str());
  return Text(text.data());
}

// What comm and the new communicator are to know, allocated before either changes.
struct Notes {
  std::unique_ptr<Annotation> of_old;
  std::unique_ptr<Annotation> of_new;
};

Notes notes(Rearrangement& begun, const Proposal& proposal, const Terms& terms) {
  Notes made;
  made.of_old = std::make_unique<Annotation>(begun.annotation);
  set_message(*made.of_old, message_of(proposal, terms).view());
  // What this call has sent itself does not count for the next one.
  made.of_old->traffic = std::make_shared<const Traffic>(traffic_of(traced(begun.comm)));
  if (!proposal.pays()) return made;
  made.of_new = description(begun, proposal.order.record);
  made.of_new->traffic = made.of_old->traffic;
  return made;
}

}  // namespace

void rebalance(MPI_Comm comm, MPI_Info info, int newranks[], MPI_Comm* made) {
  Terms terms;
  std::vector<ranktree_traced_pair> pairs;
  Moves moves;
  ReorderCall call{"comm_rebalance", &info};
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "newcomm");
    terms = read_terms(info);
    pairs = traced(comm);
    moves = Moves(comm, terms);
    call.arguments = mix(mix(newranks == nullptr ? 1 : 2, std::bit_cast<std::uint64_t>(terms.horizon)),
                         std::bit_cast<std::uint64_t>(terms.state_bytes));
  });
  Proposal proposal;
  proposal.order = find_order(begun, [&] { return propose(begun, pairs, terms, moves, proposal); });
  Notes known;
  const Failure lost = share(comm, attempt([&] { known = notes(begun, proposal, terms); }));
  Communicator processes;
  if (lost.error_class != MPI_SUCCESS) {
    // Nothing moves, and the interval counts for the next call too.
    proposal = {unchanged(begun.rank, lost.text), 0, 0};
    keep_message(comm, message_of(proposal, terms).view());
  } else {
    set_annotation(comm, std::move(known.of_old));
    if (proposal.pays()) processes = arranged(begun, proposal.order);
    if (processes.get() != MPI_COMM_NULL) set_annotation(processes.get(), std::move(known.of_new));
  }
  if (proposal.pays() && newranks != nullptr)
    std::memcpy(newranks, moves.newranks.data(), moves.newranks.size() * sizeof(int));
  *made = processes.release();
}

}  // namespace ranktree::mpi
