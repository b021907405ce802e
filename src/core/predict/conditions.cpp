#include "core/predict/conditions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/divisors.h"
#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/closed_forms.h"
#include "core/predict/costs.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Form;
using schedule::Rank;

constexpr double kSame = 1 - 1e-9;  // costs that differ only by rounding count as equal

// The values of G to evaluate.
std::vector<Rank> groups_to_try(Rank ranks, double continuous) {
  std::vector<Rank> tried = divisors_of(ranks);
  if (ranks <= kAllGroups) {
    tried.clear();
    for (Rank groups = 1; groups <= ranks; ++groups) tried.push_back(groups);
    return tried;
  }
  const auto near = static_cast<Rank>(continuous);
  for (Rank groups = near - 1; groups <= near + 2; ++groups) {
    if (groups > 1 && groups < ranks) tried.push_back(groups);
  }
  std::sort(tried.begin(), tried.end());
  return tried;
}

// For forms that add terms of G-1 and q-1, or of log2 of both.
bool has_minimum_inside(const Grouping& grouping, const Question& question, const Line& link, double reduce, double p) {
  const auto m = static_cast<double>(question.bytes);
  const bool leaders = grouping.form == Form::kLeaders;
  switch (grouping.algorithm) {
    case Algorithm::kFlat:
      // (G+q)(a-mB) + 2pmB - 2a.
      if (question.collective == Collective::kAlltoall) return !leaders && link.latency > m * link.per_byte;
      return leaders;
    case Algorithm::kChain:
    case Algorithm::kPipeline:
    case Algorithm::kLinear:
      return leaders || grouping.form == Form::kSameIndex;
    case Algorithm::kScatterRing:
      return !leaders || link.latency > 2 * m * link.per_byte / p;
    case Algorithm::kRing:
    case Algorithm::kPairwise:
      return grouping.form == Form::kLanes || link.latency > m / p * (link.per_byte + reduce / 2);
    default:
      return false;
  }
}

std::string number(double value) {
  constexpr int kDigits = 4;
  std::array<char, 32> text{};
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, kDigits);
  return {text.data(), written.ptr};
}

Condition less(const std::string& what, double left, double right) {
  const bool holds = left < right;
  return {.text = "two levels win if " + what + ": " + number(left) + (holds ? " < " : " >= ") + number(right),
          .holds = holds};
}
Condition always(const std::string& why) { return {.text = "two levels always win: " + why, .holds = true}; }
Condition never(const std::string& why) { return {.text = "two levels never win: " + why, .holds = false}; }

struct Numbers {
  double p;
  double G;
  double q;
  double X;
  double m;
  double a;
  double B;
  double g;
};

// Each level takes log2 rounds, rounded up. The total bytes are the same only where p is a power of two.
std::optional<Condition> about_bruck(const Numbers& n) {
  const auto ranks = static_cast<Rank>(n.p);
  const auto groups = static_cast<Rank>(n.G);
  if (ranks % groups != 0) return std::nullopt;
  const Rank inside = ranks / groups;
  const int rounds = log2_above(ranks);
  const int rounds_of_two = log2_above(groups) + log2_above(inside);
  const std::int64_t blocks = blocks_by_bits(ranks);
  const std::int64_t blocks_of_two = blocks_by_bits(groups) * inside + blocks_by_bits(inside) * groups;
  if (rounds_of_two >= rounds && blocks_of_two >= blocks) return never("neither fewer steps nor fewer blocks");
  const auto words = [](int steps, std::int64_t moved) {
    return std::to_string(steps) + " alpha + " + std::to_string(moved) + " m beta";
  };
  const auto cost = [&n](int steps, std::int64_t moved) {
    return steps * n.a + static_cast<double>(moved) * n.m * n.B;
  };
  return less(words(rounds_of_two, blocks_of_two) + " < " + words(rounds, blocks), cost(rounds_of_two, blocks_of_two),
              cost(rounds, blocks));
}

// The alltoall costs (p+1-G-q)(mB-a) more than the flat one.
std::optional<Condition> about_alltoall(Algorithm algorithm, Form form, const Numbers& n) {
  if (form != Form::kLanes) return std::nullopt;
  return algorithm == Algorithm::kFlat ? less("m < alpha/beta", n.m, n.a / n.B) : about_bruck(n);
}

std::optional<Condition> in_lanes(Algorithm algorithm) {
  if (algorithm == Algorithm::kRing || algorithm == Algorithm::kPairwise || algorithm == Algorithm::kScatterRing) {
    return always("lanes have the ring's bandwidth and fewer steps");
  }
  return std::nullopt;
}

