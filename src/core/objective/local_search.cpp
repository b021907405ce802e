#include "core/objective/local_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/objective/flows.h"
#include "core/objective/loads.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::objective {
namespace {

using pattern::Rank;
using topo::Leaf;

constexpr Leaf kSmall = 32;               // leaves of a machine of which each rank tries all
constexpr int kPeers = 4;                 // of a rank: it tries leaves near its heaviest peers
constexpr int kNearPeer = 4;              // so many each
constexpr int kAnywhere = 4;              // leaves it tries besides
constexpr double kHot = 0.9;              // share of the largest load from which a link is hot
constexpr double kLess = 1 - 1e-9;        // factor of a number that is less by more than rounding
constexpr std::int64_t kSteps = 100'000;  // changed pairs, and as many as a third of the pairs there are
constexpr int kPasses = 50;
constexpr std::int64_t kLooks = 8;  // pairs that are looked at for the heat of the ranks count as one changed pair

class Search {
 public:
  Search(Loads& loads, const LocalSearch& options)
      : loads_(loads),
        tree_(loads.platform().tree()),
        options_(options),
        random_(options.seed),
        steps_left_(kSteps + static_cast<std::int64_t>(loads.flows().size()) / 3),
        ranks_on_(at(tree_.leaf_count())),
        pinned_(at(loads.flows().ranks()), 0) {
    for (Rank rank = 0; rank < loads.flows().ranks(); ++rank) ranks_on_[at(loads.leaf_of(rank))].push_back(rank);
    for (const place::Pin& pin : options.constraints.pins) pinned_[at(pin.rank)] = 1;
    for (Leaf leaf = 0; leaf < tree_.leaf_count(); ++leaf) {
      if (tree_.allowed(leaf)) leaves_.push_back(leaf);
    }
  }

  void run() {
    for (int pass = 0; pass < kPasses && relieve_hot_ranks() && go_on(); ++pass) {
    }
    if (tree_.leaf_count() > kSmall) return;
    for (int pass = 0; pass < kPasses && lower_score() && go_on(); ++pass) {
    }
  }

 private:
  struct Trial {
    Leaf leaf = -1;
    Rank other = -1;  // the rank that moves back; -1: a free slot
    double pressure = std::numeric_limits<double>::infinity();
    double hop_bytes = 0;

    [[nodiscard]] bool better_than(const Trial& best) const {
      if (pressure < best.pressure * kLess) return true;
      return pressure * kLess <= best.pressure && hop_bytes < best.hop_bytes * kLess;
    }
  };

  [[nodiscard]] bool go_on() {
    if (stopped_ || steps_left_ <= 0) return false;
    if (++questions_ % 256 == 0 && options_.keep_going) stopped_ = !options_.keep_going();
    return !stopped_;
  }

