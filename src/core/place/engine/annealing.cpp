#include "core/place/engine/annealing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/engine/balancing.h"
#include "core/place/engine/coarsening.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"
#include "core/place/engine/visiting_order.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double cut_of(const Guide& graph, std::span<const Vertex> part_of) {
  double cut = 0;
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    for (const GuideArc& arc : graph.arcs_of(vertex)) {
      if (part_of[at(arc.to)] != part_of[at(vertex)]) cut += arc.weight;
    }
  }
  return cut;
}

// What a worsening may be, in units of the temperature, by a random number.
class Thresholds {
 public:
  static constexpr std::uint64_t kCount = 4096;

  Thresholds() {
    for (std::size_t i = 0; i < kCount; ++i) {
      threshold_[i] = static_cast<float>(-std::log((static_cast<double>(i) + 0.5) / kCount));
    }
  }
  [[nodiscard]] double operator[](std::uint64_t draw) const { return threshold_[draw % kCount]; }

 private:
  std::array<float, kCount> threshold_{};
};

const Thresholds& thresholds() {
  static const Thresholds table;
  return table;
}

constexpr double kFewestTrials = 20;  // for a vertex on a border, with which it is worth beginning
constexpr double kTrialsOfPhase = 20;
constexpr std::size_t kMostParts = 512;     // chains are looked for among all pairs of them
constexpr Vertex kManyVertices = 8192;      // from which there are regions ...
constexpr std::size_t kPartsOfRegion = 16;  // ... of so many parts ...
constexpr std::size_t kPhasesOfRegion = 4;  // ... that hold for so many temperatures
// In units of what a move across a border makes worse typically.
constexpr double kHeat = 0.012;  // the first temperature, over the root of the trials ...
constexpr double kLeastHot = 0.08;
constexpr double kMostHot = 0.35;
constexpr double kCold = 0.07;         // ... and the last
constexpr double kCoarsestHot = 0.35;  // the first temperatures of coarser graphs ...
constexpr double kCoarserHot = 0.3;
constexpr double kCoarserCold = 0.2;  // ... and the last
constexpr double kLoose = 0.4;        // the first tightness, times the root of what a part holds ...
constexpr double kTight = 0.7;        // ... and the last
constexpr double kMolten = 1.5;       // times the cut: the first temperature was too hot

struct Climate {
  double temperature;
  double tightness;  // cost of a vertex too many or too few, squared
  double trials;     // for each vertex on a border
};

// What moving a vertex from a part to another one adds to the cut.
double worsening(std::span<const GuideArc> arcs, const std::vector<Vertex>& part_of, Vertex from, Vertex to) {
  double worse = 0;
  for (const GuideArc& arc : arcs) {
    const Vertex part = part_of[at(arc.to)];
    worse += part == from ? arc.weight : part == to ? -arc.weight : 0.0F;
  }
  return worse;
}

