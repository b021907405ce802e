#include "core/place/engine/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// The members of each part in ascending order: those of part p are order[begin[p]] .. order[begin[p + 1] - 1].
struct Members {
  std::vector<std::int64_t> begin;
  std::vector<Vertex> order;
};

Members members_of(std::span<const Vertex> part_of, Vertex parts) {
  Members members{std::vector<std::int64_t>(at(parts) + 1, 0), std::vector<Vertex>(part_of.size())};
  for (const Vertex part : part_of) ++members.begin[at(part) + 1];
  std::partial_sum(members.begin.begin(), members.begin.end(), members.begin.begin());
  std::vector<std::int64_t> next(members.begin.begin(), members.begin.end() - 1);
  for (std::size_t vertex = 0; vertex < part_of.size(); ++vertex) {
    members.order[at(next[at(part_of[vertex])]++)] = static_cast<Vertex>(vertex);
  }
  return members;
}

}  // namespace

namespace {

// Symmetric in its ends, without any order.
std::uint64_t pair_hash(Vertex a, Vertex b) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b));
  const auto high = static_cast<std::uint64_t>(std::max(a, b));
  return Random(low << 32U | high).next();
}

}  // namespace

Graph strongest_arcs(const Graph& graph, std::size_t strongest) {
  const std::size_t count = graph.size.size();
  double common = 0;
  if (count > 1 && graph.arcs.size() == count * (count - 1)) {
    common = graph.arcs.front().weight;
    for (const Arc& arc : graph.arcs) common = std::min(common, arc.weight);
  }
  const auto stronger = [](Vertex vertex) {
    return [vertex](const Arc& a, const Arc& b) {
      return a.weight != b.weight ? a.weight > b.weight : pair_hash(vertex, a.to) > pair_hash(vertex, b.to);
    };
  };
  std::vector<std::vector<Arc>> rows(count);
  std::vector<Arc> row;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    row.clear();
    for (const Arc& arc : graph.arcs_of(vertex)) {
      if (arc.weight > common) row.push_back({arc.to, arc.weight - common});
    }
    if (row.size() > strongest) {
      std::nth_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(strongest), row.end(), stronger(vertex));
      row.resize(strongest);
    }
    for (const Arc& arc : row) {
      rows[at(vertex)].push_back(arc);
      rows[at(arc.to)].push_back({vertex, arc.weight});
    }
  }
  Graph result;
  result.size = graph.size;
  for (auto& arcs : rows) {
    std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.to < b.to; });
    const auto end = std::unique(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.to == b.to; });
    result.arcs.insert(result.arcs.end(), arcs.begin(), end);
    result.offset.push_back(static_cast<std::int64_t>(result.arcs.size()));
  }
  return result;
}

namespace {

// The weight of the arc to `other` in the row that begins at `begin`; `slot` tells where it is, once there is one.
template <class Weight>
auto& weight_to(Vertex other, std::int64_t begin, std::int64_t& slot, BasicGraph<Weight>& rows) {
  if (slot < begin) {
    slot = static_cast<std::int64_t>(rows.arcs.size());
    rows.arcs.push_back({other, 0});
  }
  return rows.arcs[at(slot)].weight;
}

template <class Weight>
BasicGraph<Weight> contracted(const BasicGraph<Weight>& graph, std::span<const Vertex> part_of, Vertex parts) {
  const Members members = members_of(part_of, parts);
  BasicGraph<Weight> result;
  result.offset.reserve(at(parts) + 1);
  result.arcs.reserve(graph.arcs.size());
  result.size.assign(at(parts), 0);
  std::vector<std::int64_t> slot(at(parts), -1);  // by part: where the arc to it is, unless before the row's begin
  for (Vertex part = 0; part < parts; ++part) {
    const auto begin = static_cast<std::int64_t>(result.arcs.size());
    for (auto i = members.begin[at(part)]; i < members.begin[at(part) + 1]; ++i) {
      const Vertex vertex = members.order[at(i)];
      result.size[at(part)] += graph.size[at(vertex)];
      for (const auto& arc : graph.arcs_of(vertex)) {
        const Vertex other = part_of[at(arc.to)];
        if (other == part) continue;
        weight_to(other, begin, slot[at(other)], result) += arc.weight;
      }
    }
    result.offset.push_back(static_cast<std::int64_t>(result.arcs.size()));
  }
  return result;
}

}  // namespace

