#include "mpi/reorder/graph_edges.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/reorder/network.h"
#include "mpi/agree.h"
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

// An edge as traffic sees it.
struct HalfEdge {
  int peer = 0;
  int unused = 0;  // no byte without a value leaves the process
  double weight = 0;
};

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

// The weights declared for each peer, summed in an order that is the same at both ends, on which sums of doubles
// depend.
VertexEdges summed(std::vector<std::pair<int, double>> declared, int vertex) {
  std::sort(declared.begin(), declared.end());
  VertexEdges edges;
  for (const auto& [peer, weight] : declared) {
    if (peer == vertex || weight == 0) continue;
    if (edges.peers.empty() || edges.peers.back() != peer) {
      edges.peers.push_back(peer);
      edges.weights.push_back(0);
    }
    edges.weights.back() += weight;
  }
  return edges;
}

constexpr std::array kLists{&Neighbourhood::sources, &Neighbourhood::source_weights, &Neighbourhood::destinations,
                            &Neighbourhood::destination_weights};

std::vector<std::pair<int, double>> said_by(const Neighbourhood& own) {
  std::vector<std::pair<int, double>> declared;
  const auto add = [&declared](const std::vector<int>& peers, const std::vector<int>& weights) {
    for (std::size_t i = 0; i < peers.size(); ++i) declared.emplace_back(peers[i], weights.empty() ? 1.0 : weights[i]);
  };
  add(own.sources, own.source_weights);
  add(own.destinations, own.destination_weights);
  return declared;
}

}  // namespace

Neighbourhood neighbourhood_of(Mailbox& mailbox, LocalSteps& steps, const EdgeList& edges, const int* weights) {
  Messages messages;
  steps.run([&] {
    for_each_edge(edges, [&](int source, int destination, std::size_t i) {
      const int weight = weights != nullptr ? weights[i] : 1;
      append(messages[source], End{destination, weight, 0});
      append(messages[destination], End{source, weight, 1});
    });
  });
  const Messages received = exchange(mailbox, steps, messages);
  messages.clear();
  Neighbourhood own;
  steps.run([&] {
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

VertexEdges traffic(Mailbox& mailbox, LocalSteps& steps, const EdgeList& edges, const WeightScale& weights,
                    int vertex) {
  Messages messages;
  steps.run([&] {
    for_each_edge(edges, [&](int source, int destination, std::size_t i) {
      const double weight = weights.weights != nullptr ? weights.weights[i] * weights.scale : 1;
      append(messages[source], HalfEdge{destination, 0, weight});
      append(messages[destination], HalfEdge{source, 0, weight});
    });
  });
  const Messages received = exchange(mailbox, steps, messages);
  messages.clear();
  VertexEdges own;
  steps.run([&] {
    std::vector<std::pair<int, double>> declared;
    for (const auto& [sender, message] : received) {
      for_each_record<HalfEdge>(message, [&](const HalfEdge& half) { declared.emplace_back(half.peer, half.weight); });
    }
    own = summed(std::move(declared), vertex);
  });
  return own;
}

VertexEdges traffic_of(const Neighbourhood& own, int vertex) { return summed(said_by(own), vertex); }

VertexEdges traffic_of_both_ends(Mailbox& mailbox, LocalSteps& steps, const Neighbourhood& own, int vertex) {
  Messages messages;
  VertexEdges here;
  steps.run([&] {
    here = traffic_of(own, vertex);
    for (std::size_t i = 0; i < here.peers.size(); ++i) append(messages[here.peers[i]], here.weights[i]);
  });
  const Messages received = exchange(mailbox, steps, messages);
  VertexEdges edges;
  steps.run([&] {
    std::vector<std::pair<int, double>> declared;
    declared.reserve(here.peers.size() + received.size());
    for (std::size_t i = 0; i < here.peers.size(); ++i) declared.emplace_back(here.peers[i], here.weights[i] / 2);
    for (const auto& [sender, message] : received) {
      for_each_record<double>(message, [&, from = sender](double weight) { declared.emplace_back(from, weight / 2); });
    }
    edges = summed(std::move(declared), vertex);
  });
  return edges;
}

// The holder of a vertex does not know who will own it, but hears of exactly one rank.
Neighbourhood pass_to_owner(Mailbox& mailbox, LocalSteps& steps, const Neighbourhood& held, int vertex) {
  Messages messages;
  steps.run([&] { messages[vertex]; });
  const Messages owners = exchange(mailbox, steps, messages);
  messages.clear();
  steps.run([&] {
    Bytes& message = messages[owners.begin()->first];
    for (const auto list : kLists) core::reorder::append(message, held.*list);
  });
  const Messages received = exchange(mailbox, steps, messages);
  Neighbourhood owned;
  steps.run([&] {
    std::span<const std::byte> rest(received.at(vertex));
    for (const auto list : kLists) owned.*list = core::reorder::take<int>(rest);
  });
  return owned;
}

}  // namespace ranktree::mpi