std::optional<Condition> about_trees(Algorithm algorithm, const Numbers& n) {
  switch (algorithm) {
    case Algorithm::kFlat:
    case Algorithm::kChain:
    case Algorithm::kPipeline:
    case Algorithm::kLinear:
      if (n.X <= 1) return always("G+q-2 < p-1 steps");
      return algorithm == Algorithm::kPipeline ? std::optional(less("X < (G-1)(q-1)+1", n.X, (n.G - 1) * (n.q - 1) + 1))
                                               : std::nullopt;
    case Algorithm::kBinary:
      return n.X <= 1 ? std::optional(less("G+q < p+1", n.G + n.q, n.p + 1)) : std::nullopt;
    case Algorithm::kBinomial:
    case Algorithm::kRecursiveDoubling:
      return never("log2 G + log2 q steps are log2 p steps");
    default:
      return std::nullopt;
  }
}

}  // namespace

double best_real_groups(double ranks, double inside, double outside) { return std::sqrt(ranks * inside / outside); }

std::optional<BestGroups> best_groups(const Question& question, const Grouping& grouping, const Machine& machine) {
  const Rank ranks = machine.ranks();
  const Line link = machine.link(0, 1);
  BestGroups best;
  if (has_minimum_inside(grouping, question, link, machine.parameters().reduce_per_byte, ranks)) {
    best.continuous = best_real_groups(ranks, 1, 1);
  }
  bool any = false;
  bool any_divisor = false;
  for (const Rank groups : groups_to_try(ranks, best.continuous)) {
    Choice choice{.variant = Variant::kMessages, .composition = {.algorithms = {grouping.algorithm}}, .groups = groups};
    choice.composition.form = grouping.form;
    const auto form = form_of(question, choice, machine);
    if (!form) return std::nullopt;
    const double seconds = form->seconds(static_cast<double>(question.bytes), static_cast<double>(grouping.segment));
    if (!any || seconds < kSame * best.seconds) {
      best.groups = groups;
      best.seconds = seconds;
      any = true;
    }
    if (ranks % groups == 0 && (!any_divisor || seconds < kSame * best.divisor_seconds)) {
      best.divisor = groups;
      best.divisor_seconds = seconds;
      any_divisor = true;
    }
  }
  return best;
}

std::optional<Condition> condition_of(const Case& about) {
  const double p = about.ranks;
  const double groups = about.groups;
  if (about.groups <= 1 || about.groups >= about.ranks) return std::nullopt;
  const auto segment = static_cast<double>(about.grouping.segment);
  const Numbers n{.p = p,
                  .G = groups,
                  .q = p / groups,
                  .X = segment > 0 ? std::ceil(about.bytes / segment) : 1,
                  .m = about.bytes,
                  .a = about.link.latency,
                  .B = about.link.per_byte,
                  .g = about.reduce_per_byte};
  const Algorithm algorithm = about.grouping.algorithm;
  if (about.collective == Collective::kAlltoall) return about_alltoall(algorithm, about.grouping.form, n);
  if (about.grouping.form == Form::kLanes) return in_lanes(algorithm);
  switch (about.collective) {
    case Collective::kBroadcast:
      if (algorithm == Algorithm::kScatterRing) {  // hier-bcast-2014 (14), exact for every G
        return less("2m/p < alpha/beta", 2 * n.m / n.p, n.a / n.B);
      }
      if (algorithm == Algorithm::kScatterDoubling) return never("(2-1/G-1/q) m moves where (1-1/p) m would do");
      return about_trees(algorithm, n);
    case Collective::kReduce:
      if (algorithm == Algorithm::kRabenseifner) return never("(2-1/G-1/q) m moves where (1-1/p) m would do");
      return about_trees(algorithm, n);
    case Collective::kAllreduce:
      if (algorithm == Algorithm::kRabenseifner) return never("(2-1/G-1/q) m moves where (1-1/p) m would do");
      if (about.grouping.form == Form::kSameIndex &&
          (algorithm == Algorithm::kRing || algorithm == Algorithm::kPairwise)) {
        return less("(m/p)(beta+gamma/2) < alpha", n.m / n.p * (n.B + n.g / 2), n.a);
      }
      return about_trees(algorithm, n);
    default:
      return std::nullopt;
  }
}

}  // namespace ranktree::core::predict
