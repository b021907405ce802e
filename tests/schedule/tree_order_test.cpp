// Which schedules combine in the order of reproducible reductions: every schedule that claims to is carried out on
// expressions, and must produce the expression that this file builds independently.
#include "core/schedule/tree_order.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::schedule {
namespace {

// An element is the sum it stands for: "3" is rank 3's operand, "(0 1)" what 0 and 1 are combined to.
using Elements = std::vector<std::string>;

// Carries out all programs, each as far as possible before the next one continues. Sends do not wait: the data sent
// does not depend on the time.
class Machine {
 public:
  Machine(const Request& request, const Schedule& schedule) : schedule_(schedule), next_(schedule.size()) {
    const std::int64_t blocks = request.collective == Collective::kReduceScatter ? request.ranks : 1;
    for (const Program& program : schedule) {
      buffers_.push_back({Elements(size(request.count * blocks), std::to_string(program.rank)),
                          Elements(size(request.count)), Elements(size(program.scratch))});
    }
  }

  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
        while (next_[rank] < schedule_[rank].steps.size() && step(rank)) moved = true;
      }
    }
  }

  [[nodiscard]] const Elements& output(Rank rank) const { return buffers_[static_cast<std::size_t>(rank)][1]; }
  [[nodiscard]] bool ended() const {
    for (std::size_t rank = 0; rank < schedule_.size(); ++rank) {
      if (next_[rank] < schedule_[rank].steps.size()) return false;
    }
    return true;
  }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  std::string& at(std::size_t rank, const Range& range, std::int64_t i) {
    return buffers_[rank][static_cast<std::size_t>(range.buffer)][size(range.first + i)];
  }

  bool step(std::size_t rank) {
    const Step& step = schedule_[rank].steps[next_[rank]];
    const auto me = static_cast<Rank>(rank);
    if (step.action == Action::kReceive) {
      auto& queue = messages_[{step.peer, me}];
      if (queue.empty()) return false;
      for (std::int64_t i = 0; i < step.into.count; ++i) at(rank, step.into, i) = queue.front()[size(i)];
      queue.pop_front();
    } else if (step.action == Action::kSend) {
      Elements message;
      for (std::int64_t i = 0; i < step.from.count; ++i) message.push_back(at(rank, step.from, i));
      messages_[{me, step.peer}].push_back(std::move(message));
    } else {
      for (std::int64_t i = 0; i < step.from.count; ++i) {
        const std::string& from = at(rank, step.from, i);
        std::string& into = at(rank, step.into, i);
        into = step.action == Action::kCopy ? from : "(" + from + " " + into + ")";
      }
    }
    ++next_[rank];
    return true;
  }

  const Schedule& schedule_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<Elements>> buffers_;
  std::map<std::pair<Rank, Rank>, std::deque<Elements>> messages_;
};

// The order as the header describes it: pairs until a power of two is left, then neighbours.
std::string expected(Rank ranks) {
  Rank power = 1;
  while (2 * power <= ranks) power *= 2;
  const Rank pairs = ranks - power;
  std::vector<std::string> left;
  for (Rank i = 0; i < pairs; ++i) left.push_back("(" + std::to_string(2 * i) + " " + std::to_string(2 * i + 1) + ")");
  for (Rank rank = 2 * pairs; rank < ranks; ++rank) left.push_back(std::to_string(rank));
  while (left.size() > 1) {
    std::vector<std::string> half;
    for (std::size_t i = 0; i + 1 < left.size(); i += 2) half.push_back("(" + left[i] + " " + left[i + 1] + ")");
    left = half;
  }
  return left[0];
}

// The first element that is combined in another order; empty where there is none.
std::string other_order(const Request& request, const Schedule& schedule) {
  Machine machine(request, schedule);
  machine.run();
  if (!machine.ended()) return "not ended";
  const std::string wanted = expected(request.ranks);
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    if (request.collective == Collective::kReduce && rank != request.root) continue;
    for (const std::string& element : machine.output(rank)) {
      if (element != wanted) return element;
    }
  }
  return "";
}

constexpr Collective kReductions[] = {Collective::kReduce, Collective::kAllreduce, Collective::kReduceScatter};

Request request_of(Collective collective, Rank ranks, Rank root, std::int64_t count) {
  return {.collective = collective, .ranks = ranks, .root = root, .count = count, .commutative = false};
}

TEST(TreeOrder, IsWrittenDownForSmallNumbers) {
  EXPECT_EQ(expected(1), "0");
  EXPECT_EQ(expected(3), "((0 1) 2)");
  EXPECT_EQ(expected(5), "(((0 1) 2) (3 4))");
  EXPECT_EQ(expected(8), "(((0 1) (2 3)) ((4 5) (6 7)))");
}

