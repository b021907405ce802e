#include "core/predict/costs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/closed_forms.h"
#include "core/predict/evaluate.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Hierarchy;
using schedule::Rank;

// The number of groups on a level: the children on the level above.
std::int32_t groups_on(const Hierarchy& hierarchy, int level) {
  std::int32_t groups = 1;
  for (int above = 0; above < level; ++above) groups = hierarchy.first_child(above, groups);
  return groups;
}

Rank most_children(const Hierarchy& hierarchy, int level) {
  Rank most = 0;
  const std::int32_t groups = groups_on(hierarchy, level);
  for (std::int32_t group = 0; group < groups; ++group) most = std::max(most, hierarchy.children(level, group));
  return most;
}

// True for algorithms in which many ranks of a node send at once when ranks ignore nodes.
bool crowds_the_wire(Collective collective, Algorithm algorithm, bool in_rank_order) {
  switch (algorithm) {
    case Algorithm::kFlat:
      return !has_root(collective) && collective != Collective::kBarrier;
    case Algorithm::kRing:
    case Algorithm::kSegmentedRing:
    case Algorithm::kChain:
    case Algorithm::kPipeline:
    case Algorithm::kScatterRing:
    case Algorithm::kBinomial:
    case Algorithm::kKNomial:
    case Algorithm::kLinear:
    case Algorithm::kInOrderBinary:
    case Algorithm::kNonOverlapping:
      return !in_rank_order;
    default:
      return true;
  }
}

Line slower_of(const Line& a, const Line& b) {
  return {std::max(a.latency, b.latency), std::max(a.per_byte, b.per_byte)};
}

// The most expensive link of levels begin..end-1 when `senders` ranks of each node send at once.
Line slowest_link(const Machine& machine, int begin, int end, Rank senders) {
  Line link;
  for (int level = begin; level < end; ++level) link = slower_of(link, machine.link(level, senders));
  return link;
}

// Trees by their edges that leave a node: of a root that exchanges messages with all other ranks; of chains and
// binomial trees over ranks in the order of nodes, which are few.
std::optional<ClosedForm> tree_over_nodes(const Question& question, Algorithm algorithm, const Machine& machine) {
  const bool barrier = question.collective == Collective::kBarrier;  // up the tree and down again
  const bool flat = algorithm == Algorithm::kFlat && (barrier || has_root(question.collective));
  const bool chain = algorithm == Algorithm::kChain || algorithm == Algorithm::kPipeline;
  const bool is_reduce = question.collective == Collective::kReduce;
  const bool in_order = machine.hierarchy().in_rank_order() && (chain || algorithm == Algorithm::kBinomial) &&
                        (is_reduce || question.collective == Collective::kBroadcast);
  if (machine.nodes() == 1 || machine.nodes() == machine.ranks() || (!flat && !in_order)) return {};
  const Line combine{0, is_reduce ? machine.parameters().reduce_per_byte : 0};
  const Line across = slowest_link(machine, 0, machine.across(), 1) + combine;
  const Line inside = slowest_link(machine, machine.across(), machine.hierarchy().levels(), 1) + combine;
  const bool by_bits = algorithm == Algorithm::kBinomial;
  const double far = flat    ? machine.ranks() - machine.ranks_of_root()
                     : chain ? machine.nodes() - 1
                             : log2_above(machine.nodes());
  const double all = by_bits ? log2_above(machine.ranks()) : machine.ranks() - 1;
  const Line path = (barrier ? 2 : 1) * (far * across + (all - far) * inside);
  return ClosedForm{.path = path, .step = chain ? slower_of(across, inside) : path};
}

bool exchanges_by_bits(Collective collective, Algorithm algorithm) {
  if (collective == Collective::kAllgather) return algorithm == Algorithm::kRecursiveDoubling;
  return collective == Collective::kAllreduce &&
         (algorithm == Algorithm::kRecursiveDoubling || algorithm == Algorithm::kRabenseifner);
}

