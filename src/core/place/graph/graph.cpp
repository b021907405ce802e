#include "core/place/graph/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/scale.h"
#include "core/base/workers.h"

namespace ranktree::core::place::engine {
namespace {

constexpr std::int64_t kArcsOfStep = 8;  // that are only copied or added up

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

template <class Weight>
class Contraction {
 public:
  Contraction(const BasicGraph<Weight>& graph, std::span<const Vertex> part_of, Vertex parts)
      : graph_(graph), part_of_(part_of), parts_(at(parts)), members_(members_of(part_of, parts)) {}

  // Ranges of the rows, which are then put together.
  BasicGraph<Weight> run(Workers& workers) {
    constexpr std::int64_t kLittle = 16384;
    const auto steps = static_cast<std::int64_t>(graph_.arcs.size());
    const int ranges = workers.threads() == 1 || steps < kLittle ? 1 : 4 * workers.threads();
    std::vector<BasicArcs<Weight>> rows(at(ranges));
    result_.offset.assign(parts_ + 1, 0);
    result_.size.assign(parts_, 0);
    const auto first = [&](int range) { return at(range) * parts_ / rows.size(); };
    workers.for_each(ranges, steps, [&](int i) { append_rows(first(i), first(i + 1), rows[at(i)]); });
    if (ranges == 1) {
      result_.arcs = std::move(rows.front());
      return std::move(result_);
    }
    std::vector<std::size_t> place(rows.size() + 1, 0);
    std::transform_inclusive_scan(rows.begin(), rows.end(), place.begin() + 1, std::plus<>(),
                                  [](const auto& arcs) { return arcs.size(); });
    result_.arcs.resize(place.back());
    workers.for_each(ranges, steps / kArcsOfStep, [&](int i) {
      std::copy(rows[at(i)].begin(), rows[at(i)].end(),
                result_.arcs.begin() + static_cast<std::ptrdiff_t>(place[at(i)]));
      for (std::size_t part = first(i); part < first(i + 1); ++part) {
        result_.offset[part + 1] += static_cast<std::int64_t>(place[at(i)]);
      }
    });
    return std::move(result_);
  }

 private:
  void append_rows(std::size_t first, std::size_t last, BasicArcs<Weight>& rows) {
    std::int64_t most = 1;  // one is written before it is known whether it is new
    for (auto i = members_.begin[first]; i < members_.begin[last]; ++i) {
      most += std::ssize(graph_.arcs_of(members_.order[at(i)]));
    }
    rows.resize(at(most + 1));
    if (most <= std::numeric_limits<std::int32_t>::max()) {
      fill_rows<std::int32_t>(first, last, rows);
    } else {
      fill_rows<std::int64_t>(first, last, rows);
    }
  }

  // The last element of `rows` is where arcs inside a part add up, to be dropped. Caches hold more of small places.
  template <class Place>
  void fill_rows(std::size_t first, std::size_t last, BasicArcs<Weight>& rows) {
    std::vector<Place> slot(parts_, -1);
    rows.back() = {0, 0};
    std::int64_t end = 0;
    for (std::size_t part = first; part < last; ++part) {
      const std::int64_t begin = end;
      slot[part] = static_cast<Place>(rows.size() - 1);
      for (auto i = members_.begin[part]; i < members_.begin[part + 1]; ++i) {
        const Vertex vertex = members_.order[at(i)];
        result_.size[part] += graph_.size[at(vertex)];
        end = append_arcs(vertex, {begin, end}, slot.data(), rows.data());
      }
      slot[part] = -1;
      result_.offset[part + 1] = end;
    }
    rows.resize(at(end));
  }

  // `slot`, by part: where the arc to it is, unless before the row's begin. Whether an arc is new is a coin toss:
  // one is written at the end in any case, and stays if it is. Returns the row's end.
  template <class Place>
  std::int64_t append_arcs(Vertex vertex, std::pair<std::int64_t, std::int64_t> row, Place* slot,
                           BasicArc<Weight>* rows) const {
    const auto begin = row.first;
    std::int64_t end = row.second;
    for (const auto& arc : graph_.arcs_of(vertex)) {
      const Vertex other = part_of_[at(arc.to)];
      const std::int64_t before = slot[other];
      const bool known = before >= begin;
      const std::int64_t place = known ? before : end;
      rows[end] = {other, 0};
      rows[place].weight += arc.weight;
      slot[other] = static_cast<Place>(place);
      end += known ? 0 : 1;
    }
    return end;
  }

