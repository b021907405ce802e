#include "core/objective/few_ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/objective/flows.h"
#include "core/objective/loads.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/simulate/platform.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {
namespace {

using pattern::Rank;
using topo::Leaf;
using topo::Object;

constexpr std::int64_t kMostSteps = 3'000'000;  // placed ranks

// Objects with the same number have the same form: level, children and allowed leaves.
std::vector<int> forms_of(const topo::Tree& tree) {
  std::map<std::vector<int>, int> numbers;
  std::vector<int> forms(at(tree.object_count()));
  for (Object object = tree.object_count() - 1; object >= 0; --object) {
    const bool leaf = tree.child_count(object) == 0;
    std::vector<int> key{tree.level_of(object), leaf && tree.allowed(tree.first_leaf(object)) ? 1 : 0};
    for (int child = 0; child < tree.child_count(object); ++child) {
      key.push_back(forms[at(tree.first_child(object) + child)]);
    }
    forms[at(object)] = numbers.try_emplace(std::move(key), static_cast<int>(numbers.size())).first->second;
  }
  return forms;
}

class ExactSearch {
 public:
  ExactSearch(Loads& loads, const place::Constraints& constraints, const place::Placement& start, Score score,
              const std::function<bool()>& keep_going)
      : loads_(loads),
        tree_(loads.platform().tree()),
        constraints_(constraints),
        keep_going_(keep_going),
        forms_(forms_of(tree_)),
        below_(at(tree_.object_count()), 0),
        best_(start),
        best_score_(score) {}

  place::Placement run() {
    std::vector<std::uint8_t> pinned(at(loads_.flows().ranks()), 0);
    for (const place::Pin& pin : constraints_.pins) {
      pinned[at(pin.rank)] = 1;
      put(pin.rank, pin.leaf);
    }
    for (Rank rank = 0; rank < loads_.flows().ranks(); ++rank) {
      if (pinned[at(rank)] == 0) order_.push_back(rank);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](Rank a, Rank b) { return traffic(a) > traffic(b); });
    extend(0);
    return best_;
  }

 private:
  [[nodiscard]] double traffic(Rank rank) const {
    const auto flows = loads_.flows().of(rank);
    return std::accumulate(flows.begin(), flows.end(), 0.0,
                           [](double sum, const Flow& flow) { return sum + flow.bytes_out + flow.bytes_in; });
  }

  [[nodiscard]] bool go_on() {
    if (++steps_ > kMostSteps) return false;
    if (!stopped_ && steps_ % 1024 == 0 && keep_going_) stopped_ = !keep_going_();
    return !stopped_;
  }

  void extend(std::size_t placed) {
    if (!go_on() || !loads_.grown_score().better_than(best_score_)) return;
    if (placed == order_.size()) {
      best_.leaf_of = loads_.leaves();
      best_score_ = loads_.grown_score();
      return;
    }
    for (const Leaf leaf : promising_leaves(order_[placed])) {
      const Loads::Mark before = loads_.mark();
      put(order_[placed], leaf);
      extend(placed + 1);
      count(leaf, -1);
      loads_.undo_to(before);
    }
  }

  // Those that do not exclude a better placement, the best first.
  std::vector<Leaf> promising_leaves(Rank rank) {
    std::vector<Leaf> leaves;
    collect(0, leaves);
    std::vector<std::pair<Score, Leaf>> promising;
    for (const Leaf leaf : leaves) {
      if (!go_on()) break;
      const Loads::Mark before = loads_.mark();
      loads_.move(rank, leaf);
      const Score score = loads_.grown_score();
      if (score.better_than(best_score_)) promising.emplace_back(score, leaf);
      loads_.undo_to(before);
    }
    std::stable_sort(promising.begin(), promising.end(), [](const auto& a, const auto& b) {
      return a.first.seconds != b.first.seconds ? a.first.seconds < b.first.seconds
                                                : a.first.hop_bytes < b.first.hop_bytes;
    });
    leaves.clear();
    for (const auto& [score, leaf] : promising) leaves.push_back(leaf);
    return leaves;
  }

  void put(Rank rank, Leaf leaf) {
    loads_.move(rank, leaf);
    count(leaf, 1);
  }

  void count(Leaf leaf, int change) {
    for (Object object = tree_.leaf_object(leaf); object >= 0; object = tree_.parent(object)) {
      below_[at(object)] += change;
    }
  }

  // The leaves for the next rank, one of those that are alike.
  void collect(Object object, std::vector<Leaf>& leaves) const {
    if (tree_.child_count(object) == 0) {
      const Leaf leaf = tree_.first_leaf(object);
      if (tree_.allowed(leaf) && below_[at(object)] < constraints_.capacity) leaves.push_back(leaf);
      return;
    }
    const bool nodes_differ =
        tree_.interconnect() != nullptr && tree_.level(tree_.level_of(object)).kind < topo::Kind::kNode;
    std::vector<int> seen;
    for (int child = 0; child < tree_.child_count(object); ++child) {
      const Object each = tree_.first_child(object) + child;
      if (below_[at(each)] == 0 && !nodes_differ) {
        if (std::find(seen.begin(), seen.end(), forms_[at(each)]) != seen.end()) continue;
        seen.push_back(forms_[at(each)]);
      }
      collect(each, leaves);
    }
  }

  Loads& loads_;
  const topo::Tree& tree_;
  const place::Constraints& constraints_;
  const std::function<bool()>& keep_going_;
  std::vector<int> forms_;
  std::vector<int> below_;  // ranks by object
  std::vector<Rank> order_;
  place::Placement best_;
  Score best_score_;
  std::int64_t steps_ = 0;
  bool stopped_ = false;
};

}  // namespace

place::Placement best_of_few(const simulate::Platform& platform, const Flows& flows, bool waiting,
                             const place::Constraints& constraints, const place::Placement& start,
                             const std::function<bool()>& keep_going) {
  const Score score = Loads(platform, flows, waiting, start).score();
  Loads loads(platform, flows, waiting);
  return ExactSearch(loads, constraints, start, score, keep_going).run();
}

}  // namespace ranktree::core::objective