// Exchanges with the ranks 1, 2, 4, ... away, the nearest first, over ranks in the order of a machine whose groups are
// powers of two: each step stays on one level.
std::optional<ClosedForm> exchanges_in_order(const Question& question, Algorithm algorithm, const Machine& machine) {
  if (!exchanges_by_bits(question.collective, algorithm) || !machine.hierarchy().in_rank_order()) return {};
  const double reduce = machine.parameters().reduce_per_byte;
  Line sum;
  Rank below = 1;  // ranks under one child of a level
  for (int level = machine.hierarchy().levels() - 1; level >= 0; --level) {
    const Rank children = machine.children(level);
    if (!std::has_single_bit(static_cast<std::uint32_t>(children))) return {};
    const Line link = machine.link(level, machine.ranks_of_node());
    const double steps = log2_above(children);
    if (algorithm == Algorithm::kRabenseifner) {
      const double slices = (1 - 1.0 / children) / below;
      sum = sum + Line{2 * steps * link.latency, slices * (2 * link.per_byte + reduce)};
    } else if (question.collective == Collective::kAllreduce) {
      sum = sum + steps * (link + Line{0, reduce});
    } else {
      sum = sum + Line{steps * link.latency, static_cast<double>(children - 1) * below * link.per_byte};
    }
    below *= children;
  }
  if (below != machine.ranks()) return {};
  return ClosedForm{.once = sum, .share = 0};
}

// All ranks on one level, whatever the machine has between them: the most expensive link counts.
std::optional<ClosedForm> flat_form(const Question& question, Algorithm algorithm, const Machine& machine) {
  if (const auto tree = tree_over_nodes(question, algorithm, machine)) return tree;
  if (const auto exchanges = exchanges_in_order(question, algorithm, machine)) return exchanges;
  const bool crowded = crowds_the_wire(question.collective, algorithm, machine.hierarchy().in_rank_order());
  const Line link = slowest_link(machine, 0, machine.hierarchy().levels(), crowded ? machine.ranks_of_node() : 1);
  return base_form(question.collective, algorithm, {machine.ranks(), link}, machine.parameters().reduce_per_byte);
}

// G runs of ranks: the larger ones count. Between them the most expensive link, which the leaders of a node share, or
// all its ranks; the same inside runs that are on several nodes.
std::optional<ClosedForm> grouped_form(const Question& question, const Choice& choice, const Machine& machine) {
  const Rank ranks = machine.ranks();
  const Rank groups = std::min(choice.groups, ranks);
  const auto& algorithms = choice.composition.algorithms;
  if (algorithms.size() > 2) return std::nullopt;
  if (groups == 1 || groups == ranks) {
    return flat_form(question, groups == 1 ? algorithms.back() : algorithms.front(), machine);
  }
  const int levels = machine.hierarchy().levels();
  const bool in_order = machine.hierarchy().in_rank_order();
  const bool all_ranks = choice.composition.form != schedule::Form::kLeaders;
  const Rank run = (ranks + groups - 1) / groups;
  const auto senders = [&](Algorithm algorithm, Rank runs) {
    return all_ranks || crowds_the_wire(question.collective, algorithm, in_order) ? runs : 1;
  };
  const bool even = ranks % groups == 0 && machine.nodes() * machine.ranks_of_node() == ranks;
  const bool inside_nodes = in_order && even && machine.ranks_of_node() % run == 0;
  Rank leaders = machine.ranks_of_node();  // that share a node's wire
  if (!all_ranks) leaders = inside_nodes ? leaders / run : std::min(leaders, groups);
  const int first = inside_nodes ? std::min(machine.across(), levels - 1) : 0;
  const std::array stretches{
      Stretch{groups, slowest_link(machine, 0, levels, senders(algorithms.front(), leaders))},
      Stretch{run, slowest_link(machine, first, levels, senders(algorithms.back(), machine.ranks_of_node()))}};
  const std::array each{algorithms.front(), algorithms.back()};
  return composed_form(question.collective, choice.composition.form, each, stretches,
                       machine.parameters().reduce_per_byte);
}