  const BasicGraph<Weight>& graph_;
  std::span<const Vertex> part_of_;
  std::size_t parts_;
  Members members_;
  BasicGraph<Weight> result_;
};

}  // namespace

Graph contract(const Graph& graph, std::span<const Vertex> part_of, Vertex parts, Workers& workers) {
  return Contraction(graph, part_of, parts).run(workers);
}

Guide contract(const Guide& graph, std::span<const Vertex> part_of, Vertex parts, Workers& workers) {
  return Contraction(graph, part_of, parts).run(workers);
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

std::vector<double> totals_of(const Guide& graph, Workers& workers) {
  std::vector<double> totals(graph.size.size());
  workers.for_ranges(totals.size(), static_cast<std::int64_t>(graph.arcs.size()) / kArcsOfStep,
                     [&](std::size_t first, std::size_t last) {
                       for (std::size_t i = first; i < last; ++i)
                         totals[i] = sum_of_weights(graph.arcs_of(static_cast<Vertex>(i)));
                     });
  return totals;
}

Piece guide_of(const Graph& graph, Workers& workers) {
  double largest = 0;
  for (const Arc& arc : graph.arcs) largest = std::max(largest, arc.weight);
  const double scale = scale_to(0, largest);
  Piece piece;
  piece.graph.offset = graph.offset;
  piece.graph.size = graph.size;
  piece.graph.arcs.resize(graph.arcs.size());
  workers.for_ranges(graph.arcs.size(), static_cast<std::int64_t>(graph.arcs.size()) / kArcsOfStep,
                     [&](std::size_t first, std::size_t last) {
                       for (std::size_t i = first; i < last; ++i) {
                         piece.graph.arcs[i] = {graph.arcs[i].to, static_cast<float>(graph.arcs[i].weight * scale)};
                       }
                     });
  piece.name.resize(graph.size.size());
  std::iota(piece.name.begin(), piece.name.end(), 0);
  return piece;
}

namespace {

// What a piece is made of: the vertices of an order from `begin` on; `place` of each vertex is its place in the order.
struct Source {
  const Guide& graph;
  std::span<const Vertex> name;
  std::span<const Vertex> members;
  Vertex begin;
  const Vertex* place;
};

Piece piece_of(const Source& source) {
  const Guide& graph = source.graph;
  const auto count = static_cast<std::uint32_t>(source.members.size());
  std::size_t most = 0;
  for (const Vertex vertex : source.members) most += graph.arcs_of(vertex).size();
  Piece piece;
  piece.graph.arcs.resize(most + 1);  // one is written before it is known whether it stays
  std::size_t end = 0;
  for (const Vertex vertex : source.members) {
    piece.name.push_back(source.name[at(vertex)]);
    piece.graph.size.push_back(graph.size[at(vertex)]);
    for (const GuideArc& arc : graph.arcs_of(vertex)) {  // without a branch on whether it stays within the piece
      const Vertex local = source.place[arc.to] - source.begin;
      piece.graph.arcs[end] = {local, arc.weight};
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
    pieces[at(part)] = piece_of({graph, name, order, static_cast<Vertex>(begin), place.data()});
  });
  return pieces;
}

double cut_of(const Guide& graph, std::span<const Vertex> part_of) {
  double cut = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const GuideArc& arc : graph.arcs_of(vertex)) {
      if (part_of[at(arc.to)] != part_of[at(vertex)]) cut += arc.weight;
    }
  }
  return cut;
}

void shuffle(std::vector<Vertex>& order, Random& random) {
  constexpr std::size_t kMuch = 16384;
  constexpr std::size_t kRun = 64;
  const auto shuffle_range = [&random](std::vector<Vertex>& range, std::size_t begin, std::size_t end) {
    for (std::size_t i = end - begin; i > 1; --i) std::swap(range[begin + i - 1], range[begin + random.below(i)]);
  };
  if (order.size() <= kMuch) {
    shuffle_range(order, 0, order.size());
    return;
  }
  std::vector<Vertex> runs((order.size() + kRun - 1) / kRun);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i] = static_cast<Vertex>(i);
  shuffle_range(runs, 0, runs.size());
  std::vector<Vertex> result;
  result.reserve(order.size());
  for (const Vertex run : runs) {
    const std::size_t begin = static_cast<std::size_t>(run) * kRun;
    const std::size_t end = std::min(begin + kRun, order.size());
    shuffle_range(order, begin, end);
    result.insert(result.end(), order.begin() + static_cast<std::ptrdiff_t>(begin),
                  order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  order = std::move(result);
}

}  // namespace ranktree::core::place::engine
