#include "core/predict/candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/predict/choice.h"
#include "core/predict/closed_forms.h"
#include "core/predict/conditions.h"
#include "core/predict/costs.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "core/schedule/trees.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Form;
using schedule::Hierarchy;
using schedule::Rank;

constexpr double kMostSegments = 4096;
constexpr Rank kEvaluatedRanks = 16;  // evaluating more takes longer than a choice may take
constexpr double kEvaluatedSegments = 16;
constexpr double kAlike = 1.01;         // costs within this factor count as equal
constexpr double kMostExpensive = 2.5;  // times the cheapest: above, not worth a trial in the program's calls
// Larger messages between nodes first wait for the receiver (rendezvous): 64 KiB and more with Open MPI's sockets.
constexpr std::int64_t kMostAcross = 32768;
constexpr Rank kFewNodes = 16;                   // a leader's messages to so many nodes take about one latency
constexpr std::int64_t kBytesThatCount = 65536;  // bytes of the whole vector: below, latencies dominate

// Segments, groups and inner trees do not make a variant another kind.
bool same_kind(const Choice& a, const Choice& b) {
  return a.variant == b.variant && (a.groups == 1) == (b.groups == 1) &&
         (a.groups == 1 || a.composition.form == b.composition.form) &&
         a.composition.algorithms.front() == b.composition.algorithms.front();
}

// Whether `other`, by exchanges of single ranks, sends between nodes what the composition `each` sends: Rabenseifner's
// slices in lanes, whole vectors among equal indices.
bool stands_for(const Choice& other, const Choice& each) {
  if (other.variant != Variant::kMessages || each.variant != Variant::kMessages) return false;
  if (other.groups != 1 || each.groups == 1) return false;
  const Algorithm algorithm = each.composition.algorithms.front();
  if (other.composition.algorithms.front() != algorithm) return false;
  return (algorithm == Algorithm::kRabenseifner && each.composition.form == Form::kLanes) ||
         (algorithm == Algorithm::kRecursiveDoubling && each.composition.form == Form::kSameIndex);
}

// True when the algorithm moves no more data than necessary among ranks that each have a vector or must get it.
bool moves_least(Collective collective, Algorithm algorithm, Rank ranks) {
  switch (algorithm) {
    case Algorithm::kFlat:
    case Algorithm::kChain:
    case Algorithm::kPipeline:
    case Algorithm::kBinary:
    case Algorithm::kBinomial:
    case Algorithm::kKNomial:
    case Algorithm::kLinear:
    case Algorithm::kNonOverlapping:
      return collective != Collective::kReduceScatter;  // one tree up and one down
    case Algorithm::kRing:
    case Algorithm::kSegmentedRing:
    case Algorithm::kPairwise:
      return true;
    case Algorithm::kRabenseifner:
      return collective == Collective::kAllreduce && std::has_single_bit(static_cast<std::uint32_t>(ranks));
    case Algorithm::kRecursiveDoubling:
      return collective == Collective::kAllgather || ranks == 2;
    default:
      return false;
  }
}

// False for collectives in which most variants move the same bytes: all ranks send blocks to all, or one rank does.
bool bytes_count(const Question& question, const Machine& machine) {
  switch (question.collective) {
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllreduce:
      return machine.nodes() > 1 && question.bytes >= kBytesThatCount;
    case Collective::kAllgather:
    case Collective::kReduceScatter:
      return machine.nodes() > 1 && static_cast<double>(question.bytes) * machine.ranks() >= kBytesThatCount;
    default:
      return false;
  }
}

bool by_levels(const Choice& choice) {
  const bool levels =
      choice.variant == Variant::kShared || (choice.variant == Variant::kMessages && choice.groups == 0);
  return levels && !choice.composition.algorithms.empty();
}

// True for compositions by the machine's levels whose algorithm between nodes moves no more data than necessary.
bool moves_fewest(const Question& question, const Choice& choice, const Machine& machine) {
  if (!by_levels(choice) || !bytes_count(question, machine)) return false;
  if (choice.variant == Variant::kMessages && choice.composition.form == Form::kSameIndex) return false;
  return moves_least(question.collective, choice.composition.algorithms.front(), machine.nodes());
}