std::optional<ClosedForm> levels_form(const Question& question, const Choice& choice, const Machine& machine) {
  const Hierarchy& hierarchy = machine.hierarchy();
  if (!choice.composition.fits(hierarchy)) return std::nullopt;
  const bool all_ranks = choice.composition.form != schedule::Form::kLeaders;
  std::vector<Stretch> levels;
  std::vector<Algorithm> algorithms;
  for (int level = 0; level < hierarchy.levels(); ++level) {
    levels.push_back({machine.children(level), machine.link(level, all_ranks ? machine.ranks_of_node() : 1)});
    algorithms.push_back(choice.composition.algorithm_of(hierarchy, level));
  }
  return composed_form(question.collective, choice.composition.form, algorithms, levels,
                       machine.parameters().reduce_per_byte);
}

// The bytes that the busiest rank of a node writes and reads in shared memory for each byte of the message, and how
// often the ranks of a node wait for each other.
struct Shared {
  double waits;
  double moved;
  double combined;
};

Shared shared_work(Collective collective, double ranks, double local) {
  switch (collective) {
    case Collective::kBroadcast:
      return {1, 2, 0};  // written once, read by the others at the same time
    case Collective::kReduce:
      return {1, 2, 1};  // operands are read where they are, a slice by each rank
    case Collective::kAllreduce:
      return {2, 3, 1};
    case Collective::kBarrier:
      return {2, 0, 0};
    case Collective::kGather:
    case Collective::kScatter:
      return {1, 1 + local, 0};
    case Collective::kAllgather:
      return {2, 1 + ranks, 0};
    case Collective::kReduceScatter:
      return {2, 2 * ranks, ranks};
    default:
      return {2, 2 * ranks, 0};
  }
}

std::optional<ClosedForm> shared_form(const Question& question, Algorithm algorithm, const Machine& machine) {
  const Parameters& parameters = machine.parameters();
  const double local = machine.ranks_of_node();
  const Shared work = shared_work(question.collective, machine.ranks(), local);
  const Line inside{work.waits * local * parameters.shared_latency,
                    work.moved * parameters.shared_per_byte + work.combined * parameters.reduce_per_byte};
  if (machine.nodes() == 1) return ClosedForm{.path = inside, .step = inside};
  const Stretch leaders{machine.nodes(), machine.link(0, 1)};
  const auto across = base_form(question.collective, algorithm, leaders, parameters.reduce_per_byte);
  if (!across) return std::nullopt;
  const bool blocks = question.collective == Collective::kGather || question.collective == Collective::kScatter ||
                      question.collective == Collective::kAllgather ||
                      question.collective == Collective::kReduceScatter;
  const double scale = blocks ? local : 1;
  const Line whole = across->whole();
  const Line step = across->share == 1 ? across->step : whole;
  // The network moves one segment while memory moves another: the slower of the two determines the cost of each further
  // segment.
  return ClosedForm{.path = inside + Line{whole.latency, scale * whole.per_byte},
                    .step = slower_of(inside, {step.latency, scale * step.per_byte})};
}

}  // namespace

Machine::Machine(const Hierarchy& hierarchy, const Parameters& parameters)
    : hierarchy_(&hierarchy), parameters_(&parameters) {
  if (parameters.levels.empty()) throw Error(Fault::kInput, "predict: parameters: expected at least one level");
  const int given_across = levels_across_nodes(parameters);
  for (int level = 0; level < hierarchy.levels(); ++level) {
    children_.push_back(most_children(hierarchy, level));
    if (hierarchy.given_level(level) < given_across) across_ = level + 1;
  }
  nodes_ = groups_on(hierarchy, across_);
  const std::int32_t root = hierarchy.position_of(0);
  for (std::int32_t node = 0; node < nodes_; ++node) {
    const Rank size = first_of_node(node + 1) - first_of_node(node);
    ranks_of_node_ = std::max(ranks_of_node_, size);
    if (first_of_node(node) <= root && root < first_of_node(node + 1)) ranks_of_root_ = size;
  }
}

