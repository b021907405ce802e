#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/schedule/bits.h"
#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {
namespace {

void broadcast_tree(Builder& builder, const Team& team, Algorithm tree, const Range& data) {
  Node node = node_of(tree, team.me(), team.size());
  if (node.parent >= 0) builder.receive(team.rank(node.parent), data);
  // The largest subtree has the longest path, so it goes first, and in binomial trees the others wait. Binary trees
  // have no such order: round robin over nodes of 3 ranks, in turn took 1.17x as long as at once in simulations.
  const bool binomial = tree == Algorithm::kBinomial;
  if (binomial || tree == Algorithm::kKNomial) std::reverse(node.children.begin(), node.children.end());
  for (const Rank child : node.children) {
    builder.send_to_child(team.rank(child), data, binomial && binomial_span(child, team.size()) > 1);
  }
}

// A level of a complete binary tree first has the members below member 1, then as many slots below member 2.
struct Place {
  Rank half = 0;    // the half of the data that comes down here: 0 below member 1
  Rank mirror = 0;  // the corresponding member of the other half; may be beyond the last
  Rank index = 0;   // in its half, level by level
};

Place place_of(Rank member) {
  const Rank level = power_of_two_in(member + 1);  // members above this level, and slots on it
  const Rank width = std::max(level / 2, 1);
  const Rank half = (member + 1 - level) / width;
  return {.half = half,
          .mirror = half == 0 ? member + width : member - width,
          .index = width - 1 + (member + 1 - level) % width};
}

// The member with this index in the first half.
Rank first_half(Rank index) { return index + power_of_two_in(index + 1); }
Rank second_half(Rank index) { return index + 2 * power_of_two_in(index + 1); }

Rank second_half_size(Rank size) {
  Rank count = 0;
  for (std::int64_t width = 1; 3 * width - 1 < size; width *= 2) {
    count += static_cast<Rank>(std::min(width, size - (3 * width - 1)));
  }
  return count;
}

// Begins only when this rank's own half is complete (step `complete`), because a whole half in the other direction
// would occupy its port. The first half may have more members than the second; members of the second half serve those
// without a mirror in turn.
void exchange_halves(Builder& builder, const Team& team, const Range& data, std::int32_t complete) {
  const Place place = place_of(team.me());
  const Range mine = part_of(data, place.half, 2);
  const Range other = part_of(data, 1 - place.half, 2);
  const Rank second = second_half_size(team.size());
  if (place.half == 0 && place.mirror >= team.size()) {
    builder.receive(team.rank(second_half((place.index - second) % second)), other, complete);
    return;
  }
  builder.send(team.rank(place.mirror), mine);
  builder.receive(team.rank(place.mirror), other, complete);
  if (place.half == 0) return;
  const Rank first = team.size() - 1 - second;
  for (Rank index = second + place.index; index < first; index += second) {
    builder.send(team.rank(first_half(index)), mine);
  }
}

// Returns the step that receives.
std::int32_t down_half(Builder& builder, const Team& team, const Node& node, const Range& part) {
  builder.receive(team.rank(node.parent), part);
  const std::int32_t received = builder.latest();
  for (const Rank child : node.children) builder.send(team.rank(child), part);
  return received;
}

}  // namespace

Blocks slices(const Range& whole, Rank parts, Rank size, Rank first) {
  return [=](Rank member) {
    const Rank index = (member - first + size) % size;
    return index < parts ? part_of(whole, index, parts) : within(whole, whole.count, 0);
  };
}

void split_binary(Builder& builder, const Team& team, const Range& data, std::int64_t segment) {
  if (team.size() < 3) {
    broadcast_tree(builder, team, Algorithm::kChain, data);
    return;
  }
  const Node node = node_of(Algorithm::kBinary, team.me(), team.size());
  const Range larger = part_of(data, 0, 2);
  const Range smaller = part_of(data, 1, 2);
  const std::int64_t step = segment_of(larger.count, segment);
  std::int32_t complete = -1;
  for (std::int64_t at = 0; at < larger.count; at += step) {
    const auto cut = [at, step](const Range& half) {
      const std::int64_t first = at < half.count ? at : half.count;
      return within(half, first, half.count - first < step ? half.count - first : step);
    };
    if (team.me() == 0) {
      builder.send(team.rank(1), cut(larger));
      builder.send(team.rank(2), cut(smaller));
    } else {
      complete = down_half(builder, team, node, cut(place_of(team.me()).half == 0 ? larger : smaller));
    }
  }
  if (team.me() > 0) exchange_halves(builder, team, data, complete);
}

void scatter_blocks(Builder& builder, const Team& team, const Blocks& blocks) {
  const Node node = node_of(Algorithm::kBinomial, team.me(), team.size());
  const auto subtree = [&](Rank member) {
    const Range first = blocks(member);
    const Range last = blocks(member + binomial_span(member, team.size()) - 1);
    return within(first, 0, last.first + last.count - first.first);
  };
  if (node.parent >= 0) builder.receive(team.rank(node.parent), subtree(team.me()));
  for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
    builder.send_to_child(team.rank(*child), subtree(*child), binomial_span(*child, team.size()) > 1);
  }
}

void broadcast(Builder& builder, const Team& team, Algorithm algorithm, const Range& data) {
  const Blocks blocks = slices(data, team.size(), team.size());
  switch (algorithm) {
    case Algorithm::kSplitBinary:
      split_binary(builder, team, data, 0);
      return;
    case Algorithm::kScatterRing:
      scatter_blocks(builder, team, blocks);
      allgather_ring(builder, team, blocks);
      return;
    case Algorithm::kScatterDoubling:
      scatter_blocks(builder, team, blocks);
      allgather_doubling(builder, team, blocks);
      return;
    default:
      broadcast_tree(builder, team, algorithm, data);
  }
}

}  // namespace ranktree::core::schedule
