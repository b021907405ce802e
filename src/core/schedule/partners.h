// Algorithms that need a power of two ranks: each rank beyond it first passes its operand to a neighbour.
#pragma once

#include <cstdint>
#include <optional>

#include "core/schedule/bits.h"
#include "core/schedule/builder.h"
#include "core/schedule/schedule.h"
#include "core/schedule/team.h"

namespace ranktree::core::schedule {

// Members 2i and 2i+1 for i < size - power() become one partner, so that partners stay in the order of their ranks. The
// second drops out, or the first where the second is `kept`, the root.
class Partners {
 public:
  explicit Partners(const Team& team, Rank kept = 0)
      : team_(team), power_(power_of_two_in(team.size())), pairs_(team.size() - power_), kept_(kept) {}

  [[nodiscard]] Rank power() const { return power_; }
  // This rank's number among the partners; the number of its neighbour when this rank drops out.
  [[nodiscard]] Rank me() const { return number(team_.me()); }
  [[nodiscard]] bool aside() const { return stands_aside(team_.me()); }
  [[nodiscard]] bool has_neighbour() const { return team_.me() < 2 * pairs_; }
  [[nodiscard]] Rank neighbour() const { return team_.rank(across(team_.me(), 1)); }
  [[nodiscard]] Rank number(Rank member) const { return member < 2 * pairs_ ? member / 2 : member - pairs_; }
  [[nodiscard]] Rank rank(Rank partner) const {
    if (partner >= pairs_) return team_.rank(partner + pairs_);
    return team_.rank(stands_aside(2 * partner) ? 2 * partner + 1 : 2 * partner);
  }
  // True when the neighbour that drops out is the lower of the two.
  [[nodiscard]] bool neighbour_is_lower() const { return team_.me() % 2 == 1; }

 private:
  [[nodiscard]] bool stands_aside(Rank member) const {
    if (member >= 2 * pairs_) return false;
    return kept_ / 2 == member / 2 ? member != kept_ : member % 2 == 1;
  }

  Team team_;
  Rank power_;
  Rank pairs_;
  Rank kept_;
};

// A partial result that is combined with one partner's after the other's. A reduction writes into its right operand, so
// the result moves between the target and a second buffer of the same shape. It finishes in the target if the number of
// moves is known beforehand.
class Moving {
 public:
  // `operand` may be written only if it is the target. `moves` counts the calls of append() and of prepend() on an
  // operand that may not be written.
  Moving(Builder& builder, const Range& operand, const Range& target, int moves)
      : builder_(builder), held_(operand), whole_(operand), target_(target), moves_(moves) {}

  // The part that begins at element `first` of the operand.
  [[nodiscard]] Range part(std::int64_t first, std::int64_t count) const { return at(held_, first, count); }
  [[nodiscard]] bool writable() const { return held_ == target_ || in_spare_; }

  // Receives elements of higher ranks from `peer` and combines them with this rank's.
  void append(Rank peer, std::int64_t first, std::int64_t count) {
    const Range next = move();
    builder_.receive(peer, at(next, first, count));
    builder_.reduce(part(first, count), at(next, first, count));
    hold(next);
  }

  // Receives elements of lower ranks from `peer` and combines them with this rank's.
  void prepend(Rank peer, std::int64_t first, std::int64_t count) {
    const Range arrived = at(allocated(arrival_), first, count);
    builder_.receive(peer, arrived);
    if (!writable()) {
      const Range next = move();
      builder_.copy(part(first, count), at(next, first, count));
      hold(next);
    }
    builder_.reduce(arrived, part(first, count));
  }

  // Moves the part into the target if it is not there.
  void finish(std::int64_t first, std::int64_t count) {
    builder_.copy(part(first, count), at(target_, first, count));
    held_ = target_;
  }

 private:
  static Range at(const Range& whole, std::int64_t first, std::int64_t count) { return within(whole, first, count); }

  const Range& allocated(std::optional<Range>& buffer) {
    if (!buffer) buffer = builder_.scratch(whole_.count);
    return *buffer;
  }

  void hold(const Range& next) {
    held_ = next;
    in_spare_ = next != target_;
  }

  Range move() {
    const bool to_target = moves_-- % 2 != 0;
    if (held_ == target_) return allocated(spare_);
    return in_spare_ || to_target ? target_ : allocated(spare_);
  }

  Builder& builder_;
  Range held_;
  Range whole_;
  Range target_;
  int moves_;
  bool in_spare_ = false;
  std::optional<Range> spare_;
  std::optional<Range> arrival_;
};

}  // namespace ranktree::core::schedule
