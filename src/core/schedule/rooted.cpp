#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/makers.h"
#include "core/schedule/pieces.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"
#include "core/schedule/trees.h"

namespace ranktree::core::schedule {
namespace {

// The subtrees of a binomial tree over members counted from the root. Each is a cyclic run of members, so two runs of
// blocks where it passes the last member.
class Subtrees {
 public:
  Subtrees(const Team& team, Rank root, const Blocks& blocks)
      : size_(team.size()), root_(root), blocks_(blocks), team_(team.rotated(root)) {}

  [[nodiscard]] const Team& team() const { return team_; }

  // The blocks of `count` members beginning with `member`.
  [[nodiscard]] std::vector<Range> runs(Rank member, Rank count) const {
    const Rank first = (root_ + member) % size_;
    const Rank before_end = std::min(count, size_ - first);
    std::vector<Range> runs{run(first, before_end)};
    if (count > before_end) runs.push_back(run(0, count - before_end));
    return runs;
  }
  [[nodiscard]] std::vector<Range> runs_below(Rank member) const { return runs(member, binomial_span(member, size_)); }
  [[nodiscard]] std::int64_t elements(Rank member, Rank count) const {
    std::int64_t sum = 0;
    for (const Range& run : runs(member, count)) sum += run.count;
    return sum;
  }

  // Ranks other than the root hold a subtree's blocks one after the other from its first member. Returns where the
  // blocks of `child` are in the buffer of `parent`.
  [[nodiscard]] Range place(const Range& buffer, Rank parent, Rank child) const {
    return within(buffer, elements(parent, child - parent), elements(child, binomial_span(child, size_)));
  }

 private:
  [[nodiscard]] Range run(Rank first, Rank count) const {
    const Range begin = blocks_(first);
    const Range last = blocks_(first + count - 1);
    return within(begin, 0, last.first + last.count - begin.first);
  }

  Rank size_;
  Rank root_;
  const Blocks& blocks_;
  Team team_;
};

// A subtree's buffer in the pieces that it exchanges with its parent.
std::vector<Range> pieces(const Subtrees& subtrees, Rank parent, const Range& buffer) {
  if (parent != 0) return {buffer};
  std::vector<Range> cut;
  std::int64_t first = 0;
  for (const Range& run : subtrees.runs_below(subtrees.team().me())) {
    cut.push_back(within(buffer, first, run.count));
    first += run.count;
  }
  return cut;
}

void gather_tree(Builder& builder, const Subtrees& subtrees, const Range& own, const Range& roots) {
  const Team& team = subtrees.team();
  const Node node = node_of(Algorithm::kBinomial, team.me(), team.size());
  if (node.parent < 0) {
    builder.copy(own, roots);
    for (const Rank child : node.children) {
      for (const Range& run : subtrees.runs_below(child)) builder.receive(team.rank(child), run);
    }
    return;
  }
  Range buffer = own;
  if (!node.children.empty()) {
    buffer = builder.scratch(subtrees.elements(team.me(), binomial_span(team.me(), team.size())));
    builder.copy(own, within(buffer, 0, own.count));
  }
  for (const Rank child : node.children) {
    builder.receive(team.rank(child), subtrees.place(buffer, team.me(), child));
  }
  for (const Range& piece : pieces(subtrees, node.parent, buffer)) builder.send(team.rank(node.parent), piece);
}

void scatter_tree(Builder& builder, const Subtrees& subtrees, const Range& roots, const Range& own) {
  const Team& team = subtrees.team();
  const Node node = node_of(Algorithm::kBinomial, team.me(), team.size());
  if (node.parent < 0) {
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      for (const Range& run : subtrees.runs_below(*child)) {
        builder.send_to_child(team.rank(*child), run, binomial_span(*child, team.size()) > 1);
      }
    }
    builder.copy(roots, own);
    return;
  }
  const Range buffer = node.children.empty()
                           ? own
                           : builder.scratch(subtrees.elements(team.me(), binomial_span(team.me(), team.size())));
  for (const Range& piece : pieces(subtrees, node.parent, buffer)) builder.receive(team.rank(node.parent), piece);
  for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
    builder.send_to_child(team.rank(*child), subtrees.place(buffer, team.me(), *child),
                          binomial_span(*child, team.size()) > 1);
  }
  builder.copy(within(buffer, 0, own.count), own);
}

}  // namespace

void gather(Builder& builder, const Team& team, Rank root, Algorithm algorithm, const Range& own,
            const Blocks& blocks) {
  if (algorithm != Algorithm::kFlat) {
    gather_tree(builder, Subtrees(team, root, blocks), own, team.me() == root ? blocks(root) : own);
    return;
  }
  if (team.me() != root) {
    builder.send(team.rank(root), own);
    return;
  }
  builder.copy(own, blocks(root));
  for (Rank step = 1; step < team.size(); ++step) {
    const Rank member = (root + step) % team.size();
    builder.receive(team.rank(member), blocks(member));
  }
}

void scatter(Builder& builder, const Team& team, Rank root, Algorithm algorithm, const Blocks& blocks,
             const Range& own) {
  if (algorithm != Algorithm::kFlat) {
    scatter_tree(builder, Subtrees(team, root, blocks), team.me() == root ? blocks(root) : own, own);
    return;
  }
  if (team.me() != root) {
    builder.receive(team.rank(root), own);
    return;
  }
  for (Rank step = 1; step < team.size(); ++step) {
    const Rank member = (root + step) % team.size();
    builder.send(team.rank(member), blocks(member));
  }
  builder.copy(blocks(root), own);
}

}  // namespace ranktree::core::schedule
