#include "core/schedule/bits.h"
#include "core/schedule/builder.h"
#include "core/schedule/partners.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {
namespace {

// How often the partial result moves: once for every partner that is appended, and once more when the first partner is
// prepended to an operand that may not be written.
int moves_of(const Partners& partners, bool in_order, bool writable) {
  int moves = partners.has_neighbour() ? 1 : 0;
  for (Rank distance = 1; distance < partners.power(); distance *= 2) {
    const bool prepended = in_order && has_bit(partners.me(), distance);
    if (!prepended || (!writable && moves == 0)) ++moves;
  }
  return moves;
}

}  // namespace

Range allreduce_doubling(Builder& builder, const Team& team, bool in_order, const Range& operand, const Range& target) {
  if (team.size() == 1) return operand;
  const Partners partners(team);
  if (partners.aside()) {
    builder.send(partners.neighbour(), operand);
    builder.receive(partners.neighbour(), target);
    return target;
  }
  Moving sum(builder, operand, target, moves_of(partners, in_order, operand == target));
  if (partners.has_neighbour()) sum.append(partners.neighbour(), 0, operand.count);
  for (Rank distance = 1; distance < partners.power(); distance *= 2) {
    const Rank peer = partners.rank(across(partners.me(), distance));
    builder.send(peer, sum.part(0, operand.count));
    if (in_order && has_bit(partners.me(), distance)) {
      sum.prepend(peer, 0, operand.count);
    } else {
      sum.append(peer, 0, operand.count);
    }
  }
  sum.finish(0, operand.count);
  if (partners.has_neighbour()) builder.send(partners.neighbour(), target);
  return target;
}

}  // namespace ranktree::core::schedule
