#include "mpi/collect/cell.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/predict/candidates.h"
#include "mpi/collect/trials.h"

namespace ranktree::mpi::collect {
namespace {

constexpr int kPasses = 4;
constexpr int kPassesLater = 3;  // when a decision is looked at again
constexpr double kMargin = 1.05;
constexpr double kMuchSlower = 2;
constexpr int kFailures = 2;  // then no more
constexpr std::uint32_t kFirstInterval = 1000;
constexpr std::uint32_t kLastInterval = 1U << 20U;
constexpr double kShare = 0.01;  // of the calls, for looking again

// Short calls overlap: a root is some calls ahead until something holds it back, which a few calls do not show.
int calls_a_turn(std::int64_t bytes) {
  constexpr std::int64_t kSmall = 4096;
  constexpr std::int64_t kMiddle = 32768;
  constexpr std::int64_t kLarge = 262144;
  if (bytes < kSmall) return 16;
  if (bytes < kMiddle) return 8;
  return bytes < kLarge ? 3 : 1;
}

}  // namespace

Cell::Cell(const std::vector<core::predict::Candidate>& candidates, std::int64_t bytes)
    : contestants_(1), interval_(kFirstInterval / 2), calls_(calls_a_turn(bytes)) {
  for (const core::predict::Candidate& each : candidates) contestants_.push_back({each.choice, each.seconds});
  for (std::size_t i = 0; i < contestants_.size(); ++i) members_.push_back(i);
  if (members_.size() == 1) {
    left_ = kForEver;
    return;
  }
  begin_round(members_, kPasses);
}

void Cell::begin_round(std::vector<std::size_t> members, int passes) {
  members_ = std::move(members);
  trials_ = Trials(members_.size(), {.passes = passes, .calls = calls_});
  on_trial_ = true;
}

Cell::Turn Cell::next() {
  if (!on_trial_) {
    if (left_ > 0) {
      if (left_ != kForEver) --left_;
      return {&winner()};
    }
    begin_round(std::move(members_), kPassesLater);
  }
  const Trials::Turn turn = trials_.turn();
  return {&contestants_[members_[turn.contestant]].choice, true, turn.timed, turn.begins};
}

bool Cell::agreed() {
  trials_.agreed(kMuchSlower);
  if (!trials_.ended()) return false;
  keep_times();
  const std::size_t best = quickest();
  on_trial_ = false;
  const bool replaces = best != winner_ && best != 0;
  if (replaces && confirming_ != best) {
    confirming_ = best;
    begin_round(winner_ == 0 ? std::vector<std::size_t>{0, best} : std::vector<std::size_t>{0, winner_, best}, kPasses);
    return false;
  }
  confirming_.reset();
  interval_ = best == winner_ ? std::min(interval_ * 2, kLastInterval) : kFirstInterval;
  winner_ = best;
  settle();
  return true;
}

void Cell::keep_times() {
  for (std::size_t member = 0; member < members_.size(); ++member) {
    Contestant& contestant = contestants_[members_[member]];
    contestant.measured = trials_.least(member);
    contestant.dropped = trials_.dropped(member);
    if (contestant.dropped) ++contestant.failures;
  }
}

// Ties go to the way in use, then to the one the model prefers.
std::size_t Cell::quickest() const {
  const auto in_use = static_cast<std::size_t>(std::find(members_.begin(), members_.end(), winner_) - members_.begin());
  std::size_t best = 0;
  if (in_use != 0 && in_use < members_.size() && !trials_.dropped(in_use) &&
      trials_.least(in_use) <= trials_.least(0)) {
    best = in_use;
  }
  for (std::size_t member = 1; member < members_.size(); ++member) {
    if (member == best || trials_.dropped(member) || !beats_native(member)) continue;
    const bool only_equal = best != 0 && trials_.least(member) * (best == in_use ? kMargin : 1) >= trials_.least(best);
    if (!only_equal) best = member;
  }
  return members_[best];
}

bool Cell::beats_native(std::size_t member) const {
  return trials_.least(member) * kMargin < trials_.least(0) && trials_.middle(member) <= trials_.middle(0);
}

// How many calls of the way in use a contestant's part of a round costs beyond as many of those.
double Cell::cost_of(std::size_t contestant) const {
  const double unit = contestants_[winner_].measured;
  if (!(unit > 0)) return 0;
  const double excess = std::max(0.0, contestants_[contestant].measured / unit - 1);
  return excess * (1 + calls_ * kPassesLater);
}

// The next round has the MPI's own call, the way in use, the best of the others, and of the rest who can be paid for.
void Cell::settle() {
  std::vector<std::size_t> others;
  for (std::size_t i = 1; i < contestants_.size(); ++i) {
    if (i != winner_ && contestants_[i].failures < kFailures) others.push_back(i);
  }
  std::stable_sort(others.begin(), others.end(), [this](std::size_t first, std::size_t second) {
    return contestants_[first].measured < contestants_[second].measured;
  });
  members_ = winner_ == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, winner_};
  double cost = cost_of(0);
  for (const std::size_t other : others) {
    const double with_it = cost + cost_of(other);
    if (members_.size() > 1 && with_it > kShare * interval_) break;
    members_.push_back(other);
    cost = with_it;
  }
  const double least = std::min(std::ceil(cost / kShare), static_cast<double>(kLastInterval));
  left_ = members_.size() == 1 ? kForEver : std::max(interval_, static_cast<std::uint32_t>(least));
}

}  // namespace ranktree::mpi::collect