std::int32_t Machine::first_of_node(std::int32_t node) const {
  if (across_ == 0) return node == 0 ? 0 : ranks();
  return hierarchy_->first_position(across_ - 1, node);
}

const LevelParameters& Machine::level(int level) const {
  const auto& levels = parameters_->levels;
  return levels[std::min(at(hierarchy_->given_level(level)), levels.size() - 1)];
}

Line Machine::link(int level, Rank senders) const {
  const LevelParameters& found = this->level(level);
  const bool shared = parameters_->node_port && level < across_ && senders > 1;
  const double others = shared ? senders - 1 : 0;
  return {found.latency + others * found.gap, (1 + others) * found.per_byte};
}

std::vector<std::int32_t> Machine::node_of() const {
  std::vector<std::int32_t> nodes(at(ranks()));
  for (std::int32_t node = 0; node < nodes_; ++node) {
    for (std::int32_t position = first_of_node(node); position < first_of_node(node + 1); ++position) {
      nodes[at(hierarchy_->rank_at(position))] = node;
    }
  }
  return nodes;
}

int Machine::common_level(Rank a, Rank b) const {
  std::int32_t first = hierarchy_->position_of(a);
  std::int32_t second = hierarchy_->position_of(b);
  int level = hierarchy_->levels() - 1;
  for (; level > 0; --level) {
    first = hierarchy_->group_of(level, first);
    second = hierarchy_->group_of(level, second);
    if (first == second) break;
  }
  return level;
}

std::optional<ClosedForm> form_of(const Question& question, const Choice& choice, const Machine& machine) {
  const auto& algorithms = choice.composition.algorithms;
  if (algorithms.empty()) return std::nullopt;
  if (choice.variant == Variant::kShared) return shared_form(question, algorithms[0], machine);
  if (choice.variant != Variant::kMessages) return std::nullopt;
  if (choice.groups == 1) return flat_form(question, algorithms[0], machine);
  return choice.groups > 1 ? grouped_form(question, choice, machine) : levels_form(question, choice, machine);
}

Hockney hockney_of(const Machine& machine) {
  Hockney model{.link =
                    [&machine](Rank from, Rank to) {
                      const LevelParameters& level = machine.level(machine.common_level(from, to));
                      return Link{level.latency, level.per_byte, level.gap};
                    },
                .reduce = machine.parameters().reduce_per_byte,
                .copy = 0};
  if (machine.parameters().node_port && machine.nodes() > 1) model.node_of = machine.node_of();
  return model;
}

schedule::Schedule schedule_of(const Question& question, const Choice& choice, const Hierarchy& machine) {
  const schedule::Request request{.collective = question.collective,
                                  .ranks = machine.ranks(),
                                  .count = question.collective == Collective::kBarrier ? 0 : question.bytes,
                                  .commutative = question.commutative};
  if (choice.variant != Variant::kMessages || choice.composition.algorithms.empty()) {
    throw Error(Fault::kUnsupported, "predict: only schedules of messages can be evaluated");
  }
  if (choice.groups == 1) return make_all(request, {choice.composition.algorithms[0], choice.composition.segment});
  if (choice.groups == 0) return transform_all(request, machine, choice.composition);
  return transform_all(request, Hierarchy::grouped(machine.ranks(), std::min(choice.groups, machine.ranks())),
                       choice.composition);
}

double evaluated(const Question& question, const Choice& choice, const Machine& machine) {
  return evaluate(schedule_of(question, choice, machine.hierarchy()), hockney_of(machine));
}

}  // namespace ranktree::core::predict
