#include "core/predict/closed_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "core/schedule/trees.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Rank;

// The papers' symbols for one level.
struct Letters {
  double p;
  double log;     // log2 p
  double binary;  // log2 (p+1)
  double share;   // (p-1)/p
  double a;
  double B;
  double g;
  [[nodiscard]] Line whole() const { return {a, B}; }        // c
  [[nodiscard]] Line reduced() const { return {a, B + g}; }  // cr
};

Letters letters_of(const Stretch& level, double reduce) {
  const double p = level.ranks;
  return {.p = p,
          .log = static_cast<double>(log2_above(level.ranks)),
          .binary = static_cast<double>(binary_levels(level.ranks)),
          .share = (p - 1) / p,
          .a = level.link.latency,
          .B = level.link.per_byte,
          .g = reduce};
}

// A cost without segments.
ClosedForm once(double latency, double per_byte) { return {.once = {latency, per_byte}, .share = 0}; }
ClosedForm once(const Line& line) { return {.once = line, .share = 0}; }

// The messages that the root of a k-nomial tree sends, each of which takes a step.
double k_nomial_steps(Rank ranks) {
  return static_cast<double>(schedule::node_of(Algorithm::kKNomial, 0, ranks).children.size());
}

// The trees of broadcast and reduce over edges of one cost.
std::optional<ClosedForm> tree_form(Algorithm algorithm, const Letters& n, const Line& edge) {
  switch (algorithm) {
    case Algorithm::kFlat:
      return ClosedForm{.path = (n.p - 1) * edge, .step = (n.p - 1) * edge};
    case Algorithm::kChain:
    case Algorithm::kPipeline:
      return ClosedForm{.path = (n.p - 1) * edge, .step = std::min(n.p - 1, 1.0) * edge};
    case Algorithm::kBinary:
    case Algorithm::kInOrderBinary:
      return ClosedForm{.path = 2 * (n.binary - 1) * edge, .step = std::min(n.p - 1, 2.0) * edge};
    case Algorithm::kBinomial:
      return ClosedForm{.path = n.log * edge, .step = n.log * edge};
    case Algorithm::kKNomial: {
      const double steps = k_nomial_steps(static_cast<Rank>(n.p));
      return ClosedForm{.path = steps * edge, .step = steps * edge};
    }
    default:
      return std::nullopt;
  }
}

std::optional<ClosedForm> broadcast_form(Algorithm algorithm, const Letters& n) {
  switch (algorithm) {
    case Algorithm::kSplitBinary:
      if (n.p < 3) return once((n.p - 1) * n.whole());
      return ClosedForm{
          .path = 2 * (n.binary - 1) * n.whole(), .step = 2 * n.whole(), .once = {n.a, n.B / 2}, .share = 0.5};
    case Algorithm::kScatterRing:
      return once((n.log + n.p - 1) * n.a, 2 * n.share * n.B);
    case Algorithm::kScatterDoubling:
      return once(2 * n.log * n.a, 2 * n.share * n.B);
    default:
      return tree_form(algorithm, n, n.whole());
  }
}

std::optional<ClosedForm> reduce_form(Algorithm algorithm, const Letters& n) {
  if (algorithm == Algorithm::kRabenseifner) return once(2 * n.log * n.a, n.share * (2 * n.B + n.g));
  return tree_form(algorithm, n, n.reduced());
}

std::optional<ClosedForm> allreduce_form(Algorithm algorithm, const Letters& n) {
  switch (algorithm) {
    case Algorithm::kRabenseifner:
      return once(2 * n.log * n.a, n.share * (2 * n.B + n.g));
    case Algorithm::kLinear:
      return once(2 * (n.p - 1) * n.a, (n.p - 1) * (2 * n.B + n.g));
    case Algorithm::kRecursiveDoubling:
      return once(n.log * n.reduced());
    case Algorithm::kRing:
    case Algorithm::kPairwise:
      return once(2 * (n.p - 1) * n.a, n.share * (2 * n.B + n.g));
    case Algorithm::kSegmentedRing:  // hier-reduce-2016 (3), corrected: rounds of segments of a block
      return ClosedForm{.path = (n.p - 1) * n.reduced(),
                        .step = (n.p - 1) * n.reduced(),
                        .once = {(n.p - 1) * n.a, n.share * n.B},
                        .share = 1 / n.p};
    default:
      return std::nullopt;
  }
}