// The tree whose messages between nodes take one latency where a rank sends several at once, because their bytes take
// no longer than it: flat among few nodes, k-nomial among more.
std::optional<Algorithm> tree_at_once(const Question& question, const Machine& machine) {
  const bool tree = question.collective == Collective::kBroadcast || question.collective == Collective::kReduce;
  if (!tree || machine.nodes() < 2) return std::nullopt;
  const bool few = machine.nodes() <= kFewNodes;
  const Rank sends = few ? machine.nodes() - 1 : schedule::kKNomialRadix - 1;
  const LevelParameters& links = machine.parameters().levels.front();
  if (static_cast<double>(question.bytes) * sends * links.per_byte > links.latency) return std::nullopt;
  return few ? Algorithm::kFlat : Algorithm::kKNomial;
}

// True for that tree between leaders, or between single ranks.
bool sends_at_once(const Question& question, const Choice& choice, const Machine& machine) {
  const bool alone = choice.groups == 1 && machine.ranks() == machine.nodes();
  return (alone || by_levels(choice)) && tree_at_once(question, machine) == choice.composition.algorithms.front();
}

bool alike(const Candidate& a, const Candidate& b) {
  return a.choice.variant == b.choice.variant && a.choice.composition.algorithms == b.choice.composition.algorithms &&
         a.choice.composition.form == b.choice.composition.form && b.seconds <= kAlike * a.seconds;
}

bool is_shared(const Candidate& each) { return each.choice.variant == Variant::kShared; }

// Makes sure that `chosen` has the cheapest candidate that is wanted: if full, it replaces the most expensive one that
// may go.
template <typename Wanted, typename MayGo>
void keep(std::span<const Candidate> found, std::vector<Candidate>& chosen, std::size_t most, const Wanted& wanted,
          const MayGo& may_go) {
  const auto best = std::find_if(found.begin(), found.end(), wanted);
  if (best == found.end() || chosen.empty() || std::any_of(chosen.begin(), chosen.end(), wanted)) return;
  if (chosen.size() < most) return chosen.push_back(*best);
  const auto place = std::find_if(chosen.rbegin(), chosen.rend(), may_go);
  (place == chosen.rend() ? chosen.back() : *place) = *best;
}

// From candidates in order of cost: the cheapest of each kind before a second one of any kind. Returned in order of
// cost.
std::vector<Candidate> pick(std::span<const Candidate> found, double most_expensive, std::size_t most) {
  std::vector<Candidate> chosen;
  for (const bool again : {false, true}) {
    for (const Candidate& each : found) {
      if (chosen.size() == most || each.seconds > most_expensive) break;
      const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const Candidate& other) {
        if (again) return alike(other, each) || other.choice == each.choice;
        return same_kind(other.choice, each.choice) || stands_for(other.choice, each.choice);
      });
      if (!known) chosen.push_back(each);
    }
  }
  const auto at_once = [](const Candidate& each) { return each.at_once; };
  const auto is_other = [](const Candidate& each) { return !each.at_once && !is_shared(each); };
  // The closed forms overestimate its cost.
  keep(found, chosen, most, at_once, is_other);
  // Shared memory is always worth a trial: its cost depends on how ranks wait, which no parameter describes. So is one
  // of its variants with the fewest bytes between nodes: its segments overlap more than the closed forms assume.
  keep(found, chosen, most, is_shared, is_other);
  keep(found, chosen, most, [](const Candidate& each) { return is_shared(each) && each.fewest_bytes; }, is_shared);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  return chosen;
}

// Whether it does the same as another one at the same cost: a chain is the pipeline without segments.
bool repeats_another(Algorithm algorithm, bool commutative) {
  const bool in_order = algorithm == Algorithm::kInOrderBinary || algorithm == Algorithm::kPairwise;
  return (commutative && in_order) || algorithm == Algorithm::kChain;
}

