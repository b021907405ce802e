#include "core/place/order/lattice.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
namespace {

constexpr std::size_t kMostLinks = 12;  // of a vertex
constexpr Vertex kNone = -1;

class Union {
 public:
  explicit Union(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }

  std::int32_t find(std::int32_t item) {
    while (parent_[at(item)] != item) item = parent_[at(item)] = parent_[at(parent_[at(item)])];
    return item;
  }
  // The lower number stands for both.
  void join(std::int32_t a, std::int32_t b) {
    a = find(a);
    b = find(b);
    if (a != b) parent_[at(std::max(a, b))] = std::min(a, b);
  }

  // Numbers 0, 1, ... in the order in which they come.
  [[nodiscard]] std::pair<std::vector<std::int32_t>, std::int32_t> numbered() {
    std::vector<std::int32_t> number(parent_.size());
    std::int32_t next = 0;
    for (std::size_t i = 0; i < number.size(); ++i) {
      const std::int32_t root = find(static_cast<std::int32_t>(i));
      number[i] = at(root) == i ? next++ : number[at(root)];
    }
    return {std::move(number), next};
  }

 private:
  std::vector<std::int32_t> parent_;
};

// Some of a graph's arcs without their weights; both directions of a link have its number.
struct Links {
  std::vector<std::int64_t> offset{0};
  std::vector<Vertex> to;
  std::vector<std::int32_t> link;
  std::int32_t links = 0;

  [[nodiscard]] Vertex vertices() const { return static_cast<Vertex>(offset.size()) - 1; }
  [[nodiscard]] std::span<const Vertex> of(Vertex vertex) const {
    return {to.data() + offset[at(vertex)], at(offset[at(vertex) + 1] - offset[at(vertex)])};
  }
  [[nodiscard]] std::int32_t link_of(Vertex vertex, std::size_t index) const {
    return link[at(offset[at(vertex)]) + index];
  }
};

// Of a grid, no vertex has more than twice the links of another.
bool degrees_fit(const Graph& graph, double least) {
  std::size_t fewest = kMostLinks;
  std::size_t most = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    std::size_t count = 0;
    for (const Arc& arc : graph.arcs_of(vertex)) count += arc.weight >= least ? 1 : 0;
    fewest = std::min(fewest, count);
    most = std::max(most, count);
    if (most > 2 * fewest || most > kMostLinks || fewest == 0) return false;
  }
  return true;
}

// Nothing where one end of a link does not know of it.
std::optional<Links> links_of(const Graph& graph, double least) {
  Links links;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const Arc& arc : graph.arcs_of(vertex)) {
      if (arc.weight >= least) links.to.push_back(arc.to);
    }
    const auto begin = links.to.begin() + links.offset.back();
    if (!std::is_sorted(begin, links.to.end())) std::sort(begin, links.to.end());
    links.offset.push_back(static_cast<std::int64_t>(links.to.size()));
  }
  links.link.assign(links.to.size(), kNone);
  std::vector<std::int64_t> next(links.offset.begin(), links.offset.end() - 1);  // of each vertex: not numbered yet
  for (Vertex vertex = 0; vertex < links.vertices(); ++vertex) {
    for (std::int64_t i = next[at(vertex)]; i < links.offset[at(vertex) + 1]; ++i) {
      const Vertex other = links.to[at(i)];
      if (other <= vertex) return std::nullopt;  // lower ones have numbered what they know of
      const std::int64_t back = next[at(other)]++;
      if (back == links.offset[at(other) + 1] || links.to[at(back)] != vertex) return std::nullopt;
      links.link[at(i)] = links.link[at(back)] = links.links++;
    }
  }
  return links;
}

// Which links are of one dimension.
class Dimensions {
 public:
  explicit Dimensions(const Links& links) : links_(links), same_(at(links.links)), last_(at(links.vertices()), kNone) {}

  // False at the first vertex that no grid has, or when the workers are to stop.
  bool look_at_all(Workers& workers) {
    constexpr Vertex kAtOnce = 4096;
    for (Vertex vertex = 0; vertex < links_.vertices(); ++vertex) {
      if (vertex % kAtOnce == 0 && !workers.check_now()) return false;
      look_at(vertex);
      if (!fits(vertex)) return false;
    }
    return true;
  }

  // At most two links of one dimension share a vertex, and links of one dimension stay so.
  bool fits(Vertex vertex) {
    std::array<std::int32_t, kMostLinks> dimension{};
    const std::size_t count = links_.of(vertex).size();
    for (std::size_t i = 0; i < count; ++i) {
      dimension[i] = same_.find(links_.link_of(vertex, i));
      if (std::count(dimension.begin(), dimension.begin() + static_cast<std::ptrdiff_t>(i), dimension[i]) > 1) {
        return false;
      }
    }
    return true;
  }

  // By link, and how many there are.
  [[nodiscard]] std::pair<std::vector<std::int32_t>, std::int32_t> numbered() { return same_.numbered(); }