std::optional<ClosedForm> barrier_form(Algorithm algorithm, const Letters& n) {
  if (algorithm == Algorithm::kDissemination) return once(n.log * n.a, 0);
  return once(2 * (algorithm == Algorithm::kFlat ? n.p - 1 : n.log) * n.a, 0);
}

// Gather and scatter of blocks.
ClosedForm rooted_form(Algorithm algorithm, const Letters& n) {
  return once((algorithm == Algorithm::kFlat ? n.p - 1 : n.log) * n.a, (n.p - 1) * n.B);
}

ClosedForm allgather_form(Algorithm algorithm, const Letters& n) {
  return once((algorithm == Algorithm::kRecursiveDoubling ? n.log : n.p - 1) * n.a, (n.p - 1) * n.B);
}

// A binomial scatter behind a reduction of all blocks to rank 0, or rings and exchanges of blocks.
ClosedForm reduce_scatter_form(Algorithm algorithm, const Letters& n) {
  if (algorithm == Algorithm::kBinomial) {
    return once(2 * n.log * n.a, n.log * n.p * (n.B + n.g) + (n.p - 1) * n.B);
  }
  if (algorithm == Algorithm::kRabenseifner) return once(3 * n.log * n.a, (n.p - 1) * (3 * n.B + n.g));
  return once((n.p - 1) * n.reduced());
}

ClosedForm alltoall_form(Algorithm algorithm, const Letters& n) {
  if (algorithm != Algorithm::kBruck) return once((n.p - 1) * n.whole());
  return once(n.log * n.a, static_cast<double>(blocks_by_bits(static_cast<Rank>(n.p))) * n.B);
}

Algorithm tree_of(Algorithm algorithm) { return schedule::is_tree(algorithm) ? algorithm : Algorithm::kBinomial; }

// A level's cost for one segment, and its busiest rank's share of that cost.
struct Part {
  Line whole;
  Line step;
};

std::optional<Part> part_of(Collective collective, Algorithm algorithm, const Stretch& level, double reduce) {
  const auto form = base_form(collective, algorithm, level, reduce);
  if (!form) return std::nullopt;
  const bool pipelined = form->share == 1;
  return Part{.whole = form->whole(), .step = pipelined ? form->step : form->whole()};
}

// Adds up parts whose bytes are `scale` times the segment's.
class Sum {
 public:
  void add(const std::optional<Part>& part, double scale = 1) {
    if (!part) complete_ = false;
    if (!complete_) return;
    form_.path = form_.path + Line{part->whole.latency, scale * part->whole.per_byte};
    form_.step = form_.step + Line{part->step.latency, scale * part->step.per_byte};
  }
  [[nodiscard]] std::optional<ClosedForm> form() const { return complete_ ? std::optional(form_) : std::nullopt; }

 private:
  ClosedForm form_;
  bool complete_ = true;
};

struct Composed {
  Collective collective;
  std::span<const Algorithm> algorithms;
  std::span<const Stretch> levels;
  double reduce;
};

// Trees up the inner levels, the operation across, trees down again.
std::optional<ClosedForm> up_and_down(const Composed& composed) {
  Sum sum;
  const bool tree = composed.collective == Collective::kAllreduce && schedule::is_tree(composed.algorithms[0]);
  for (std::size_t level = tree ? 0 : 1; level < composed.levels.size(); ++level) {
    const Algorithm each = tree_of(composed.algorithms[level]);
    sum.add(part_of(Collective::kReduce, each, composed.levels[level], composed.reduce));
    sum.add(part_of(Collective::kBroadcast, each, composed.levels[level], 0));
  }
  if (!tree) sum.add(part_of(composed.collective, composed.algorithms[0], composed.levels[0], composed.reduce));
  return sum.form();
}

std::optional<ClosedForm> barrier_by_leaders(const Composed& composed) {
  Sum sum;
  for (std::size_t level = 0; level < composed.levels.size(); ++level) {
    const Algorithm each = level == 0 ? composed.algorithms[0] : tree_of(composed.algorithms[level]);
    const bool known = level > 0 || each == Algorithm::kDissemination || each == Algorithm::kFlat;
    sum.add(part_of(Collective::kBarrier, known ? each : Algorithm::kBinomial, composed.levels[level], 0));
  }
  return sum.form();
}