// Some parts and the vertices in them, which move among these parts only.
class Region {
 public:
  // `surplus`: by how much each part is too large.
  Region(const Guide& graph, std::vector<Vertex>& part_of, std::vector<std::int32_t>& surplus, std::uint64_t seed)
      : graph_(graph),
        part_of_(part_of),
        surplus_(surplus),
        random_(seed),
        outside_(part_of.size(), 0),
        place_(part_of.size(), -1),
        ties_(part_of.size()) {
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      for (const GuideArc& arc : graph.arcs_of(vertex)) {
        const bool outside = part_of[at(arc.to)] != part_of[at(vertex)];
        outside_[at(vertex)] += outside ? 1 : 0;
        (outside ? ties_[at(vertex)].others : ties_[at(vertex)].own) += arc.weight;
      }
      if (outside_[at(vertex)] > 0) join_border(vertex);
      least_surplus_ = std::min(least_surplus_, surplus[at(part_of[at(vertex)])]);
    }
  }

  [[nodiscard]] std::size_t border() const { return border_.size(); }

  void run(const Climate& climate, std::int64_t trials) {
    for (std::int64_t i = 0; i < trials && !border_.empty(); ++i) try_move(climate);
  }

 private:
  void join_border(Vertex vertex) {
    place_[at(vertex)] = static_cast<std::int32_t>(border_.size());
    border_.push_back(vertex);
  }
  void leave_border(Vertex vertex) {
    const std::int32_t place = std::exchange(place_[at(vertex)], -1);
    const Vertex last = border_.back();
    border_.pop_back();
    if (last == vertex) return;
    border_[at(place)] = last;
    place_[at(last)] = place;
  }

  // One draw: its upper half chooses the vertex, then 20 bits the arc, 12 the threshold. Most moves are refused, if
  // possible before any arc is looked at: a vertex is not tied to one other part more than to all of them.
  void try_move(const Climate& climate) {
    const std::uint64_t draw = random_.next();
    const Vertex vertex = border_[(draw >> 32U) * border_.size() >> 32U];
    const Vertex from = part_of_[at(vertex)];
    const Ties ties = ties_[at(vertex)];
    const std::int32_t size = graph_.size[at(vertex)];
    const auto most = [&](std::int32_t surplus) {  // that the cut may grow
      return climate.temperature * thresholds_[draw] -
             2 * climate.tightness * size * (surplus - surplus_[at(from)] + size);
    };
    if (ties.own - ties.others > most(least_surplus_)) return;
    const auto arcs = graph_.arcs_of(vertex);
    const Vertex to = part_of_[at(arcs[((draw >> 12U) & 0xfffffU) * arcs.size() >> 20U].to)];
    if (from == to || ties.own - ties.others > most(surplus_[at(to)])) return;
    double joined = 0;
    for (const GuideArc& arc : arcs) joined += part_of_[at(arc.to)] == to ? arc.weight : 0.0F;
    if (ties.own - joined <= most(surplus_[at(to)])) move(vertex, from, to, joined);
  }

  void move(Vertex vertex, Vertex from, Vertex to, double joined) {
    part_of_[at(vertex)] = to;
    ties_[at(vertex)] = {joined, ties_[at(vertex)].own + ties_[at(vertex)].others - joined};
    surplus_[at(from)] -= graph_.size[at(vertex)];
    surplus_[at(to)] += graph_.size[at(vertex)];
    least_surplus_ = std::min(least_surplus_, surplus_[at(from)]);
    for (const GuideArc& arc : graph_.arcs_of(vertex)) {
      const Vertex part = part_of_[at(arc.to)];
      if (part == from) {
        ++outside_[at(vertex)];
        shift(arc.to, -arc.weight);
        if (outside_[at(arc.to)]++ == 0) join_border(arc.to);
      } else if (part == to) {
        --outside_[at(vertex)];
        shift(arc.to, arc.weight);
        if (--outside_[at(arc.to)] == 0) leave_border(arc.to);
      }
    }
    if (outside_[at(vertex)] == 0) leave_border(vertex);
  }

  // What a vertex is tied to in its own part and in others.
  struct Ties {
    double own = 0;
    double others = 0;
  };
  void shift(Vertex vertex, double to_own) {
    ties_[at(vertex)].own += to_own;
    ties_[at(vertex)].others -= to_own;
  }

  const Guide& graph_;
  std::vector<Vertex>& part_of_;
  std::vector<std::int32_t>& surplus_;
  std::int32_t least_surplus_ = 0;  // or less
  Random random_;
  const Thresholds& thresholds_ = thresholds();
  std::vector<std::int32_t> outside_;  // by vertex: arcs to other parts
  std::vector<std::int32_t> place_;    // on the border, -1: not there
  std::vector<Ties> ties_;
  std::vector<Vertex> border_;
};

struct Heat {
  double first, last;  // temperatures
};

Heat heat_of(double trials) { return {std::clamp(kHeat * std::sqrt(trials), kLeastHot, kMostHot), kCold}; }

// A division of a graph, whose vertices may be of any size.
struct Division {
  std::vector<Vertex> part_of;
  std::vector<std::int32_t> surplus;  // by how much each part is too large
};

// One graph at falling temperatures.
class Annealing {
 public:
  Annealing(const Guide& graph, AnnealingEffort effort, Workers& workers, const Division& before)
      : graph_(graph),
        effort_(effort),
        workers_(workers),
        part_of_(before.part_of),
        surplus_(before.surplus),
        local_(part_of_.size()) {
    survey();
  }

  // How often each vertex on a border is tried; too few: it is not worth beginning.
  [[nodiscard]] double trials() const {
    if (typical_ <= 0) return 0;
    const double degree = static_cast<double>(graph_.arcs.size()) / static_cast<double>(graph_.size.size());
    const double most = static_cast<double>(effort_.steps) / (2 * degree) / static_cast<double>(border_);
    return std::min<double>(effort_.trials, most);
  }

  // False, and nothing is changed, when it falls to pieces or is told to stop.
  bool run(Heat heat, Division& division) {
    const std::vector<Climate> climates = schedule(heat);
    const std::size_t at_once = has_regions() ? kPhasesOfRegion : climates.size();
    for (std::size_t first = 0; first < climates.size(); first += at_once) {
      const auto some = std::span(climates).subspan(first, std::min(at_once, climates.size() - first));
      if (!cool(some, seed_of(effort_.seed, first))) return false;
    }
    division = {std::move(part_of_), std::move(surplus_)};
    return true;
  }