class Search {
 public:
  Search(const Question& question, const Machine& machine) : question_(question), machine_(machine) {}

  std::vector<Candidate> run(int most) {
    if (machine_.ranks() < 2 || most < 1) return {};
    for (const Algorithm algorithm : worth_trying()) add_flat(algorithm);
    if (machine_.hierarchy().levels() > 1) {
      for (const Form form : forms_of(question_.collective)) add_levels(form);
    } else {
      add_groups();
    }
    if (question_.shared_memory && machine_.ranks_of_node() > 1) add_shared();
    for (Candidate& each : found_) {
      each.fewest_bytes = moves_fewest(question_, each.choice, machine_);
      each.at_once = sends_at_once(question_, each.choice, machine_);
    }
    by_cost();
    evaluate_few(static_cast<std::size_t>(most));
    return pick(found_, std::numeric_limits<double>::infinity(), static_cast<std::size_t>(most));
  }

 private:
  // Leaves out algorithms that do the same as another at the same cost, and k-nomial trees whose messages would pay one
  // latency after the other.
  [[nodiscard]] std::vector<Algorithm> worth_trying() const {
    std::vector<Algorithm> worth;
    for (const Algorithm algorithm : algorithms_of(question_.collective)) {
      const bool pays_latencies = algorithm == Algorithm::kKNomial && tree_at_once(question_, machine_) != algorithm;
      if (!repeats_another(algorithm, question_.commutative) && !pays_latencies) worth.push_back(algorithm);
    }
    return worth;
  }

  [[nodiscard]] bool has_uneven_nodes() const {
    if (machine_.across() == 0) return false;
    const int level = machine_.across() - 1;
    const auto first = [&](std::int32_t node) { return machine_.hierarchy().first_position(level, node); };
    for (std::int32_t node = 1; node < machine_.nodes(); ++node) {
      if (first(node + 1) - first(node) != first(1)) return true;
    }
    return false;
  }

  // Leaves out a reduce_scatter's ring between uneven nodes: each of its steps waits for the largest node's blocks,
  // while pairs of nodes exchange theirs at once.
  [[nodiscard]] std::vector<Algorithm> between_nodes() const {
    std::vector<Algorithm> worth = worth_trying();
    if (question_.collective != Collective::kReduceScatter || !has_uneven_nodes()) return worth;
    std::erase(worth, Algorithm::kRing);
    if (std::find(worth.begin(), worth.end(), Algorithm::kPairwise) == worth.end()) {
      worth.push_back(Algorithm::kPairwise);
    }
    return worth;
  }

  // Adds the choice without segments, and with the best segment where that is cheaper.
  void add(Choice choice, const Hierarchy& hierarchy) {
    if (!question_.commutative && reduces(question_.collective)) {
      if (choice.variant == Variant::kShared ? !machine_.hierarchy().in_rank_order() : false) return;
      if (!keeps_rank_order(question_.collective, hierarchy, choice.composition)) return;
    }
    const auto form = form_of(question_, choice, machine_);
    if (!form) return;
    const auto bytes = static_cast<double>(question_.bytes);
    const double whole = form->seconds(bytes);
    found_.push_back({choice, whole});
    if (!takes_segments(question_.collective)) return;
    const bool overlaps = overlaps_segments(choice) && question_.bytes > longest_segment(choice);
    const std::int64_t segment = best_segment(*form, choice);
    const double cut = segment > 0 ? form->seconds(bytes, static_cast<double>(segment)) : whole;
    const bool helps = cut < whole;
    if (!helps && !overlaps) return;
    choice.composition.segment = helps ? segment : longest_segment(choice);
    if (overlaps) found_.pop_back();
    found_.push_back({choice, std::min(cut, whole)});
  }

  // True where several segments are in flight at once, so that their latencies overlap; the closed forms ignore that.
  [[nodiscard]] bool overlaps_segments(const Choice& choice) const {
    return machine_.nodes() > 1 &&
           (choice.variant == Variant::kShared || (choice.groups != 1 && choice.composition.form == Form::kLanes));
  }

