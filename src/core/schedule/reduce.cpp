#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {
namespace {

// Where the operands of a node arrive one after the other. A reduction writes into its right operand, so the partial
// result moves from buffer to buffer; with three of them the next operand can arrive while two are combined. The last
// buffer is the target, so that nothing is copied.
class Landing {
 public:
  Landing(Builder& builder, std::size_t count, const Range& target)
      : builder_(builder), left_(count), target_(target) {}

  // The buffer for the next operand; `busy` still holds the partial result.
  Range next(const std::optional<Range>& busy) {
    --left_;
    if (left_ == 0 && !(busy && overlap(*busy, target_))) return target_;
    std::optional<Range>& buffer = buffers_[next_];
    next_ = (next_ + 1) % buffers_.size();
    if (!buffer) buffer = builder_.scratch(target_.count);
    return *buffer;
  }

 private:
  Builder& builder_;
  std::size_t left_;
  Range target_;
  std::array<std::optional<Range>, 3> buffers_;
  std::size_t next_ = 0;
};

std::vector<Rank> ranks_of(const Team& team, Rank first, Rank end) {
  std::vector<Rank> ranks;
  for (Rank member = first; member < end; ++member) ranks.push_back(team.rank(member));
  return ranks;
}

// In rank order for any root: the root receives the operands in rank order.
Range reduce_flat(Builder& builder, const Team& team, Rank root, const Range& operand, const Range& target) {
  if (team.me() != root) {
    builder.send(team.rank(root), operand);
    return operand;
  }
  return combine(builder, {ranks_of(team, 0, root), operand, ranks_of(team, root + 1, team.size())}, target);
}

// Up a tree rooted at member 0.
Range reduce_tree(Builder& builder, const Team& team, Algorithm tree, const Range& operand, const Range& target) {
  const Node node = node_of(tree, team.me(), team.size());
  Operands operands{.lower = {}, .own = operand, .higher = {}};
  for (const Rank child : node.children) operands.higher.push_back(team.rank(child));
  const bool partial = node.parent >= 0 && !operands.higher.empty();
  const Range result = combine(builder, operands, partial ? builder.scratch(operand.count) : target);
  if (node.parent >= 0) builder.send(team.rank(node.parent), result);
  return result;
}

// Rank order needs the lowest rank at the tree's root, which then sends the result to the operation's root.
Range reduce_tree_in_order(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand,
                           const Range& target) {
  const bool leads = team.me() == 0;
  if (reduction.root == 0) return reduce_tree(builder, team, reduction.algorithm, operand, target);
  const Range place = leads ? builder.scratch(operand.count) : target;
  const Range result = reduce_tree(builder, team, reduction.algorithm, operand, place);
  if (leads) builder.send(team.rank(reduction.root), result);
  if (team.me() != reduction.root) return result;
  builder.receive(team.rank(0), target);
  return target;
}

}  // namespace

Range combine(Builder& builder, const Operands& operands, const Range& target) {
  const std::size_t own =
      operands.lower.empty() ? 0 : 1;  // 1 if the own operand must first be copied to writable elements
  if (operands.lower.empty() && operands.higher.empty()) return operands.own;
  Landing landing(builder, operands.lower.size() + own + operands.higher.size(), target);
  std::optional<Range> partial;
  const auto append = [&](const Range& next) {
    if (partial) builder.reduce(*partial, next);
    partial = next;
  };
  for (const Rank rank : operands.lower) {
    const Range place = landing.next(partial);
    builder.receive(rank, place);
    append(place);
  }
  if (own == 0) {
    partial = operands.own;
  } else {
    const Range place = landing.next(partial);
    builder.copy(operands.own, place);
    append(place);
  }
  for (const Rank rank : operands.higher) {
    const Range place = landing.next(partial);
    builder.receive(rank, place);
    append(place);
  }
  builder.copy(partial.value_or(operands.own), target);
  return target;
}

Range reduce(Builder& builder, const Team& team, const Reduction& reduction, const Range& operand,
             const Range& target) {
  if (team.size() == 1) return operand;
  if (reduction.algorithm == Algorithm::kRabenseifner) {
    return reduce_halving(builder, team, reduction, operand, target);
  }
  if (!reduction.in_order) {
    return reduce_tree(builder, team.rotated(reduction.root), reduction.algorithm, operand, target);
  }
  if (reduction.algorithm == Algorithm::kFlat) return reduce_flat(builder, team, reduction.root, operand, target);
  return reduce_tree_in_order(builder, team, reduction, operand, target);
}

}  // namespace ranktree::core::schedule