// Ragged counts: Rabenseifner's halves are then of different sizes.
TEST(TreeOrder, EveryAlgorithmThatKeepsItDoes) {
  for (const Collective collective : kReductions) {
    int kept = 0;
    for (const Algorithm algorithm : algorithms_of(collective)) {
      if (!keeps_tree_order(collective, algorithm)) continue;
      ++kept;
      for (Rank ranks = 1; ranks <= 33; ++ranks) {
        for (const Rank root : {Rank{0}, ranks / 2, ranks - 1}) {
          for (const std::int64_t segment : {0, 3}) {
            const Request request = request_of(collective, ranks, root, 5);
            const std::int64_t size = collective == Collective::kReduceScatter ? 0 : segment;
            EXPECT_EQ(other_order(request, make_all(request, {algorithm, size})), "")
                << collective_name(collective) << " by " << algorithm_name(algorithm) << ", root " << root;
          }
        }
      }
    }
    EXPECT_GE(kept, 1) << collective_name(collective);
  }
}

// Otherwise a faster algorithm would be refused without need, and the test above could not fail.
TEST(TreeOrder, EveryOtherAlgorithmDoesNot) {
  for (const Collective collective : kReductions) {
    for (const Algorithm algorithm : algorithms_of(collective)) {
      if (keeps_tree_order(collective, algorithm) || !keeps_rank_order(collective, algorithm)) continue;
      bool differs = false;
      for (Rank ranks = 2; ranks <= 9; ++ranks) {
        const Request request = request_of(collective, ranks, 0, 5);
        differs = differs || !other_order(request, make_all(request, {algorithm, 0})).empty();
      }
      EXPECT_TRUE(differs) << collective_name(collective) << " by " << algorithm_name(algorithm);
    }
  }
}

TEST(TreeOrder, IsKeptByAllThatCombinesNothing) {
  EXPECT_TRUE(keeps_tree_order(Collective::kBroadcast, Algorithm::kPipeline));
  EXPECT_TRUE(keeps_tree_order(Collective::kAllgather, Hierarchy::grouped(8, 3), {Form::kLeaders, {Algorithm::kRing}}));
}

// Groups of so many consecutive ranks.
Hierarchy with_sizes(const std::vector<Rank>& sizes) {
  std::vector<std::int32_t> colours;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    colours.insert(colours.end(), static_cast<std::size_t>(sizes[group]), static_cast<std::int32_t>(group));
  }
  const std::vector<std::vector<std::int32_t>> levels = {colours};
  return Hierarchy::from_colours(levels);
}

// Compares the answer for a composition on groups with what its schedule does.
void expect_right_answer(Collective collective, const Hierarchy& hierarchy, const Composition& composition,
                         bool* kept) {
  const Request request = request_of(collective, hierarchy.ranks(), 0, 3);
  if (!keeps_rank_order(collective, hierarchy, composition)) {
    EXPECT_FALSE(keeps_tree_order(collective, hierarchy, composition));
    return;
  }
  const std::string other = other_order(request, transform_all(request, hierarchy, composition));
  const bool claimed = keeps_tree_order(collective, hierarchy, composition);
  if (claimed) *kept = true;
  EXPECT_TRUE(!claimed || other.empty()) << collective_name(collective) << ", " << hierarchy.ranks()
                                         << " ranks: " << other;
}

TEST(TreeOrder, LevelsKeepItWhereTheCheckerClaimsSo) {
  const std::vector<std::vector<Rank>> shapes = {
      {4, 4, 4, 4}, {4, 4, 4, 3},    {2, 2, 2}, {3, 3}, {4, 4, 4}, {8, 8, 8}, {1, 2, 2}, {2, 1, 2},
      {2, 2, 1},    {5, 5, 5, 5, 5}, {2, 3},    {3, 2}, {6, 6, 6}, {1, 4},    {4, 1},    {2, 2}};
  for (const Collective collective : {Collective::kReduce, Collective::kAllreduce}) {
    for (const Form form : forms_of(collective)) {
      for (const Algorithm algorithm :
           {Algorithm::kRabenseifner, Algorithm::kRecursiveDoubling, Algorithm::kBinomial, Algorithm::kChain}) {
        bool kept = false;
        for (const std::vector<Rank>& sizes : shapes) {
          expect_right_answer(collective, with_sizes(sizes), {form, {algorithm}}, &kept);
        }
        EXPECT_EQ(kept, form != Form::kLanes) << form_name(form) << " " << algorithm_name(algorithm);
      }
    }
  }
}

// The case that matters: every node has the same number of ranks, a power of two, packed.
TEST(TreeOrder, IsKeptByLeadersOfEqualNodes) {
  for (const Rank size : {2, 4, 8}) {
    for (Rank groups = 2; groups <= 7; ++groups) {
      const Hierarchy nodes = Hierarchy::grouped(groups * size, groups);
      EXPECT_TRUE(keeps_tree_order(Collective::kReduce, nodes, {Form::kLeaders, {Algorithm::kRabenseifner}}));
      EXPECT_TRUE(keeps_tree_order(Collective::kAllreduce, nodes, {Form::kLeaders, {Algorithm::kRabenseifner}}));
    }
  }
}

TEST(TreeOrder, IsLostRoundRobin) {
  const std::vector<std::vector<std::int32_t>> levels = {{0, 1, 0, 1}};
  const Hierarchy dealt = Hierarchy::from_colours(levels);
  EXPECT_FALSE(keeps_tree_order(Collective::kReduce, dealt, {Form::kLeaders, {Algorithm::kRabenseifner}}));
}

}  // namespace
}  // namespace ranktree::core::schedule
