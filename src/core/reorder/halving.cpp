#include "core/reorder/halving.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/reorder/halves.h"
#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"
#include "core/reorder/survey.h"

namespace ranktree::core::reorder {
namespace {

constexpr std::size_t kRings = 3;  // how far from the cut vertices may still change sides

class Halving {
 public:
  Halving(Network& network, const Survey& survey, int depth, const HalvingOptions& options)
      : network_(network), parts_(survey.parts), depth_(depth), options_(options) {
    for (const int id : network.held()) held_.push_back(id);
    for (std::size_t i = 0; i < held_.size(); ++i) leaf_of_[held_[i]] = survey.slot[i];
  }

  void run(SpreadGraph& vertices) {
    SpreadGraph graph;
    for (const SpreadVertex& vertex : vertices) {
      if (divides(vertex.part)) graph.push_back(vertex);
    }
    // Bit i of a vertex: its side in attempt i; the last is where it is at home.
    Sides candidates(graph.size(), 0);
    for (int i = 0; i < options_.attempts; ++i) {
      const Sides sides = attempt(graph, options_.seed + (static_cast<std::uint64_t>(i) << 16U));
      for (std::size_t k = 0; k < sides.size(); ++k)
        candidates[k] |= static_cast<std::uint8_t>(sides[k] << unsigned(i));
    }
    for (std::size_t k = 0; k < graph.size(); ++k) {
      candidates[k] |= static_cast<std::uint8_t>(home_side(graph[k]) << unsigned(options_.attempts));
    }
    give_parts(graph, candidates, vertices);
  }

 private:
  [[nodiscard]] bool divides(int part) const { return parts_[at(part)].left >= 0 && parts_[at(part)].depth == depth_; }
  [[nodiscard]] int leader_of(int part) const { return parts_[at(part)].leader; }
  // The part that an id leads on this level.
  [[nodiscard]] int led_by(int leader) const {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (parts_[part].leader == leader && divides(static_cast<int>(part))) return static_cast<int>(part);
    }
    return -1;
  }

  Sides attempt(const SpreadGraph& graph, std::uint64_t seed) {
    levels_.clear();
    coarsen(graph, seed);
    Sides sides = divide_coarsest(seed);
    for (std::size_t level = levels_.size() - 1; level-- > 0;) {
      sides = project(levels_[level], levels_[level + 1].graph, sides);
      refine_band(levels_[level].graph, sides, level == 0);
      levels_.pop_back();
    }
    settle(graph, sides);
    return sides;
  }

  // The last of levels_ is the coarsest graph.
  void coarsen(SpreadGraph graph, std::uint64_t seed) {
    std::vector<double> before(parts_.size(), 0);
    for (std::uint64_t round = 0;; ++round) {
      std::vector<double> count(parts_.size(), 0);
      for (const SpreadVertex& vertex : graph) ++count[at(vertex.part)];
      count = network_.sum(count);
      const std::vector<std::int64_t> limit = limits(before, count);
      levels_.push_back({std::move(graph), {}, {}});
      if (std::all_of(limit.begin(), limit.end(), [](std::int64_t one) { return one == 0; })) return;
      levels_.back().mate = match(network_, levels_.back().graph, limit, seed + round);
      graph = contract(network_, levels_.back());
      before = count;
    }
  }

  // What merged vertices may weigh, 0 for parts that are small enough or that the last round has hardly made smaller.
  [[nodiscard]] std::vector<std::int64_t> limits(const std::vector<double>& before,
                                                 const std::vector<double>& count) const {
    std::vector<std::int64_t> limit(parts_.size(), 0);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (count[part] <= options_.coarse_vertices) continue;
      if (before[part] > 0 && count[part] > 0.95 * before[part]) continue;
      limit[part] = std::max(2, (3 * (parts_[part].count / options_.coarse_vertices + 1)));
    }
    return limit;
  }

  Sides divide_coarsest(std::uint64_t seed) {
    std::vector<Letter<Report>> letters;
    for (const SpreadVertex& vertex : levels_.back().graph) {
      report(vertex, 0, std::vector<std::uint8_t>(vertex.edges.size(), 0), leader_of(vertex.part), letters);
    }
    std::vector<Letter<int>> answers;
    for_each_receiver(deliver(network_, letters), [&](int leader, std::span<const Letter<Report>> reports) {
      const int part = led_by(leader);
      const std::int64_t target = parts_[at(parts_[at(part)].left)].count;
      const Band band = assemble(reports);
      const Sides sides = find_halves(band.graph, target, options_.tries, seed + at(part));
      std::int64_t left = 0;
      for (std::size_t i = 0; i < sides.size(); ++i) left += sides[i] == 0 ? band.graph.weight[i] : 0;
      excess_[part] = left - target;
      for (std::size_t i = 0; i < sides.size(); ++i) answers.push_back({band.ids[i], leader, sides[i]});
    });
    Sides sides(levels_.back().graph.size(), 0);
    receive_sides(levels_.back().graph, answers, sides);
    return sides;
  }