double ranks_of(const Composed& composed) {
  double all = 1;
  for (const Stretch& level : composed.levels) all *= level.ranks;
  return all;
}

// On each level, the blocks of all ranks below a group travel together.
std::optional<ClosedForm> blocks_by_leaders(const Composed& composed) {
  Sum sum;
  double below = 1;  // ranks under one child of a level
  const double all = ranks_of(composed);
  for (std::size_t level = composed.levels.size(); level-- > 0; below *= composed.levels[level].ranks) {
    const Stretch& here = composed.levels[level];
    const Algorithm algorithm = composed.algorithms[level];
    const Algorithm rooted = algorithm == Algorithm::kFlat ? Algorithm::kFlat : Algorithm::kBinomial;
    const bool across = level == 0;
    if (composed.collective == Collective::kGather || composed.collective == Collective::kScatter) {
      sum.add(part_of(composed.collective, rooted, here, 0), below);
    } else if (across) {
      const bool ring = composed.collective == Collective::kReduceScatter;
      sum.add(part_of(composed.collective, ring ? Algorithm::kRing : algorithm, here, composed.reduce), below);
    } else if (composed.collective == Collective::kAllgather) {
      sum.add(part_of(Collective::kGather, rooted, here, 0), below);
      sum.add(part_of(Collective::kBroadcast, tree_of(algorithm), here, 0), all);
    } else {
      sum.add(part_of(Collective::kReduce, tree_of(algorithm), here, composed.reduce), all);
      sum.add(part_of(Collective::kScatter, rooted, here, 0), below);
    }
  }
  return sum.form();
}

// Each rank's blocks travel up to the leaders and down from them. Two leaders exchange all blocks between their groups.
std::optional<ClosedForm> alltoall_by_leaders(const Composed& composed) {
  Sum sum;
  const double all = ranks_of(composed);
  double below = 1;
  for (std::size_t level = composed.levels.size(); level-- > 1; below *= composed.levels[level].ranks) {
    const bool flat = composed.algorithms[level] == Algorithm::kFlat;
    const auto rows =
        part_of(Collective::kGather, flat ? Algorithm::kFlat : Algorithm::kBinomial, composed.levels[level], 0);
    sum.add(rows, below * all);
    sum.add(rows, below * all);
  }
  sum.add(part_of(Collective::kAlltoall, composed.algorithms[0], composed.levels[0], 0), below * below);
  return sum.form();
}

// On each level every rank has as many bytes as at the beginning, for the children of its group there.
std::optional<ClosedForm> alltoall_in_lanes(const Composed& composed) {
  Sum sum;
  const double all = ranks_of(composed);
  for (std::size_t level = 0; level < composed.levels.size(); ++level) {
    const Stretch& here = composed.levels[level];
    sum.add(part_of(Collective::kAlltoall, composed.algorithms[level], here, 0), all / here.ranks);
  }
  return sum.form();
}

std::optional<ClosedForm> by_leaders(const Composed& composed) {
  switch (composed.collective) {
    case Collective::kBroadcast:
    case Collective::kReduce: {
      Sum sum;
      for (std::size_t level = 0; level < composed.levels.size(); ++level) {
        sum.add(part_of(composed.collective, composed.algorithms[level], composed.levels[level], composed.reduce));
      }
      return sum.form();
    }
    case Collective::kAllreduce:
      return up_and_down(composed);
    case Collective::kBarrier:
      return barrier_by_leaders(composed);
    case Collective::kAlltoall:
      return alltoall_by_leaders(composed);
    default:
      return blocks_by_leaders(composed);
  }
}

// Slices inside groups, from the whole vector to the rank's own slice or back: by rings, or by a binomial tree from and
// to one rank.
Part ring_inside(const Stretch& level, double reduce) {
  const Letters n = letters_of(level, reduce);
  const Line line{(n.p - 1) * n.a, n.share * (n.B + n.g)};
  return {line, line};
}
Part tree_inside(const Stretch& level) {
  const Letters n = letters_of(level, 0);
  const Line line{n.log * n.a, n.share * n.B};
  return {line, line};
}

