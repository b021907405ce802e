#include "core/schedule/bundles.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/schedule/bits.h"
#include "core/schedule/builder.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/levels.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {
namespace {

bool follows(const Range& before, const Range& after) {
  return before.buffer == after.buffer && before.first + before.count == after.first;
}

void append(Pieces& pieces, const Range& more) {
  if (!pieces.empty() && follows(pieces.back(), more)) {
    pieces.back().count += more.count;
  } else {
    pieces.push_back(more);
  }
}
void append(Pieces& pieces, const Pieces& more) {
  for (const Range& piece : more) append(pieces, piece);
}

// All children move bundles by the same distance at once: those whose destination child is `offset` children further.
struct Round {
  Rank distance = 0;
  std::vector<Rank> offsets;
  // How far bundles have moved in earlier rounds: by the bits below the distance; not at all in the flat exchange.
  [[nodiscard]] Rank moved(Rank offset) const { return offset % distance; }
};

std::vector<Round> rounds_of(Algorithm algorithm, Rank children) {
  std::vector<Round> rounds;
  const bool direct = algorithm == Algorithm::kFlat;
  for (Rank distance = 1; distance < children; distance = direct ? distance + 1 : 2 * distance) {
    Round round{.distance = distance, .offsets = {}};
    for (Rank offset = distance; offset < (direct ? distance + 1 : children); ++offset) {
      if (direct || has_bit(offset, distance)) round.offsets.push_back(offset);
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

class LevelExchange {
 public:
  LevelExchange(const Levels& levels, const Carriers& carriers, int level, bool to_output)
      : levels_(levels),
        hierarchy_(levels.hierarchy),
        carriers_(carriers),
        level_(level),
        group_(levels.view.group(level)),
        children_(levels.view.children(level)),
        me_(levels.view.team(level).me()),
        position_(levels.hierarchy.position_of(levels.view.rank())),
        to_output_(to_output && level == 0 && levels.hierarchy.in_rank_order()),
        towards_(at(children_)) {}

  void run(std::vector<Pieces>& held) {
    take(held);
    for (const Round& round : rounds_of(levels_.algorithm(level_), children_)) {
      send(round);
      receive(round);
    }
    give(held);
  }

 private:
  // The blocks of one child for one destination.
  using Bundle = std::pair<Rank, std::int32_t>;

  [[nodiscard]] Rank around(Rank child) const { return (child % children_ + children_) % children_; }
  [[nodiscard]] std::int32_t object(Rank child) const { return hierarchy_.first_child(level_, group_) + child; }
  [[nodiscard]] std::int32_t begin_of(Rank child) const { return hierarchy_.first_position(level_, object(child)); }

  void take(std::vector<Pieces>& held) {
    for (std::int32_t to = 0; to < hierarchy_.ranks(); ++to) {
      if (held[at(to)].empty()) continue;
      towards_[at(carriers_.towards(level_, group_, to))].push_back(to);
      bundles_[{me_, to}] = std::exchange(held[at(to)], {});
    }
  }

  // What the carriers of one child, one of which is this rank or its partner, pass on in a round; the same on both
  // sides.
  template <class Act>
  void each_bundle(const Round& round, Rank sender, Act act) const {
    for (const Rank offset : round.offsets) {
      const Rank origin = around(sender - round.moved(offset));
      for (const std::int32_t to : towards_[at(around(origin + offset))]) act(Bundle{origin, to});
    }
  }

  void send(const Round& round) {
    std::map<std::int32_t, Pieces> messages;
    const std::int32_t receiver = object(around(me_ + round.distance));
    each_bundle(round, me_, [&](const Bundle& bundle) {
      const auto found = bundles_.find(bundle);
      append(messages[carriers_.position(level_, receiver, bundle.second)], found->second);
      bundles_.erase(found);
    });
    for (const auto& [to, pieces] : messages) {
      levels_.builder.send(hierarchy_.rank_at(to), joined(levels_.builder, pieces));
    }
  }

  void receive(const Round& round) {
    std::map<std::int32_t, std::vector<Bundle>> messages;
    const Rank sender = around(me_ - round.distance);
    each_bundle(round, sender, [&](const Bundle& bundle) {
      messages[carriers_.position(level_, object(sender), bundle.second)].push_back(bundle);
    });
    for (const auto& [from, bundles] : messages) accept(hierarchy_.rank_at(from), bundles);
  }

  void accept(Rank from, const std::vector<Bundle>& bundles) {
    std::int64_t total = 0;
    for (const Bundle& bundle : bundles) total += elements(bundle.first);
    const bool own = to_output_ && bundles.size() == 1 && bundles[0].second == position_;
    Range rest = own ? Range{Buffer::kOutput, begin_of(bundles[0].first) * levels_.request.count, total}
                     : levels_.builder.scratch(total);
    levels_.builder.receive(from, rest);
    for (const Bundle& bundle : bundles) {
      const std::int64_t count = elements(bundle.first);
      bundles_[bundle] = {within(rest, 0, count)};
      rest = within(rest, count, rest.count - count);
    }
  }

  // The elements that all ranks below a child have for one destination.
  [[nodiscard]] std::int64_t elements(Rank child) const {
    return (hierarchy_.first_position(level_, object(child) + 1) - begin_of(child)) * levels_.request.count;
  }

  void give(std::vector<Pieces>& held) {
    for (const auto& [bundle, pieces] : bundles_) append(held[at(bundle.second)], pieces);
  }

  const Levels& levels_;
  const Hierarchy& hierarchy_;
  const Carriers& carriers_;
  int level_;
  std::int32_t group_;
  Rank children_;
  Rank me_;
  std::int32_t position_;
  bool to_output_;
  std::vector<std::vector<std::int32_t>> towards_;  // by child: destinations that this rank carries for
  std::map<Bundle, Pieces> bundles_;                // those that this rank holds now
};

}  // namespace

Range joined(Builder& builder, const Pieces& pieces) {
  if (pieces.size() == 1) return pieces[0];
  std::int64_t total = 0;
  for (const Range& piece : pieces) total += piece.count;
  const Range packed = builder.scratch(total);
  std::int64_t first = 0;
  for (const Range& piece : pieces) {
    builder.copy(piece, within(packed, first, piece.count));
    first += piece.count;
  }
  return packed;
}

Carriers::Carriers(const Hierarchy& hierarchy, bool leaders)
    : hierarchy_(hierarchy), leaders_(leaders), lanes_(at(hierarchy.levels())) {
  std::vector<std::int32_t> objects(at(hierarchy.ranks()));
  for (std::size_t i = 0; i < objects.size(); ++i) objects[i] = static_cast<std::int32_t>(i);
  for (int level = hierarchy.levels() - 1; level >= 0; --level) {
    auto& lanes = lanes_[at(level)];
    lanes.reserve(objects.size());
    for (std::int32_t& object : objects) {
      const std::int32_t group = hierarchy.group_of(level, object);
      lanes.push_back(object - hierarchy.first_child(level, group));
      object = group;
    }
  }
}

std::int32_t Carriers::position(int level, std::int32_t child, std::int32_t to) const {
  for (int below = level + 1; below < hierarchy_.levels(); ++below) {
    const Rank lane = leaders_ ? 0 : this->lane(below, to) % hierarchy_.children(below, child);
    child = hierarchy_.first_child(below, child) + lane;
  }
  return child;
}

void exchange_bundles(const Levels& levels, const Carriers& carriers, int level, bool to_output,
                      std::vector<Pieces>& held) {
  LevelExchange(levels, carriers, level, to_output).run(held);
}

void deliver(const Levels& levels, const Pieces& pieces, const Range& into) {
  const Hierarchy& hierarchy = levels.hierarchy;
  const std::int64_t size = levels.request.count;
  std::int32_t position = 0;
  for (const Range& piece : pieces) {
    const auto end = static_cast<std::int32_t>(position + piece.count / size);
    const std::int32_t begin = position;
    while (position < end) {
      const std::int32_t from = position;
      const Rank rank = hierarchy.rank_at(from);
      while (position < end && hierarchy.rank_at(position) == rank + position - from) ++position;
      const std::int64_t count = (position - from) * size;
      levels.builder.copy(within(piece, (from - begin) * size, count), within(into, rank * size, count));
    }
  }
}

}  // namespace ranktree::core::schedule