Graph contract(const Graph& graph, std::span<const Vertex> part_of, Vertex parts) {
  return contracted(graph, part_of, parts);
}

Guide contract(const Guide& graph, std::span<const Vertex> part_of, Vertex parts) {
  return contracted(graph, part_of, parts);
}

namespace {

// Four sums at a time: one after another, each would wait for the one before.
double sum_of_weights(std::span<const GuideArc> arcs) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= arcs.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += arcs[i + j].weight;
  }
  for (; i < arcs.size(); ++i) sums[0] += arcs[i].weight;
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

std::vector<double> totals_of(const Guide& graph) {
  std::vector<double> totals;
  totals.reserve(graph.size.size());
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) totals.push_back(sum_of_weights(graph.arcs_of(vertex)));
  return totals;
}

Piece guide_of(const Graph& graph) {
  double largest = 0;
  for (const Arc& arc : graph.arcs) largest = std::max(largest, arc.weight);
  const double scale = largest > 0 ? std::ldexp(1.0, -std::ilogb(largest)) : 1;
  Piece piece;
  piece.graph.offset = graph.offset;
  piece.graph.size = graph.size;
  piece.graph.arcs.resize(graph.arcs.size());
  std::transform(graph.arcs.begin(), graph.arcs.end(), piece.graph.arcs.begin(),
                 [scale](const Arc& arc) { return GuideArc{arc.to, static_cast<float>(arc.weight * scale)}; });
  piece.name.resize(graph.size.size());
  std::iota(piece.name.begin(), piece.name.end(), 0);
  return piece;
}

namespace {

// The piece of the vertices order[begin] .. order[end - 1]; `place` of each vertex is its place in the order.
Piece piece_of(const Guide& graph, std::span<const Vertex> name, std::span<const Vertex> members, Vertex begin,
               const Vertex* place) {
  const auto count = static_cast<std::uint32_t>(members.size());
  Piece piece;
  piece.name.reserve(members.size());
  piece.graph.size.reserve(members.size());
  piece.graph.offset.reserve(members.size() + 1);
  std::size_t most = 0;
  for (const Vertex vertex : members) most += graph.arcs_of(vertex).size();
  piece.graph.arcs.resize(most + 1);
  GuideArc* const arcs = piece.graph.arcs.data();
  std::size_t end = 0;
  for (const Vertex vertex : members) {
    piece.name.push_back(name[at(vertex)]);
    piece.graph.size.push_back(graph.size[at(vertex)]);
    for (const GuideArc& arc : graph.arcs_of(vertex)) {  // without a branch on whether it stays within the piece
      const Vertex local = place[arc.to] - begin;
      arcs[end] = {local, arc.weight};
      end += static_cast<std::uint32_t>(local) < count ? 1 : 0;
    }
    piece.graph.offset.push_back(static_cast<std::int64_t>(end));
  }
  piece.graph.arcs.resize(end);
  return piece;
}

}  // namespace

std::vector<Piece> pieces_of(const Guide& graph, std::span<const Vertex> name, std::span<const Vertex> part_of,
                             Vertex parts, Workers& workers) {
  const Members members = members_of(part_of, parts);
  std::vector<Vertex> place(part_of.size());
  for (std::size_t i = 0; i < place.size(); ++i) place[at(members.order[i])] = static_cast<Vertex>(i);
  std::vector<Piece> pieces(at(parts));
  workers.for_each(parts, static_cast<std::int64_t>(graph.arcs.size()), [&](int part) {
    const auto begin = members.begin[at(part)];
    const std::span order(members.order.data() + begin, at(members.begin[at(part) + 1] - begin));
    pieces[at(part)] = piece_of(graph, name, order, static_cast<Vertex>(begin), place.data());
  });
  return pieces;
}

}  // namespace ranktree::core::place::engine