std::optional<ClosedForm> in_lanes(const Composed& composed) {
  if (composed.collective == Collective::kAlltoall) return alltoall_in_lanes(composed);
  Sum sum;
  double slice = 1;
  for (std::size_t level = composed.levels.size(); level-- > 1; slice /= composed.levels[level].ranks) {
    const Stretch& here = composed.levels[level];
    const bool broadcasts = composed.collective == Collective::kBroadcast;
    sum.add(broadcasts ? tree_inside(here) : ring_inside(here, composed.reduce), slice);
    sum.add(composed.collective == Collective::kReduce ? tree_inside(here) : ring_inside(here, 0), slice);
  }
  sum.add(part_of(composed.collective, composed.algorithms[0], composed.levels[0], composed.reduce), slice);
  return sum.form();
}

std::optional<ClosedForm> same_index(const Composed& composed) {
  Sum sum;
  for (std::size_t level = 0; level < composed.levels.size(); ++level) {
    sum.add(part_of(Collective::kAllreduce, composed.algorithms[level], composed.levels[level], composed.reduce));
  }
  return sum.form();
}

}  // namespace

int log2_above(Rank ranks) {
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::max(ranks, 1) - 1)));
}
std::int64_t blocks_by_bits(Rank ranks) {
  std::int64_t blocks = 0;
  for (std::int64_t bit = 1; bit < ranks; bit *= 2) {
    blocks += ranks / (2 * bit) * bit + std::max<std::int64_t>(ranks % (2 * bit) - bit, 0);
  }
  return blocks;
}
int binary_levels(Rank ranks) {
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::max(ranks, 1))));
}

double ClosedForm::seconds(double bytes, double segment) const {
  const double cut = share * bytes;
  const double segments = segment > 0 && cut > segment ? std::ceil(cut / segment) : 1;
  const double each = cut / segments;
  return once.at(bytes) + path.at(each) + (segments - 1) * step.at(each);
}

// From T(X) = a + a_step (X-1) + m B_step + (m/X)(B - B_step), where B_step is at most B.
double ClosedForm::best_segments(double bytes) const {
  if (step.latency <= 0 || path.per_byte <= step.per_byte) return 1;
  return std::max(1.0, std::sqrt(share * bytes * (path.per_byte - step.per_byte) / step.latency));
}

std::optional<ClosedForm> base_form(Collective collective, Algorithm algorithm, const Stretch& level,
                                    double reduce_per_byte) {
  const Letters n = letters_of(level, reduce_per_byte);
  const std::span<const Algorithm> known = schedule::algorithms_of(collective);
  if (std::find(known.begin(), known.end(), algorithm) == known.end()) return std::nullopt;
  switch (collective) {
    case Collective::kBroadcast:
      return broadcast_form(algorithm, n);
    case Collective::kReduce:
      return reduce_form(algorithm, n);
    case Collective::kAllreduce:
      return allreduce_form(algorithm, n);
    case Collective::kBarrier:
      return barrier_form(algorithm, n);
    case Collective::kGather:
    case Collective::kScatter:
      return rooted_form(algorithm, n);
    case Collective::kAllgather:
      return allgather_form(algorithm, n);
    case Collective::kReduceScatter:
      return reduce_scatter_form(algorithm, n);
    default:
      return alltoall_form(algorithm, n);
  }
}

std::optional<ClosedForm> composed_form(Collective collective, schedule::Form form,
                                        std::span<const Algorithm> algorithms, std::span<const Stretch> levels,
                                        double reduce_per_byte) {
  const std::span<const schedule::Form> forms = schedule::forms_of(collective);
  const bool known = std::find(forms.begin(), forms.end(), form) != forms.end();
  if (!known || levels.empty() || algorithms.size() != levels.size()) return std::nullopt;
  if (levels.size() == 1) return base_form(collective, algorithms[0], levels[0], reduce_per_byte);
  const Composed composed{collective, algorithms, levels, reduce_per_byte};
  if (form == schedule::Form::kLeaders) return by_leaders(composed);
  return form == schedule::Form::kLanes ? in_lanes(composed) : same_index(composed);
}

}  // namespace ranktree::core::predict
