#include "mpi/reorder/calls.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/scale.h"
#include "core/objective/model.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/reorder/graph_arguments.h"
#include "mpi/reorder/graph_edges.h"
#include "mpi/reorder/modes.h"
#include "mpi/reorder/rearrangement.h"
#include "mpi/split/split.h"

namespace ranktree::mpi {
namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

// What MPI takes for the weights of a vertex: a graph has weights though a vertex may have no edges.
const int* weights_of(const std::vector<int>& weights, bool weighted) {
  if (!weighted) return MPI_UNWEIGHTED;
  return weights.empty() ? MPI_WEIGHTS_EMPTY : weights.data();
}

const int* neighbours_of(const std::vector<int>& peers) {
  static const int none = 0;
  return peers.empty() ? &none : peers.data();
}

// The last part of the distributed graph calls: the owners of vertices get their edges, MPI makes the graph.
Communicator make_graph(Rearrangement& begun, const Order& order, const Neighbourhood& held, MPI_Info info) {
  const Communicator processes = arranged(begun, order);
  Neighbourhood moved;
  if (order.changed) moved = pass_to_owner(begun.mailbox, begun.steps, held, order.vertex);
  begun.steps.agree();
  const Neighbourhood& own = order.changed ? moved : held;
  Communicator made;
  check(PMPI_Dist_graph_create_adjacent(order.changed ? processes.get() : begun.comm,
                                        static_cast<int>(own.sources.size()), neighbours_of(own.sources),
                                        weights_of(own.source_weights, begun.weighted),
                                        static_cast<int>(own.destinations.size()), neighbours_of(own.destinations),
                                        weights_of(own.destination_weights, begun.weighted), info, 0, made.receive()),
        "MPI_Dist_graph_create_adjacent");
  annotate(made.get(), begun, order.record);
  return made;
}

double largest_of(std::span<const double> weights) {
  return weights.empty() ? 0 : *std::max_element(weights.begin(), weights.end());
}

void set(MPI_Info info, const char* key, std::string_view value) {
  const std::string cut(value.substr(0, MPI_MAX_INFO_VAL - 1));
  if (!cut.empty()) check(PMPI_Info_set(info, key, cut.c_str()), "MPI_Info_set");  // Open MPI refuses empty values
}

// Whatever the program's locale.
std::string text_of(double cost) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace

void dist_graph_create(MPI_Comm comm, const DistGraph& graph, MPI_Info info, bool reorder, MPI_Comm* made) {
  ReorderCall call{"dist_graph_create", &info, reorder};
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_dist_graph");
    require_graph(graph, size_of(comm));
    const bool any = std::any_of(graph.degrees, graph.degrees + graph.n, [](int degree) { return degree > 0; });
    call.weights = edge_weights(graph.weights != MPI_UNWEIGHTED, any);
  });
  const EdgeList edges = edges_of(graph.n, graph.sources, graph.degrees, graph.destinations);
  // A rank that declares no edge may have a null pointer for weights; MPI still learns that the graph has weights.
  const int* weights = edges.destinations.empty() ? MPI_WEIGHTS_EMPTY : graph.weights;
  const Neighbourhood held = neighbourhood_of(begun.mailbox, begun.steps, edges, begun.weighted ? weights : nullptr);
  const Order order = find_order(begun, [&] {
    OwnPart own;
    begun.order.run([&] { own.edges = traffic_of(held, begun.rank); });
    return order_of_graph(begun, own);
  });
  *made = make_graph(begun, order, held, info).release();
}