  void receive_sides(const SpreadGraph& graph, const std::vector<Letter<int>>& letters, Sides& sides) {
    const auto arrived = deliver(network_, letters);
    std::span<const Letter<int>> rest(arrived);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (const auto& letter : take_run(rest, graph[i].id)) sides[i] = static_cast<std::uint8_t>(letter.content);
    }
  }

  // A merged vertex's side is that of both its halves.
  Sides project(const SpreadLevel& level, const SpreadGraph& coarse, const Sides& coarse_sides) {
    Sides sides(level.graph.size(), 0);
    std::vector<Letter<int>> letters;
    for (std::size_t i = 0, next = 0; i < level.graph.size(); ++i) {
      if (level.kept_as[i] != level.graph[i].id) continue;
      while (coarse[next].id != level.graph[i].id) ++next;
      sides[i] = coarse_sides[next];
      if (level.mate[i] != level.graph[i].id) letters.push_back({level.mate[i], level.graph[i].id, sides[i]});
    }
    receive_sides(level.graph, letters, sides);
    return sides;
  }

  Sides sides_of_neighbours(const SpreadGraph& graph, const Sides& sides) {
    const auto received =
        exchange_with_neighbours<std::int32_t>(network_, graph, [&](std::size_t i) { return sides[i]; });
    Sides peers(received.size());
    std::transform(received.begin(), received.end(), peers.begin(),
                   [](int side) { return static_cast<std::uint8_t>(side); });
    return peers;
  }

  void refine_band(const SpreadGraph& graph, Sides& sides, bool finest) {
    const Sides peers = sides_of_neighbours(graph, sides);
    const std::vector<std::size_t> ring = rings(graph, sides, peers);
    const std::vector<double> admitted = admit(graph, ring);
    std::vector<Letter<Report>> letters;
    std::size_t edge = 0;
    for (std::size_t i = 0; i < graph.size(); edge += graph[i++].edges.size()) {
      if (ring[i] == 0 || !is_admitted(graph[i], ring[i], admitted)) continue;
      report(graph[i], sides[i], std::span(peers).subspan(edge, graph[i].edges.size()), leader_of(graph[i].part),
             letters);
    }
    std::vector<Letter<int>> answers;
    for_each_receiver(deliver(network_, letters), [&](int leader, std::span<const Letter<Report>> reports) {
      Band band = assemble(reports);
      const Sides before = band.sides;
      const int heaviest = *std::max_element(band.graph.weight.begin(), band.graph.weight.end());
      std::int64_t& excess = excess_.at(led_by(leader));
      excess = refine(band.graph, band.sides, excess, finest ? 0 : heaviest / 2);
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (band.sides[i] != before[i]) answers.push_back({band.ids[i], leader, band.sides[i]});
      }
    });
    receive_sides(graph, answers, sides);
  }

  // 1 for vertices with a neighbour on the other side, 2 for their neighbours, ..., 0 beyond the last ring.
  std::vector<std::size_t> rings(const SpreadGraph& graph, const Sides& sides, const Sides& peers) {
    std::vector<std::size_t> ring(graph.size(), 0);
    std::size_t edge = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (std::size_t k = 0; k < graph[i].edges.size(); ++k) {
        if (peers[edge++] != sides[i]) ring[i] = 1;
      }
    }
    for (std::size_t last = 1; last < kRings; ++last) widen(graph, last, ring);
    return ring;
  }

  // The neighbours of ring `last` that are in none yet are the next.
  void widen(const SpreadGraph& graph, std::size_t last, std::vector<std::size_t>& ring) {
    std::vector<Letter<Nothing>> letters;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (ring[i] != last) continue;
      for (const SpreadEdge& one : graph[i].edges) letters.push_back({one.peer, graph[i].id, {}});
    }
    letters = deliver(network_, letters);
    std::span<const Letter<Nothing>> rest(letters);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (!take_run(rest, graph[i].id).empty() && ring[i] == 0) ring[i] = last + 1;
    }
  }

  // By part, how many vertices there are in the rings up to each.
  std::vector<double> admit(const SpreadGraph& graph, const std::vector<std::size_t>& ring) {
    std::vector<double> count(parts_.size() * kRings, 0);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (std::size_t outer = ring[i]; outer > 0 && outer <= kRings; ++outer) {
        ++count[at(graph[i].part) * kRings + outer - 1];
      }
    }
    return network_.sum(count);
  }

  // Whole rings while they fit at the leader; a sample of the first where not even that fits.
  [[nodiscard]] bool is_admitted(const SpreadVertex& vertex, std::size_t ring, const std::vector<double>& count) const {
    const double within = count[at(vertex.part) * kRings + ring - 1];
    if (within <= options_.coarse_vertices) return true;
    if (ring > 1) return false;
    const auto draw = Random(options_.seed ^ Random(at(vertex.id)).next()).below(at(static_cast<std::int64_t>(within)));
    return draw < at(options_.coarse_vertices);
  }

  // Where the vertices near the cut could not make both halves fit, as there may be none: those of the heavier half
  // that lose least by it move.
  void settle(const SpreadGraph& graph, Sides& sides) {
    std::vector<double> excess(parts_.size(), 0);
    for (const auto& [part, value] : excess_) excess[at(part)] = static_cast<double>(value);
    excess = network_.sum(excess);
    if (std::all_of(excess.begin(), excess.end(), [](double one) { return one == 0; })) return;
    const Sides peers = sides_of_neighbours(graph, sides);
    std::vector<Letter<double>> letters;
    std::size_t edge = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      double loss = 0;
      for (const SpreadEdge& one : graph[i].edges) loss += peers[edge++] == sides[i] ? one.weight : -one.weight;
      const double over = excess[at(graph[i].part)];
      if (over == 0 || (over > 0) != (sides[i] == 0)) continue;
      letters.push_back({leader_of(graph[i].part), graph[i].id, loss});
    }
    std::vector<Letter<int>> answers;
    for_each_receiver(deliver(network_, letters), [&](int leader, std::span<const Letter<double>> losses) {
      const std::int64_t over = excess_.at(led_by(leader));
      std::vector<std::pair<double, int>> order;
      for (const auto& letter : losses) order.emplace_back(letter.content, letter.from);
      std::sort(order.begin(), order.end());
      order.resize(at(std::abs(over)));
      for (const auto& [loss, id] : order) answers.push_back({id, leader, over > 0 ? 1 : 0});
    });
    receive_sides(graph, answers, sides);
  }

  [[nodiscard]] std::uint8_t home_side(const SpreadVertex& vertex) const {
    return leaf_of_.at(vertex.id) < parts_[at(parts_[at(vertex.part)].right)].first ? 0 : 1;
  }
  [[nodiscard]] bool is_at_home(const SpreadVertex& vertex) const {
    const int offset = leaf_of_.at(vertex.id) - parts_[at(vertex.part)].first;
    return offset >= 0 && offset < parts_[at(vertex.part)].count;
  }

  void give_parts(const SpreadGraph& graph, const Sides& candidates, SpreadGraph& vertices) {
    const Sides peers = sides_of_neighbours(graph, candidates);
    const std::vector<unsigned> best = decide(graph, candidates, peers);
    auto vertex = vertices.begin();
    std::size_t edge = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      while (vertex->id != graph[i].id) ++vertex;
      const unsigned bit = best[at(graph[i].part)];
      const auto side = [bit](std::uint8_t candidate) { return (unsigned{candidate} >> bit) & 1U; };
      std::vector<SpreadEdge> kept;
      for (const SpreadEdge& one : graph[i].edges) {
        if (side(peers[edge++]) == side(candidates[i])) kept.push_back(one);
      }
      vertex->edges = std::move(kept);
      vertex->part = side(candidates[i]) == 0 ? parts_[at(vertex->part)].left : parts_[at(vertex->part)].right;
    }
  }

  // By part: which candidate cuts least; that its vertices stay at home if all are there and it cuts no more. One
  // decides for all, as sums may differ in their last digits.
  std::vector<unsigned> decide(const SpreadGraph& graph, const Sides& candidates, const Sides& peers) {
    const std::size_t count = at(options_.attempts) + 1;
    std::vector<double> cut(parts_.size() * count, 0);
    std::vector<double> away(parts_.size(), 0);
    std::size_t edge = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      if (!is_at_home(graph[i])) ++away[at(graph[i].part)];
      for (const SpreadEdge& one : graph[i].edges) {
        const unsigned differs = unsigned{candidates[i]} ^ unsigned { peers[edge++] };
        for (unsigned bit = 0; bit < count; ++bit) {
          if (((differs >> bit) & 1U) != 0) cut[at(graph[i].part) * count + bit] += one.weight;
        }
      }
    }
    cut = network_.sum(cut);
    away = network_.sum(away);
    Bytes best;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const auto begin = cut.begin() + static_cast<std::ptrdiff_t>(part * count);
      const auto home = begin + options_.attempts;
      auto least = std::min_element(begin, home);
      if (away[part] == 0 && *home <= *least) least = home;
      best.push_back(static_cast<std::byte>(least - begin));
    }
    std::vector<unsigned> answer;
    for (const std::byte one : network_.broadcast(best)) answer.push_back(std::to_integer<unsigned>(one));
    return answer;
  }

  Network& network_;
  const std::vector<Part>& parts_;
  int depth_;
  const HalvingOptions& options_;
  std::vector<int> held_;
  std::map<int, int> leaf_of_;  // by id held here
  std::vector<SpreadLevel> levels_;
  std::map<int, std::int64_t> excess_;  // of the parts led from here: by how much the left is too heavy
};

}  // namespace

void halve(Network& network, const Survey& survey, int depth, const HalvingOptions& options, SpreadGraph& vertices) {
  Halving(network, survey, depth, options).run(vertices);
}

}  // namespace ranktree::core::reorder