  // One pass over the ranks, the hottest first. False where none improved.
  bool relieve_hot_ranks() {
    loads_.rescale();
    steps_left_ -= static_cast<std::int64_t>(loads_.flows().size()) / kLooks;
    const std::vector<double> heat = loads_.heat(kHot);
    std::vector<Rank> order;
    for (Rank rank = 0; rank < loads_.flows().ranks(); ++rank) {
      if (heat[at(rank)] > 0 && pinned_[at(rank)] == 0) order.push_back(rank);
    }
    std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return heat[at(a)] > heat[at(b)]; });
    bool improved = false;
    for (const Rank rank : order) {
      if (!go_on()) break;
      if (relieve(rank)) improved = true;
    }
    return improved;
  }

  bool relieve(Rank rank) {
    Trial best{.pressure = loads_.pressure(), .hop_bytes = loads_.hop_bytes()};
    for (const Leaf leaf : targets(rank)) {
      Trial trial{.leaf = leaf, .other = partner_on(leaf)};
      if (!may_go(rank, trial)) continue;
      const Loads::Mark before = loads_.mark();
      apply(rank, trial);
      trial.pressure = loads_.pressure();
      trial.hop_bytes = loads_.hop_bytes();
      loads_.undo_to(before);
      if (trial.better_than(best)) best = trial;
    }
    if (best.leaf < 0) return false;
    keep(rank, best);
    return true;
  }

  // One pass over all ranks and leaves by the true score. False where nothing improved.
  bool lower_score() {
    bool improved = false;
    Score best = loads_.score();
    for (Rank rank = 0; rank < loads_.flows().ranks(); ++rank) {
      if (pinned_[at(rank)] != 0) continue;
      for (const Leaf leaf : leaves_) {
        const Trial trial{.leaf = leaf, .other = partner_on(leaf)};
        if (!may_go(rank, trial)) continue;
        if (!go_on()) return false;
        const Loads::Mark before = loads_.mark();
        apply(rank, trial);
        const Score score = loads_.score();
        loads_.undo_to(before);
        if (!score.better_than(best)) continue;
        keep(rank, trial);
        best = score;
        improved = true;
      }
    }
    return improved;
  }

  void apply(Rank rank, const Trial& trial) {
    steps_left_ -= static_cast<std::int64_t>(loads_.flows().of(rank).size()) + 1;
    if (trial.other < 0) return loads_.move(rank, trial.leaf);
    steps_left_ -= static_cast<std::int64_t>(loads_.flows().of(trial.other).size());
    loads_.exchange(rank, trial.other);
  }

  void keep(Rank rank, const Trial& trial) {
    const Leaf from = loads_.leaf_of(rank);
    apply(rank, trial);
    loads_.commit();
    std::erase(ranks_on_[at(from)], rank);
    ranks_on_[at(trial.leaf)].push_back(rank);
    if (trial.other < 0) return;
    std::erase(ranks_on_[at(trial.leaf)], trial.other);
    ranks_on_[at(from)].push_back(trial.other);
  }

  // A free slot where there is one, else a rank of the leaf.
  Rank partner_on(Leaf leaf) {
    const std::vector<Rank>& there = ranks_on_[at(leaf)];
    if (std::cmp_less(there.size(), options_.constraints.capacity)) return -1;
    return there[random_.below(there.size())];
  }

  [[nodiscard]] bool may_go(Rank rank, const Trial& trial) const {
    if (trial.leaf == loads_.leaf_of(rank)) return false;
    return trial.other < 0 || pinned_[at(trial.other)] == 0;
  }

  // The leaves that a rank tries.
  [[nodiscard]] std::vector<Leaf> targets(Rank rank) {
    if (tree_.leaf_count() <= kSmall) return leaves_;
    std::vector<Leaf> found;
    for (const Rank peer : heaviest_peers(rank)) {
      const topo::Object node = tree_.node_of(loads_.leaf_of(peer));
      const topo::Object near = node >= 0 ? node : tree_.parent(tree_.leaf_object(loads_.leaf_of(peer)));
      for (int i = 0; i < kNearPeer; ++i) {
        const auto offset = static_cast<Leaf>(random_.below(static_cast<std::uint64_t>(tree_.leaves_below(near))));
        found.push_back(tree_.first_leaf(near) + offset);
      }
    }
    for (int i = 0; i < kAnywhere; ++i) found.push_back(leaves_[random_.below(leaves_.size())]);
    std::erase_if(found, [&](Leaf leaf) { return !tree_.allowed(leaf); });
    return found;
  }

  [[nodiscard]] std::vector<Rank> heaviest_peers(Rank rank) const {
    std::vector<std::pair<double, Rank>> bytes;  // of all phases, by peer
    for (const Flow& flow : loads_.flows().of(rank)) {
      if (bytes.empty() || bytes.back().second != flow.peer) bytes.emplace_back(0, flow.peer);
      bytes.back().first += flow.bytes_out + flow.bytes_in;
    }
    const std::size_t count = std::min(bytes.size(), std::size_t{kPeers});
    std::partial_sort(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end(),
        [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    std::vector<Rank> peers;
    peers.reserve(count);
    for (std::size_t i = 0; i < count; ++i) peers.push_back(bytes[i].second);
    return peers;
  }

  Loads& loads_;
  const topo::Tree& tree_;
  const LocalSearch& options_;
  Random random_;
  std::int64_t steps_left_;
  std::vector<std::vector<Rank>> ranks_on_;  // by leaf
  std::vector<std::uint8_t> pinned_;
  std::vector<Leaf> leaves_;  // allowed ones
  std::uint64_t questions_ = 0;
  bool stopped_ = false;
};

}  // namespace

void search(Loads& loads, const LocalSearch& options) { Search(loads, options).run(); }

}  // namespace ranktree::core::objective
