// R. Rabenseifner, Optimization of collective reduction operations, ICCS 2004. Neighbours exchange first and the
// distance doubles, so that what is combined is always a run of ranks and rank order can be kept.
#include <cstdint>
#include <vector>

#include "core/schedule/bits.h"
#include "core/schedule/builder.h"
#include "core/schedule/partners.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

// One rank's part of a halving: it keeps one half of its elements and sends the other half to its partner.
struct Halving {
  Rank partner = 0;  // its number among the partners
  Rank distance = 0;
  Range kept;  // in the target
  Range given;
  bool upper = false;
};

std::vector<Halving> halvings_of(const Partners& partners, const Range& target) {
  std::vector<Halving> halvings;
  Range window = target;
  for (Rank distance = 1; distance < partners.power(); distance *= 2) {
    const bool upper = has_bit(partners.me(), distance);
    const Range kept = part_of(window, upper ? 1 : 0, 2);
    halvings.push_back({.partner = across(partners.me(), distance),
                        .distance = distance,
                        .kept = kept,
                        .given = part_of(window, upper ? 0 : 1, 2),
                        .upper = upper});
    window = kept;
  }
  return halvings;
}

// Combines the operand of the neighbour that drops out, lower or higher.
void take_in(const Partners& partners, bool in_order, Moving& sum, std::int64_t count) {
  if (!partners.has_neighbour()) return;
  if (in_order && partners.neighbour_is_lower()) {
    sum.prepend(partners.neighbour(), 0, count);
  } else {
    sum.append(partners.neighbour(), 0, count);
  }
}

int moves_of(const Partners& partners, const std::vector<Halving>& halvings, bool in_order, bool writable) {
  int moves = 0;
  const auto count = [&](bool prepended) {
    if (!prepended || (!writable && moves == 0)) ++moves;
  };
  if (partners.has_neighbour()) count(in_order && partners.neighbour_is_lower());
  for (const Halving& halving : halvings) count(in_order && halving.upper);
  return moves;
}

// Afterwards the elements that the last halving keeps are complete, in the target.
void reduce_scatter(Builder& builder, const Partners& partners, bool in_order, const Range& operand,
                    const Range& target) {
  const std::vector<Halving> halvings = halvings_of(partners, target);
  Moving sum(builder, operand, target, moves_of(partners, halvings, in_order, operand == target));
  take_in(partners, in_order, sum, operand.count);
  for (const Halving& halving : halvings) {
    const Rank peer = partners.rank(halving.partner);
    const std::int64_t first = halving.kept.first - target.first;
    builder.send(peer, sum.part(halving.given.first - target.first, halving.given.count));
    if (in_order && halving.upper) {
      sum.prepend(peer, first, halving.kept.count);
    } else {
      sum.append(peer, first, halving.kept.count);
    }
  }
  const Range last = halvings.empty() ? target : halvings.back().kept;
  sum.finish(last.first - target.first, last.count);
}

}  // namespace

Range allreduce_halving(Builder& builder, const Team& team, bool in_order, const Range& operand, const Range& target) {
  if (team.size() == 1) return operand;
  const Partners partners(team);
  if (partners.aside()) {
    builder.send(partners.neighbour(), operand);
    builder.receive(partners.neighbour(), target);
    return target;
  }
  reduce_scatter(builder, partners, in_order, operand, target);
  const std::vector<Halving> halvings = halvings_of(partners, target);
  for (auto halving = halvings.rbegin(); halving != halvings.rend(); ++halving) {
    builder.send(partners.rank(halving->partner), halving->kept);
    builder.receive(partners.rank(halving->partner), halving->given);
  }
  if (partners.has_neighbour()) builder.send(partners.neighbour(), target);
  return target;
}

Range reduce_halving(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand,
                     const Range& target) {
  const Partners partners(team, reduction.root);
  if (partners.aside()) {
    builder.send(partners.neighbour(), operand);
    return operand;
  }
  const Range region = team.me() == reduction.root ? target : builder.scratch(operand.count);
  reduce_scatter(builder, partners, reduction.in_order, operand, region);
  // Back the same way: of two partners the one that differs from the root at this distance sends and is done.
  const Rank root = partners.number(reduction.root);
  const std::vector<Halving> halvings = halvings_of(partners, region);
  for (auto halving = halvings.rbegin(); halving != halvings.rend(); ++halving) {
    if (has_bit(partners.me(), halving->distance) != has_bit(root, halving->distance)) {
      builder.send(partners.rank(halving->partner), halving->kept);
      return region;
    }
    builder.receive(partners.rank(halving->partner), halving->given);
  }
  return region;
}

}  // namespace ranktree::core::schedule
