#include "mpi/reorder/graph_edges.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/reorder/modes.h"

namespace ranktree::mpi {
namespace {

// An edge as the holder of one end sees it.
struct End {
  int peer = 0;
  int weight = 0;
  int incoming = 0;
};

struct Share {
  int peer = 0;
  int unused = 0;  // no byte without a value leaves the process
  double weight = 0;
};

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

template <typename Record>
void append(Bytes& message, const Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&record);
  message.insert(message.end(), bytes, bytes + sizeof record);
}

template <typename Record, typename Visit>
void for_each_record(const Bytes& message, Visit visit) {
  for (std::size_t at = 0; at + sizeof(Record) <= message.size(); at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, message.data() + at, sizeof record);
    visit(record);
  }
}

// visit(source, destination, position in destinations)
template <typename Visit>
void for_each_edge(const EdgeList& edges, Visit visit) {
  std::size_t position = 0;
  for (std::size_t i = 0; i < edges.sources.size(); ++i) {
    for (int j = 0; j < edges.degrees[i]; ++j, ++position) {
      visit(edges.sources[i], edges.destinations[position], position);
    }
  }
}

// What is said of each peer, summed in an order that is the same at both ends: sums of doubles depend on it.
VertexEdges summed(std::vector<std::pair<int, double>> said, int vertex) {
  std::sort(said.begin(), said.end());
  VertexEdges edges;
  for (const auto& [peer, weight] : said) {
    if (peer == vertex || weight == 0) continue;
    if (edges.peers.empty() || edges.peers.back() != peer) {
      edges.peers.push_back(peer);
      edges.weights.push_back(0);
    }
    edges.weights.back() += weight;
  }
  return edges;
}

std::vector<std::pair<int, double>> said_by(const Neighbourhood& own) {
  std::vector<std::pair<int, double>> said;
  const auto add = [&said](const std::vector<int>& peers, const std::vector<int>& weights) {
    for (std::size_t i = 0; i < peers.size(); ++i) said.emplace_back(peers[i], weights.empty() ? 1.0 : weights[i]);
  };
  add(own.sources, own.source_weights);
  add(own.destinations, own.destination_weights);
  return said;
}

}  // namespace

Neighbourhood collect(MPI_Comm alone, const EdgeList& edges, const int* weights) {
  std::map<int, Bytes> messages;
  attempt_together(alone, [&] {
    for_each_edge(edges, [&](int source, int destination, std::size_t i) {
      const int weight = weights != nullptr ? weights[i] : 1;
      append(messages[source], End{destination, weight, 0});
      append(messages[destination], End{source, weight, 1});
    });
  });
  const std::map<int, Bytes> received = exchange_alone(alone, messages);
  messages.clear();
  Neighbourhood own;
  attempt_together(alone, [&] {
    for (const auto& [sender, message] : received) {
      for_each_record<End>(message, [&](const End& end) {
        (end.incoming != 0 ? own.sources : own.destinations).push_back(end.peer);
        if (weights == nullptr) return;
        (end.incoming != 0 ? own.source_weights : own.destination_weights).push_back(end.weight);
      });
    }
  });
  return own;
}

VertexEdges traffic(MPI_Comm alone, const EdgeList& edges, const double* weights, double scale) {
  std::map<int, Bytes> messages;
  attempt_together(alone, [&] {
    for_each_edge(edges, [&](int source, int destination, std::size_t i) {
      const double weight = weights != nullptr ? weights[i] * scale : 1;
      append(messages[source], Share{destination, 0, weight});
      append(messages[destination], Share{source, 0, weight});
    });
  });
  const std::map<int, Bytes> received = exchange_alone(alone, messages);
  messages.clear();
  VertexEdges own;
  attempt_together(alone, [&] {
    std::vector<std::pair<int, double>> said;
    for (const auto& [sender, message] : received) {
      for_each_record<Share>(message, [&](const Share& share) { said.emplace_back(share.peer, share.weight); });
    }
    own = summed(std::move(said), rank_in(alone));
  });
  return own;
}