  // The longest segment whose messages between nodes are at most kMostAcross.
  [[nodiscard]] std::int64_t longest_segment(const Choice& choice) const {
    const bool flat = choice.variant == Variant::kMessages && choice.groups == 1;
    const bool lanes = choice.variant == Variant::kMessages && !flat && choice.composition.form != Form::kLeaders;
    const Rank slices = lanes ? slices_of_node() : 1;
    return kMostAcross * slices *
           parts_of(choice.composition.algorithms.front(), flat ? machine_.ranks() : machine_.nodes());
  }

  // Smaller nodes have fewer ranks to carry slices: the smallest node counts.
  [[nodiscard]] Rank slices_of_node() const {
    Rank slices = 1;
    for (int level = machine_.across(); level < machine_.hierarchy().levels(); ++level) {
      slices *= machine_.hierarchy().width(level);
    }
    return slices;
  }

  // The number of messages in which a rank sends a segment.
  static Rank parts_of(Algorithm algorithm, Rank ranks) {
    switch (algorithm) {
      case Algorithm::kRing:
      case Algorithm::kSegmentedRing:
      case Algorithm::kPairwise:
      case Algorithm::kScatterRing:
        return ranks;
      case Algorithm::kRabenseifner:
      case Algorithm::kScatterDoubling:
      case Algorithm::kSplitBinary:
        return 2;
      default:
        return 1;
    }
  }

  // A power of two near m / X*, or the longest segment where that is shorter; 0 where segments do not help.
  [[nodiscard]] std::int64_t best_segment(const ClosedForm& form, const Choice& choice) const {
    const double bytes = form.share * static_cast<double>(question_.bytes);
    const double segments = std::min(form.best_segments(static_cast<double>(question_.bytes)), kMostSegments);
    if (segments < 1.5 || bytes < 2 * static_cast<double>(kLeastSegment)) return 0;
    const auto size = static_cast<std::uint64_t>(bytes / segments);
    const auto rounded = static_cast<std::int64_t>(std::bit_floor(std::max<std::uint64_t>(size, 1)));
    const std::int64_t most = machine_.nodes() > 1 ? longest_segment(choice) : rounded;
    return std::max(std::min(rounded, most), kLeastSegment);
  }

  void add_flat(Algorithm algorithm) {
    if (!question_.commutative && !keeps_rank_order(question_.collective, algorithm)) return;
    Choice choice{.variant = Variant::kMessages, .composition = {.algorithms = {algorithm}}, .groups = 1};
    choice.composition.form = default_form(question_.collective);
    add(choice, Hierarchy::flat(machine_.ranks()));
  }

  void add_levels(Form form) {
    const Hierarchy& hierarchy = machine_.hierarchy();
    const auto levels = static_cast<std::size_t>(hierarchy.levels());
    // One algorithm between nodes and one inside. Where all levels are of one kind, the outermost has its own.
    const auto across = static_cast<std::size_t>(machine_.across());
    const std::size_t outer = across == 0 || across >= levels ? 1 : across;
    const Algorithm leaders = has_uneven_nodes() ? Algorithm::kPairwise : Algorithm::kRing;
    for (const Algorithm far : outer_algorithms(form)) {
      if (far == Algorithm::kSegmentedRing) continue;  // on one segment at a time it equals the ring
      // Leaders use a ring, or exchange pair by pair.
      if (question_.collective == Collective::kReduceScatter && far != leaders) continue;
      for (const Algorithm near : inner_algorithms(form, far)) {
        Choice choice{.variant = Variant::kMessages};
        choice.composition.form = form;
        choice.composition.algorithms.assign(outer, far);
        choice.composition.algorithms.resize(levels, near);
        add(choice, hierarchy);
      }
    }
  }

  [[nodiscard]] std::vector<Algorithm> outer_algorithms(Form form) const {
    std::vector<Algorithm> outer = between_nodes();
    const bool trees = question_.collective == Collective::kAllreduce && form == Form::kLeaders;
    if (trees) outer.push_back(Algorithm::kBinomial);
    return outer;
  }