 private:
  using Mask = std::uint32_t;  // of a vertex's partners
  static_assert(kMostLinks <= 16);

  // From the vertex at hand by one of its partners.
  struct Step {
    Vertex to;
    std::int32_t link;    // the second one
    std::int32_t before;  // the step before that leads there, too
    unsigned by;          // the partner's index
  };

  void look_at(Vertex vertex) {
    collect_steps(vertex);
    std::array<Mask, kMostLinks> sides{};  // partners that are sides of a square
    for (const Step& step : steps_) {
      if (last_[at(step.to)] != kPartner) join_squares(vertex, step, sides);
    }
    const std::size_t count = links_.of(vertex).size();
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if ((sides[i] >> j & 1U) == 0) same_.join(links_.link_of(vertex, i), links_.link_of(vertex, j));
      }
    }
    for (const Step& step : steps_) last_[at(step.to)] = kNone;
    for (const Vertex partner : links_.of(vertex)) last_[at(partner)] = kNone;
  }

  // All but those back, and which partners are tied to each other.
  void collect_steps(Vertex vertex) {
    steps_.clear();
    const auto row = links_.of(vertex);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto next = links_.of(row[i]);
      for (std::size_t j = 0; j < next.size(); ++j) {
        if (next[j] == vertex) continue;
        const std::int32_t before = std::exchange(last_[at(next[j])], static_cast<std::int32_t>(steps_.size()));
        steps_.push_back({next[j], links_.link_of(row[i], j), before, static_cast<unsigned>(i)});
      }
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      tied_[i] = 0;
      for (std::int32_t step = std::exchange(last_[at(row[i])], kPartner); step >= 0; step = steps_[at(step)].before) {
        tied_[i] |= Mask{1} << steps_[at(step)].by;
      }
    }
  }

  // Those without a diagonal; each has four corners, of which the lowest joins what is opposite.
  void join_squares(Vertex vertex, const Step& step, std::array<Mask, kMostLinks>& sides) {
    const auto row = links_.of(vertex);
    for (std::int32_t i = step.before; i >= 0; i = steps_[at(i)].before) {
      const Step& other = steps_[at(i)];
      if ((tied_[step.by] >> other.by & 1U) != 0) continue;
      sides[step.by] |= Mask{1} << other.by;
      if (vertex > step.to || vertex > row[step.by] || vertex > row[other.by]) continue;
      same_.join(links_.link_of(vertex, step.by), other.link);
      same_.join(links_.link_of(vertex, other.by), step.link);
    }
  }

  static constexpr std::int32_t kPartner = -2;

  const Links& links_;
  Union same_;
  std::vector<std::int32_t> last_;  // by vertex: the last step that leads there; kPartner: tied to the vertex at hand
  std::vector<Step> steps_;
  std::array<Mask, kMostLinks> tied_{};  // of the partners of the vertex at hand: those that are tied to each
};

// One dimension: what is left when its links are taken away are its layers, in a row.
struct Dimension {
  std::vector<std::int32_t> where;  // of each vertex
  int size = 0;
  bool wraps = false;
  std::int32_t links = 0;
};

// The layers that each layer touches, two at most; nothing where there are more, or a link stays within a layer.
std::optional<std::vector<std::array<Vertex, 2>>> touching(const Links& links, std::span<const std::int32_t> class_of,
                                                           std::int32_t chosen, std::span<const std::int32_t> layer_of,
                                                           std::int32_t layers) {
  std::vector<std::array<Vertex, 2>> touches(at(layers), {kNone, kNone});
  for (Vertex vertex = 0; vertex < links.vertices(); ++vertex) {
    const auto row = links.of(vertex);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (class_of[at(links.link_of(vertex, i))] != chosen) continue;
      const Vertex there = layer_of[at(row[i])];
      auto& own = touches[at(layer_of[at(vertex)])];
      if (there == layer_of[at(vertex)]) return std::nullopt;
      if (own[0] == there || own[1] == there) continue;
      if (own[1] != kNone) return std::nullopt;
      own[own[0] == kNone ? 0 : 1] = there;
    }
  }
  return touches;
}

// The layers in a row, from an end, or, where they close, from that of vertex 0; the end nearer to vertex 0.
std::vector<std::int32_t> row_of(const std::vector<std::array<Vertex, 2>>& touches, std::int32_t first) {
  std::vector<std::int32_t> row;
  const auto walk = [&](std::int32_t from) {
    row.assign(1, from);
    for (std::int32_t before = kNone, now = from;;) {
      const auto& next = touches[at(now)];
      const std::int32_t to = next[0] == before ? next[1] : next[0];
      if (to == kNone || to == from || row.size() > touches.size()) return;
      before = std::exchange(now, to);
      row.push_back(to);
    }
  };
  walk(first);
  if (touches[at(row.back())][1] == kNone) {
    walk(row.back());
    const auto place = std::find(row.begin(), row.end(), first) - row.begin();
    if (2 * at(place) >= row.size()) std::reverse(row.begin(), row.end());
  }
  return row;
}