VertexEdges traffic_of(const Neighbourhood& own, int vertex) { return summed(said_by(own), vertex); }

VertexEdges traffic_of_both_ends(MPI_Comm alone, const Neighbourhood& own) {
  const int vertex = rank_in(alone);
  std::map<int, Bytes> messages;
  VertexEdges here;
  attempt_together(alone, [&] {
    here = traffic_of(own, vertex);
    for (std::size_t i = 0; i < here.peers.size(); ++i) append(messages[here.peers[i]], here.weights[i]);
  });
  const std::map<int, Bytes> received = exchange_alone(alone, messages);
  VertexEdges edges;
  attempt_together(alone, [&] {
    std::vector<std::pair<int, double>> said;
    said.reserve(here.peers.size() + received.size());
    for (std::size_t i = 0; i < here.peers.size(); ++i) said.emplace_back(here.peers[i], here.weights[i] / 2);
    for (const auto& [sender, message] : received) {
      for_each_record<double>(message, [&, from = sender](double weight) { said.emplace_back(from, weight / 2); });
    }
    edges = summed(std::move(said), vertex);
  });
  return edges;
}

namespace {

// Not those of exchange_alone().
constexpr int kLengths = 11;
constexpr int kNumbers = 12;
constexpr int kOwner = 13;

// The rank that asks the calling one for the neighbourhood it holds, when every rank asks `holder`s of its own. Probed
// for: in MPICH 5.0.2 MPI_Sendrecv from MPI_ANY_SOURCE does not return where ranks are on several nodes.
int owner_of_held(MPI_Comm alone, int holder) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(nullptr, 0, MPI_INT, holder, kOwner, alone, &request), "MPI_Isend");
  MPI_Status status;
  for (int found = 0; found == 0;) {
    check(MPI_Iprobe(MPI_ANY_SOURCE, kOwner, alone, &found, &status), "MPI_Iprobe");
    if (found == 0) sched_yield();
  }
  check(MPI_Recv(nullptr, 0, MPI_INT, status.MPI_SOURCE, kOwner, alone, MPI_STATUS_IGNORE), "MPI_Recv");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  return status.MPI_SOURCE;
}

}  // namespace

// The holder of a vertex does not know who will own it, but is told by exactly one rank.
Neighbourhood hand_over(MPI_Comm alone, const Neighbourhood& held, int vertex) {
  const int owner = owner_of_held(alone, vertex);
  const auto length = [](const std::vector<int>& numbers) { return static_cast<int>(numbers.size()); };
  const std::array<int, 4> lengths{length(held.sources), length(held.source_weights), length(held.destinations),
                                   length(held.destination_weights)};
  std::array<int, 4> counts{};
  check(MPI_Sendrecv(lengths.data(), 4, MPI_INT, owner, kLengths, counts.data(), 4, MPI_INT, vertex, kLengths, alone,
                     MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  Neighbourhood owned;
  attempt_together(alone, [&] {
    owned.sources.resize(static_cast<std::size_t>(counts[0]));
    owned.source_weights.resize(static_cast<std::size_t>(counts[1]));
    owned.destinations.resize(static_cast<std::size_t>(counts[2]));
    owned.destination_weights.resize(static_cast<std::size_t>(counts[3]));
  });
  const auto trade = [&](const std::vector<int>& from, std::vector<int>& into) {
    check(MPI_Sendrecv(from.data(), length(from), MPI_INT, owner, kNumbers, into.data(), length(into), MPI_INT, vertex,
                       kNumbers, alone, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  };
  trade(held.sources, owned.sources);
  trade(held.source_weights, owned.source_weights);
  trade(held.destinations, owned.destinations);
  trade(held.destination_weights, owned.destination_weights);
  return owned;
}

}  // namespace ranktree::mpi