  [[nodiscard]] std::vector<Algorithm> inner_algorithms(Form form, Algorithm outer) const {
    if (form == Form::kSameIndex) return {outer};
    if (form == Form::kLanes && question_.collective == Collective::kAlltoall) return worth_trying();
    if (form == Form::kLanes) return {question_.commutative ? Algorithm::kRing : Algorithm::kPairwise};
    if (outer == Algorithm::kPipeline) {
      return {Algorithm::kFlat, Algorithm::kBinomial, Algorithm::kPipeline};
    }
    return {Algorithm::kFlat, Algorithm::kBinomial};
  }

  // For ranks without levels: hier-bcast-2014's groups, their number by the model.
  void add_groups() {
    for (const Form form : forms_of(question_.collective)) {
      for (const Algorithm algorithm : worth_trying()) {
        if (algorithm == Algorithm::kKNomial) continue;  // groups add a level, so a latency
        const auto best = best_groups(question_, {form, algorithm}, machine_);
        if (!best || best->groups <= 1 || best->groups >= machine_.ranks()) continue;
        Choice choice{
            .variant = Variant::kMessages, .composition = {.algorithms = {algorithm}}, .groups = best->groups};
        choice.composition.form = form;
        add(choice, Hierarchy::grouped(machine_.ranks(), best->groups));
      }
    }
  }

  void add_shared() {
    const std::optional<Choice> on_node = in_memory_of_node(question_.collective, question_.commutative);
    if (!on_node) return;
    if (machine_.nodes() == 1) return add(*on_node, Hierarchy::flat(machine_.ranks()));
    for (const Algorithm algorithm : between_nodes()) {
      if (algorithm == Algorithm::kSegmentedRing) continue;  // as above
      if (!question_.commutative && !keeps_rank_order(question_.collective, algorithm)) continue;
      Choice choice{.variant = Variant::kShared, .composition = {.algorithms = {algorithm}}};
      add(choice, Hierarchy::flat(machine_.ranks()));
    }
  }

  void by_cost() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  }

  // Evaluates the best by the closed forms message by message.
  void evaluate_few(std::size_t most) {
    if (machine_.ranks() > kEvaluatedRanks) return;
    const std::size_t count = std::min(found_.size(), 2 * most);
    for (std::size_t i = 0; i < count; ++i) {
      Candidate& each = found_[i];
      const auto segment = static_cast<double>(each.choice.composition.segment);
      const bool short_one = segment == 0 || static_cast<double>(question_.bytes) / segment <= kEvaluatedSegments;
      if (each.choice.variant != Variant::kMessages || !short_one) continue;
      each.seconds = evaluated(question_, each.choice, machine_);
    }
    by_cost();
  }

  const Question& question_;
  const Machine& machine_;
  std::vector<Candidate> found_;
};

}  // namespace

std::optional<Choice> in_memory_of_node(Collective collective, bool commutative) {
  if (collective == Collective::kAlltoall) return std::nullopt;  // shared memory has none
  for (const Algorithm algorithm : schedule::algorithms_of(collective)) {
    if (repeats_another(algorithm, commutative)) continue;
    if (!commutative && !keeps_rank_order(collective, algorithm)) continue;
    return Choice{.variant = Variant::kShared, .composition = {.algorithms = {algorithm}}};
  }
  return std::nullopt;
}

std::vector<Candidate> candidates(const Question& question, const Hierarchy& machine, const Parameters& parameters,
                                  int most) {
  // Where ranks share memory and are all on one level, that level is a node.
  const bool one_node = question.shared_memory && machine.levels() == 1 && levels_across_nodes(parameters) > 0;
  const Parameters fitting = one_node ? matched(parameters, machine.given_levels(), 0) : parameters;
  const Machine seen(machine, fitting);
  return Search(question, seen).run(most);
}

std::vector<Candidate> worth_a_trial(std::span<const Candidate> possible, std::size_t most) {
  if (possible.empty() || most == 0) return {};
  return pick(possible, kMostExpensive * possible.front().seconds, most);
}

}  // namespace ranktree::core::predict