 private:
  // The border, and the mean of what moves across it make worse.
  void survey() {
    double sum = 0;
    for (Vertex vertex = 0; vertex < graph_.vertices(); ++vertex) {
      const auto arcs = graph_.arcs_of(vertex);
      const Vertex from = part_of_[at(vertex)];
      const auto outside =
          std::find_if(arcs.begin(), arcs.end(), [&](const GuideArc& arc) { return part_of_[at(arc.to)] != from; });
      if (outside == arcs.end()) continue;
      sum += std::abs(worsening(arcs, part_of_, from, part_of_[at(outside->to)]));
      ++border_;
    }
    typical_ = border_ > 0 ? sum / static_cast<double>(border_) : 0;
  }

  [[nodiscard]] std::vector<Climate> schedule(Heat heat) const {
    const auto vertices = static_cast<double>(part_of_.size());
    const double size = std::accumulate(graph_.size.begin(), graph_.size.end(), 0.0) / vertices;
    const double rigid = typical_ * std::sqrt(static_cast<double>(surplus_.size()) / vertices) / (size * size);
    const int phases = std::clamp(static_cast<int>(trials() / kTrialsOfPhase), 8, 32);
    std::vector<Climate> climates;
    for (int phase = 0; phase < phases; ++phase) {
      const double share = static_cast<double>(phase) / (phases - 1);
      climates.push_back({typical_ * heat.first * std::pow(heat.last / heat.first, share),
                          rigid * kLoose * std::pow(kTight / kLoose, share), trials() / phases});
    }
    return climates;
  }

  [[nodiscard]] bool has_regions() const {
    return graph_.vertices() >= kManyVertices && surplus_.size() >= 2 * kPartsOfRegion;
  }

  bool cool(std::span<const Climate> climates, std::uint64_t seed) {
    if (!has_regions()) return refine(graph_, part_of_, climates, seed);
    const std::vector<Vertex> region_of_part = regions(seed);
    const Vertex count = 1 + *std::max_element(region_of_part.begin(), region_of_part.end());
    std::vector<std::vector<Vertex>> members(at(count));
    for (std::size_t i = 0; i < part_of_.size(); ++i) {
      std::vector<Vertex>& region = members[at(region_of_part[at(part_of_[i])])];
      local_[i] = static_cast<Vertex>(region.size());
      region.push_back(static_cast<Vertex>(i));
    }
    const std::vector<Vertex> before = part_of_;
    std::vector<std::uint8_t> done(members.size(), 0);
    workers_.for_each(static_cast<int>(count), static_cast<std::int64_t>(10 * graph_.arcs.size()), [&](int i) {
      const std::vector<Vertex>& own = members[at(i)];
      const Guide graph = graph_within(own, static_cast<Vertex>(i), before, region_of_part);
      std::vector<Vertex> part_of;
      part_of.reserve(own.size());
      for (const Vertex vertex : own) part_of.push_back(before[at(vertex)]);
      const std::uint64_t own_seed = seed_of(seed, static_cast<std::uint64_t>(i));
      done[at(i)] = refine(graph, part_of, climates, own_seed) ? 1 : 0;
      for (std::size_t j = 0; j < own.size(); ++j) part_of_[at(own[j])] = part_of[j];
    });
    return std::all_of(done.begin(), done.end(), [](std::uint8_t each) { return each != 0; });
  }

  // The vertices of a region, none where its parts are empty, and the arcs between them.
  [[nodiscard]] Guide graph_within(const std::vector<Vertex>& own, Vertex region, const std::vector<Vertex>& part_of,
                                   const std::vector<Vertex>& region_of_part) const {
    Guide graph;
    for (const Vertex vertex : own) {
      graph.size.push_back(graph_.size[at(vertex)]);
      for (const GuideArc& arc : graph_.arcs_of(vertex)) {
        if (region_of_part[at(part_of[at(arc.to)])] == region) graph.arcs.push_back({local_[at(arc.to)], arc.weight});
      }
      graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
    }
    return graph;
  }

  // False when it was told to stop, or the first climate melts everything.
  bool refine(const Guide& graph, std::vector<Vertex>& part_of, std::span<const Climate> climates, std::uint64_t seed) {
    constexpr std::int64_t kAtOnce = 4096;
    const double before = cut_of(graph, part_of);
    Region region(graph, part_of, surplus_, seed);
    const auto degree = static_cast<std::int64_t>(graph.arcs.size() / std::max<std::size_t>(1, graph.size.size()));
    for (const Climate& climate : climates) {
      auto trials = static_cast<std::int64_t>(static_cast<double>(region.border()) * climate.trials);
      for (; trials > 0; trials -= kAtOnce) {
        region.run(climate, std::min(trials, kAtOnce));
        if (!workers_.go_on(std::min(trials, kAtOnce) * (degree + 1))) return false;
      }
      if (&climate == climates.data() && cut_of(graph, part_of) > kMolten * before) return false;
    }
    return true;
  }