std::optional<Dimension> dimension_of(const Links& links, std::span<const std::int32_t> class_of, std::int32_t chosen) {
  Union layers(at(links.vertices()));
  Dimension dimension;
  for (Vertex vertex = 0; vertex < links.vertices(); ++vertex) {
    const auto row = links.of(vertex);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] < vertex) continue;
      if (class_of[at(links.link_of(vertex, i))] == chosen) {
        ++dimension.links;
      } else {
        layers.join(vertex, row[i]);
      }
    }
  }
  auto [layer_of, count] = layers.numbered();
  const auto touches = touching(links, class_of, chosen, layer_of, count);
  if (!touches) return std::nullopt;
  const std::vector<std::int32_t> row = row_of(*touches, layer_of.front());
  if (row.size() != at(count)) return std::nullopt;
  dimension.size = count;
  dimension.wraps = (*touches)[at(row.front())][1] != kNone && count > 2;
  std::vector<std::int32_t> place(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) place[at(row[i])] = static_cast<std::int32_t>(i);
  for (std::int32_t& layer : layer_of) layer = place[at(layer)];
  dimension.where = std::move(layer_of);
  return dimension;
}

// Nothing unless each place has one vertex and all links are there.
std::optional<Lattice> lattice_of(const std::vector<Dimension>& dimensions, Vertex vertices) {
  Lattice lattice;
  std::int64_t places = 1;
  for (const Dimension& dimension : dimensions) {
    lattice.sizes.push_back(dimension.size);
    lattice.wraps.push_back(dimension.wraps ? 1 : 0);
    places *= dimension.size;
    if (places > vertices) return std::nullopt;
    const std::int64_t rows = vertices / dimension.size;
    if (dimension.links != rows * (dimension.size - (dimension.wraps ? 0 : 1))) return std::nullopt;
  }
  if (places != vertices) return std::nullopt;
  lattice.vertex_at.assign(at(vertices), kNone);
  for (Vertex vertex = 0; vertex < vertices; ++vertex) {
    std::int64_t place = 0;
    for (const Dimension& dimension : dimensions) place = place * dimension.size + dimension.where[at(vertex)];
    if (std::exchange(lattice.vertex_at[at(place)], vertex) != kNone) return std::nullopt;
  }
  return lattice;
}

std::optional<Lattice> find_lattice(const Graph& graph, double least, Workers& workers) {
  constexpr std::int32_t kMostDimensions = 20;
  const auto links = links_of(graph, least);
  if (!links) return std::nullopt;
  Dimensions same(*links);
  if (!same.look_at_all(workers)) return std::nullopt;
  const std::pair<std::vector<std::int32_t>, std::int32_t> numbered = same.numbered();
  const auto& class_of = numbered.first;
  const std::int32_t classes = numbered.second;
  if (classes > kMostDimensions) return std::nullopt;
  std::vector<std::optional<Dimension>> found(at(classes));
  workers.for_each(classes, static_cast<std::int64_t>(links->to.size()) * classes, [&](int i) {
    if (workers.check_now()) found[at(i)] = dimension_of(*links, class_of, i);
  });
  std::vector<Dimension> dimensions;
  for (auto& dimension : found) {
    if (!dimension) return std::nullopt;
    dimensions.push_back(std::move(*dimension));
  }
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const Dimension& a, const Dimension& b) { return a.size > b.size; });
  return lattice_of(dimensions, graph.vertices());
}

}  // namespace

std::vector<int> Lattice::coordinates(std::int64_t place) const {
  std::vector<int> result(sizes.size());
  for (std::size_t j = sizes.size(); j-- > 0; place /= sizes[j]) result[j] = static_cast<int>(place % sizes[j]);
  return result;
}

std::optional<Lattice> find_lattice(const Graph& graph, Workers& workers) {
  constexpr Vertex kFew = 9;
  constexpr std::array kShares{0.0, 0.5, 0.125};  // of the heaviest arc
  if (graph.vertices() < kFew || graph.arcs.empty()) return std::nullopt;
  double heaviest = 0;
  for (const Arc& arc : graph.arcs) heaviest = std::max(heaviest, arc.weight);
  std::vector<std::ptrdiff_t> tried;  // by how many arcs are heavy enough
  for (const double share : kShares) {
    if (!workers.check_now()) return std::nullopt;
    const double least = share * heaviest;
    if (!degrees_fit(graph, least)) continue;
    tried.push_back(
        std::count_if(graph.arcs.begin(), graph.arcs.end(), [&](const Arc& a) { return a.weight >= least; }));
    if (std::count(tried.begin(), tried.end(), tried.back()) > 1) continue;
    auto lattice = find_lattice(graph, least, workers);
    if (lattice) return lattice;
  }
  return std::nullopt;
}

}  // namespace ranktree::core::place::engine
