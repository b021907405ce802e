#include "core/place/engine/annealing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/engine/graph.h"
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
constexpr double kCold = 0.07;   // ... and the last
constexpr double kLoose = 0.4;   // the first tightness, times the root of what a part holds ...
constexpr double kTight = 0.7;   // ... and the last
constexpr double kMolten = 1.5;  // times the cut: the first temperature was too hot

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
  // `surplus`: by how many vertices each part is too large.
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
    const auto most = [&](std::int32_t surplus) {  // that the cut may grow
      return climate.temperature * thresholds_[draw] - 2 * climate.tightness * (surplus - surplus_[at(from)] + 1);
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
    --surplus_[at(from)];
    ++surplus_[at(to)];
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

// Gives every part its size again, by single moves along the cheapest chains of parts from one that is too large to one
// that is too small.
class Balancing {
 public:
  Balancing(const Guide& graph, Workers& workers, std::vector<std::int32_t>& surplus, std::vector<Vertex>& part_of)
      : graph_(graph),
        workers_(workers),
        surplus_(surplus),
        part_of_(part_of),
        parts_(surplus.size()),
        members_(parts_),
        stale_(parts_, 1),
        steps_(parts_ * parts_),
        targets_(parts_) {
    for (std::size_t i = 0; i < part_of.size(); ++i) members_[at(part_of[i])].push_back(static_cast<Vertex>(i));
  }

  // False when no chain is left though some are needed.
  bool run() {
    while (std::any_of(surplus_.begin(), surplus_.end(), [](std::int32_t surplus) { return surplus > 0; })) {
      collect_steps();
      find_chains();
      if (!follow_chains()) return false;
    }
    return true;
  }

 private:
  struct Step {
    double loss = std::numeric_limits<double>::infinity();
    Vertex vertex = -1;
  };
  Step& step(std::size_t from, std::size_t to) { return steps_[from * parts_ + to]; }

  // The cheapest move from each part to each other one, of parts where something changed.
  void collect_steps() {
    std::vector<std::size_t> stale;
    for (std::size_t part = 0; part < parts_; ++part) {
      if (std::exchange(stale_[part], std::uint8_t{0}) != 0) stale.push_back(part);
    }
    workers_.for_each(static_cast<int>(stale.size()),
                      static_cast<std::int64_t>(graph_.arcs.size() * stale.size() / parts_),
                      [&](int i) { collect_steps_from(stale[at(i)]); });
  }

  // The vertex of the lowest number where several are as cheap.
  void collect_steps_from(std::size_t from) {
    for (const std::size_t to : targets_[from]) step(from, to) = {};
    targets_[from].clear();
    std::vector<double> tie(parts_, 0);
    for (const Vertex vertex : members_[from]) {
      for (const GuideArc& arc : graph_.arcs_of(vertex)) tie[at(part_of_[at(arc.to)])] += arc.weight;
      for (const GuideArc& arc : graph_.arcs_of(vertex)) {
        const auto to = at(part_of_[at(arc.to)]);
        if (to == from) continue;
        Step& best = step(from, to);
        if (best.vertex < 0) targets_[from].push_back(to);
        const double loss = tie[from] - tie[to];
        if (loss < best.loss || (loss == best.loss && vertex < best.vertex)) best = {loss, vertex};
      }
      for (const GuideArc& arc : graph_.arcs_of(vertex)) tie[at(part_of_[at(arc.to)])] = 0;
    }
    std::sort(targets_[from].begin(), targets_[from].end());
  }

  void move(Vertex vertex, std::size_t from, std::size_t to) {
    part_of_[at(vertex)] = static_cast<Vertex>(to);
    std::erase(members_[from], vertex);
    members_[to].push_back(vertex);
    --surplus_[from];
    ++surplus_[to];
    stale_[from] = stale_[to] = 1;
    for (const GuideArc& arc : graph_.arcs_of(vertex)) stale_[at(part_of_[at(arc.to)])] = 1;
  }

  [[nodiscard]] bool leads_to(std::size_t part, std::size_t earlier) const {
    for (std::int64_t i = static_cast<std::int64_t>(part); i >= 0; i = before_[at(i)]) {
      if (at(i) == earlier) return true;
    }
    return false;
  }

  // Bellman and Ford, without closing circles, which losses below 0 would invite to.
  void find_chains() {
    loss_.assign(parts_, std::numeric_limits<double>::infinity());
    before_.assign(parts_, -1);
    for (std::size_t part = 0; part < parts_; ++part) {
      if (surplus_[part] > 0) loss_[part] = 0;
    }
    bool changed = true;
    for (std::size_t round = 0; round < parts_ && changed; ++round) {
      changed = false;
      for (std::size_t from = 0; from < parts_; ++from) {
        if (loss_[from] == std::numeric_limits<double>::infinity()) continue;
        for (const std::size_t to : targets_[from]) {
          if (surplus_[to] > 0 || !(loss_[from] + step(from, to).loss < loss_[to]) || leads_to(from, to)) continue;
          loss_[to] = loss_[from] + step(from, to).loss;
          before_[to] = static_cast<std::int64_t>(from);
          changed = true;
        }
      }
    }
  }

  // The cheapest first; those that touch what another one touched have to wait.
  bool follow_chains() {
    std::vector<std::size_t> ends;
    for (std::size_t part = 0; part < parts_; ++part) {
      if (surplus_[part] < 0 && before_[part] >= 0) ends.push_back(part);
    }
    std::stable_sort(ends.begin(), ends.end(), [&](std::size_t a, std::size_t b) { return loss_[a] < loss_[b]; });
    std::vector<std::uint8_t> touched(parts_, 0);
    for (const std::size_t end : ends) {
      bool free = true;
      for (auto part = static_cast<std::int64_t>(end); part >= 0; part = before_[at(part)])
        free = free && touched[at(part)] == 0;
      if (!free) continue;
      for (auto part = static_cast<std::int64_t>(end); part >= 0; part = before_[at(part)]) {
        touched[at(part)] = 1;
        const std::int64_t from = before_[at(part)];
        if (from < 0) continue;
        move(step(at(from), at(part)).vertex, at(from), at(part));
      }
    }
    return !ends.empty();
  }

  const Guide& graph_;
  Workers& workers_;
  std::vector<std::int32_t>& surplus_;
  std::vector<Vertex>& part_of_;
  std::size_t parts_;
  std::vector<std::vector<Vertex>> members_;       // of each part
  std::vector<std::uint8_t> stale_;                // parts whose steps may have changed
  std::vector<Step> steps_;                        // from x to
  std::vector<std::vector<std::size_t>> targets_;  // of the steps there are, ascending
  std::vector<double> loss_;
  std::vector<std::int64_t> before_;
};

class Annealing {
 public:
  Annealing(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers,
            const std::vector<Vertex>& part_of)
      : graph_(graph),
        effort_(effort),
        workers_(workers),
        part_of_(part_of),
        surplus_(at(parts), 0),
        local_(part_of.size()) {}

  // False when there was nothing to do, or it was told to stop.
  bool run() {
    survey();
    if (typical_ <= 0 || trials() < kFewestTrials || surplus_.size() > kMostParts) return false;
    const std::vector<Climate> climates = schedule();
    const std::size_t at_once = has_regions() ? kPhasesOfRegion : climates.size();
    for (std::size_t first = 0; first < climates.size(); first += at_once) {
      const auto some = std::span(climates).subspan(first, std::min(at_once, climates.size() - first));
      if (!cool(some, seed_of(effort_.seed, first))) return false;
    }
    return Balancing(graph_, workers_, surplus_, part_of_).run();
  }

  [[nodiscard]] std::vector<Vertex>& result() { return part_of_; }

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

  // For each vertex on a border.
  [[nodiscard]] double trials() const {
    const double degree = static_cast<double>(graph_.arcs.size()) / static_cast<double>(graph_.size.size());
    const double most = static_cast<double>(effort_.steps) / (2 * degree) / static_cast<double>(border_);
    return std::min<double>(effort_.trials, most);
  }

  [[nodiscard]] std::vector<Climate> schedule() const {
    const double parts_per_vertex = static_cast<double>(surplus_.size()) / static_cast<double>(part_of_.size());
    const double rigid = typical_ * std::sqrt(parts_per_vertex);
    const int phases = std::clamp(static_cast<int>(trials() / kTrialsOfPhase), 8, 32);
    const double hot = std::clamp(kHeat * std::sqrt(trials()), kLeastHot, kMostHot);
    std::vector<Climate> climates;
    for (int phase = 0; phase < phases; ++phase) {
      const double share = static_cast<double>(phase) / (phases - 1);
      climates.push_back({typical_ * hot * std::pow(kCold / hot, share),
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
    graph.size.assign(own.size(), 1);
    for (const Vertex vertex : own) {
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

}  // namespace

void anneal(const Guide& graph, Vertex parts, AnnealingEffort effort, Workers& workers, std::vector<Vertex>& part_of) {
  const double before = cut_of(graph, part_of);
  if (before == 0 || effort.trials <= 0) return;
  Annealing annealing(graph, parts, effort, workers, part_of);
  if (!annealing.run() || cut_of(graph, annealing.result()) >= before * (1 - 1e-6)) return;
  part_of = std::move(annealing.result());
}

}  // namespace ranktree::core::place::engine