  // By part: neighbouring ones, as many in each region but for what is left over between regions.
  [[nodiscard]] std::vector<Vertex> regions(std::uint64_t seed) const {
    const Guide parts = contract(graph_, part_of_, static_cast<Vertex>(surplus_.size()), workers_);
    std::vector<Vertex> region_of(surplus_.size(), -1);
    std::vector<Vertex> order(surplus_.size());
    std::iota(order.begin(), order.end(), 0);
    Random random(seed);
    shuffle(order, random);
    Vertex count = 0;
    std::vector<Vertex> members;
    for (const Vertex first : order) {
      if (region_of[at(first)] >= 0) continue;
      members = {first};
      region_of[at(first)] = count;
      for (std::size_t next = 0; next < members.size(); ++next) {
        for (const GuideArc& arc : parts.arcs_of(members[next])) {
          if (region_of[at(arc.to)] >= 0 || members.size() == kPartsOfRegion) continue;
          region_of[at(arc.to)] = count;
          members.push_back(arc.to);
        }
      }
      ++count;
    }
    return region_of;
  }

  const Guide& graph_;
  AnnealingEffort effort_;
  Workers& workers_;
  std::vector<Vertex> part_of_;
  std::vector<std::int32_t> surplus_;
  std::vector<Vertex> local_;  // numbers within regions
  std::int64_t border_ = 0;    // vertices on it
  double typical_ = 0;         // what a move across it makes worse
};

// Coarser graphs, pairs of vertices within a part made one again and again, are annealed from the coarsest down: what
// is long and wide of a border moves in few steps there. True when there was something to do.
class Coarsened {
 public:
  static constexpr std::size_t kMostSides = 256;

  Coarsened(AnnealingEffort effort, Workers& workers) : effort_(effort), workers_(workers), coarsening_(workers) {}

  bool run(const Guide& graph, int level, Division& division) {
    if (level == effort_.coarser) return false;
    const auto number = static_cast<std::uint64_t>(level);
    const Sides sides(division.part_of.begin(), division.part_of.end());
    Random random(seed_of(effort_.seed, 1000 + number));
    Coarse coarse;
    coarsening_.run(graph, {}, static_cast<std::int64_t>(std::uint64_t{2} << number), &sides, random, coarse);
    Division merged{std::vector<Vertex>(coarse.graph.size.size()), std::move(division.surplus)};
    for (std::size_t i = 0; i < sides.size(); ++i) merged.part_of[at(coarse.part_of[i])] = sides[i];
    bool any = run(coarse.graph, level + 1, merged);
    if (!any && level + 1 < effort_.coarser) {  // what falls to pieces there does so here
      division.surplus = std::move(merged.surplus);
      return false;
    }
    AnnealingEffort effort = effort_;
    effort.seed = seed_of(effort_.seed, 2000 + number);
    effort.steps /= 2;
    Annealing annealing(coarse.graph, effort, workers_, merged);
    const Heat heat{level + 1 == effort_.coarser ? kCoarsestHot : kCoarserHot, kCoarserCold};
    if (annealing.trials() >= kFewestTrials) any = annealing.run(heat, merged) || any;
    for (std::size_t i = 0; i < sides.size(); ++i) division.part_of[i] = merged.part_of[at(coarse.part_of[i])];
    division.surplus = std::move(merged.surplus);
    return any;
  }

 private:
  AnnealingEffort effort_;
  Workers& workers_;
  Coarsening coarsening_;
};

}  // namespace

bool anneal(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers, std::vector<Vertex>& part_of) {
  const double before = cut_of(graph, part_of);
  if (before == 0 || effort.trials <= 0 || at(parts) > kMostParts) return false;
  Division division{part_of, std::vector<std::int32_t>(at(parts), 0)};
  bool any = false;
  if (effort.coarser > 0 && at(parts) <= Coarsened::kMostSides) {
    any = Coarsened(effort, workers).run(graph, 0, division);
    if (!any) return false;
  }
  Annealing annealing(graph, effort, workers, division);
  if (annealing.trials() >= kFewestTrials) any = annealing.run(heat_of(annealing.trials()), division) || any;
  if (!any || !workers.ask() || !balance(graph, workers, division.surplus, division.part_of)) return false;
  if (cut_of(graph, division.part_of) >= before * (1 - 1e-6)) return false;
  part_of = std::move(division.part_of);
  return true;
}

}  // namespace ranktree::core::place::engine