void dist_graph_create_adjacent(MPI_Comm comm, const AdjacentGraph& graph, MPI_Info info, bool reorder,
                                MPI_Comm* made) {
  Neighbourhood held;
  ReorderCall call{"dist_graph_create_adjacent", &info, reorder};
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_dist_graph");
    require_graph(graph, size_of(comm));
    held = neighbourhood_of(graph);
    call.weights = edge_weights(graph.source_weights != MPI_UNWEIGHTED, graph.indegree > 0 || graph.outdegree > 0);
  });
  const Order order = find_order(begun, [&] {
    OwnPart own{traffic_of_both_ends(begun.mailbox, begun.order, held, begun.rank), {}};
    return order_of_graph(begun, own);
  });
  *made = make_graph(begun, order, held, info).release();
}

// MPI wants the whole graph on every rank, so nothing is sent.
void graph_create(MPI_Comm comm, const WholeGraph& graph, bool reorder, MPI_Comm* made) {
  ReorderCall call{"graph_create", nullptr, reorder};
  Rearrangement begun = begin(comm, call, [&] {
    require(made, "comm_graph");
    require_graph(graph, size_of(comm));
    call.arguments = fingerprint(graph);
  });
  if (graph.nodes == 0) {
    *made = MPI_COMM_NULL;
    return;
  }
  const Order order = find_order(begun, [&] {
    OwnPart own;
    begun.order.run([&] { own.edges = traffic_of(neighbourhood_of(graph, begun.rank), begun.rank); });
    return order_of_graph(begun, own);
  });
  const bool separate = order.changed || graph.nodes < begun.size;
  const Communicator processes = separate ? arranged(begun, order, graph.nodes) : Communicator{};
  MPI_Comm base = separate ? processes.get() : comm;
  Communicator of_graph;
  if (base != MPI_COMM_NULL) {
    check(PMPI_Graph_create(base, graph.nodes, graph.index, graph.edges, 0, of_graph.receive()), "MPI_Graph_create");
  }
  annotate(of_graph.get(), begun, order.record);
  *made = of_graph.release();
}

void comm_reorder(MPI_Comm comm, const TrafficGraph& graph, MPI_Info info, int* newrank, MPI_Comm* made) {
  EdgeList edges;
  ReorderCall call{"comm_reorder", &info, true, made != nullptr ? 1U : 0U};
  Rearrangement begun = begin(comm, call, [&] {
    require(newrank, "newrank");
    require_graph(graph, size_of(comm));
    edges = edges_of(graph.n, graph.sources, graph.degrees, graph.destinations);
    if (graph.weights != nullptr) call.largest = largest_of({graph.weights, edges.destinations.size()});
    call.weights = edge_weights(graph.weights != nullptr, !edges.destinations.empty());
  });
  // So that no sum of weights overflows; the same on all ranks. Seconds are those of the weights as they are.
  const bool scaled = begun.weighted && begun.reorder.objective == core::objective::Objective::kBytes;
  const double scale = scaled ? core::scale_for_sums(begun.largest) : 1;
  Order order = find_order(begun, [&] {
    OwnPart own{traffic(begun.mailbox, begun.order, edges, {graph.weights, scale}, begun.rank), {}};
    return order_of_graph(begun, own);
  });
  order.record.before = in_callers_units(order.record.before, scale);
  order.record.after = in_callers_units(order.record.after, scale);
  if (made != nullptr) {
    Communicator processes;
    check(PMPI_Comm_split(comm, 0, order.vertex, processes.receive()), "MPI_Comm_split");
    annotate(processes.get(), begun, order.record);
    *made = processes.release();
  }
  *newrank = order.vertex;
}

MPI_Info info_of(MPI_Comm comm) {
  Info info;
  check(PMPI_Comm_get_info(comm, info.receive()), "MPI_Comm_get_info");
  if (const auto record = get_annotation(comm).reordering) {
    set(info.get(), "ranktree_reorder", record->mode);
    set(info.get(), "ranktree_reorder_reason", record->reason.view());
    if (record->before) set(info.get(), "ranktree_reorder_before", text_of(*record->before));
    if (record->after) set(info.get(), "ranktree_reorder_after", text_of(*record->after));
  }
  return info.release();
}

}  // namespace ranktree::mpi
