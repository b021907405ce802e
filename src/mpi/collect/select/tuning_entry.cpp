#include "mpi/collect/select/tuning_entry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "mpi/collect/select/trial_statistics.h"

namespace ranktree::mpi::collect {
namespace {

constexpr int kPassesLater = 3;  // when a decision is looked at again
constexpr double kMargin = 1.05;
constexpr double kNotSlower = 1.02;   // in loops and in calls apart
constexpr double kOutweighed = 0.02;  // of a gain
// What a short call takes across nodes depends as much on who comes to it late: behind two kinds of meeting the same
// ways were found in another order.
constexpr double kArrivals = 1.3;
constexpr double kForBytes = 1.1;  // what sparing bytes between nodes may take, where it is quicker than the MPI's own
// Seconds of a call that no trial sees: a way of ours is found in more steps than that a call is left to the MPI, which
// other work has pushed out of the caches. And what clocks do not tell apart. Calls through the memory of one node are
// found in fewer.
constexpr double kUnseen = 100e-9;
constexpr double kUnseenInMemory = 20e-9;
constexpr double kMuchSlower = 1.5;
constexpr double kClearlyQuicker = 2;
constexpr int kFailures = 2;  // then no more
constexpr std::uint32_t kFirstInterval = 1000;
constexpr std::uint32_t kLastInterval = 1U << 20U;
constexpr double kShare = 0.01;  // of the calls, for looking again

// Short calls overlap: a root is some calls ahead until something holds it back, which a few calls do not show. The
// first calls touch shared memory, of which small messages use eight cells in turn.
TrialStatistics::Plan plan_for(std::int64_t bytes, int nodes) {
  constexpr std::int64_t kSmall = 4096;
  constexpr std::int64_t kMiddle = 32768;
  constexpr std::int64_t kLarge = 262144;
  constexpr std::int64_t kVeryLarge = 4194304;
  constexpr int kPasses = 5;
  constexpr int kManyPasses = 7;
  constexpr int kMostPasses = 9;
  if (bytes < kSmall) return {.passes = kManyPasses, .preparing = 8, .together = 8, .apart = 4};
  if (bytes < kMiddle) return {.passes = kManyPasses, .preparing = 4, .together = 4, .apart = 4};
  if (bytes < kLarge) return {.passes = kPasses, .preparing = 2, .apart = 3};
  if (nodes > 1) return {.passes = kPasses, .apart = 1};
  if (bytes < kVeryLarge) return {.passes = kPasses, .apart = 3};
  return {.passes = kMostPasses, .apart = 1};  // who is slow leaves after two
}

}  // namespace

TuningEntry::TuningEntry(const std::vector<core::predict::Candidate>& candidates, std::int64_t bytes, int nodes)
    : contestants_(1), one_node_(nodes == 1), interval_(kFirstInterval / 2), plan_(plan_for(bytes, nodes)) {
  for (const core::predict::Candidate& each : candidates)
    contestants_.push_back({each.choice, each.seconds, each.fewest_bytes});
  for (std::size_t i = 0; i < contestants_.size(); ++i) members_.push_back(i);
  if (members_.size() == 1) {
    left_ = kForEver;
    return;
  }
  begin_round(members_, plan_.passes);
}

void TuningEntry::begin_round(std::vector<std::size_t> members, int passes) {
  members_ = std::move(members);
  TrialStatistics::Plan plan = plan_;
  plan.passes = passes;
  trials_ = TrialStatistics(members_.size(), plan);
  on_trial_ = true;
}

TuningEntry::Turn TuningEntry::next() {
  if (!on_trial_) {
    if (left_ > 0) {
      if (left_ != kForEver) --left_;
      return {&winner()};
    }
    begin_round(std::move(members_), kPassesLater);
  }
  const TrialStatistics::Turn turn = trials_.turn();
  return {&contestants_[members_[turn.contestant]].choice, true, turn.timed, turn.meets};
}

bool TuningEntry::agreed() {
  trials_.agreed(kMuchSlower, kClearlyQuicker);
  if (!trials_.ended()) return false;
  keep_times();
  const std::size_t best = quickest();
  on_trial_ = false;
  const bool replaces = best != winner_ && best != 0;
  if (replaces && std::find(confirming_.begin(), confirming_.end(), best) == confirming_.end()) {
    confirm(best);
    return false;
  }
  confirming_.clear();
  interval_ = best == winner_ ? std::min(interval_ * 2, kLastInterval) : kFirstInterval;
  winner_ = best;
  settle();
  return true;
}

// The best one and the next best must win once more; the second in case the first was only lucky.
void TuningEntry::confirm(std::size_t best) {
  confirming_ = {best};
  std::size_t next = 0;
  for (std::size_t member = 1; member < members_.size(); ++member) {
    const std::size_t other = members_[member];
    if (other == best || other == winner_ || trials_.dropped(member) || !beats_native(member)) continue;
    if (next == 0 || contestants_[other].measured < contestants_[next].measured) next = other;
  }
  if (next != 0) confirming_.push_back(next);
  std::vector<std::size_t> members{0};
  if (winner_ != 0) members.push_back(winner_);
  members.insert(members.end(), confirming_.begin(), confirming_.end());
  begin_round(std::move(members), plan_.passes);
}

void TuningEntry::keep_times() {
  meeting_ = trials_.meeting();
  for (std::size_t member = 0; member < members_.size(); ++member) {
    Contestant& contestant = contestants_[members_[member]];
    contestant.measured = trials_.time(member);
    contestant.apart = plan_.together > 0 ? trials_.apart(member) : 0;
    contestant.dropped = trials_.dropped(member);
    if (contestant.dropped) ++contestant.failures;
  }
}

// Ties go to the way in use, then to the one the model prefers.
std::size_t TuningEntry::quickest() const {
  const auto in_use = static_cast<std::size_t>(std::find(members_.begin(), members_.end(), winner_) - members_.begin());
  std::size_t best = 0;
  if (in_use != 0 && in_use < members_.size() && !trials_.dropped(in_use) && is_not_slower(in_use) &&
      trials_.time(in_use) + unseen(in_use) <= trials_.time(0)) {
    best = in_use;
  }
  for (std::size_t member = 1; member < members_.size(); ++member) {
    if (member == best || trials_.dropped(member) || !beats_native(member)) continue;
    const bool only_equal = best != 0 && trials_.time(member) * (best == in_use ? kMargin : 1) >= trials_.time(best);
    if (!only_equal) best = member;
  }
  return members_[sparing_one(best)];
}

// No slower than noise is, in all that is measured; by a tenth on the mean where both are quicker than the MPI's own.
bool TuningEntry::is_as_quick(std::size_t member, std::size_t as) const {
  if (as != 0 && beats_native(member)) return trials_.time(member) <= kForBytes * trials_.time(as);
  return trials_.time(member) <= kNotSlower * trials_.time(as) &&
         trials_.together(member) <= kNotSlower * trials_.together(as) &&
         trials_.apart(member) <= kNotSlower * trials_.apart(as);
}

// The quickest of the sparing ways that are about as quick as the best one; the best one where there is none.
std::size_t TuningEntry::sparing_one(std::size_t best) const {
  std::size_t chosen = best;
  for (std::size_t member = 1; member < members_.size() && !contestants_[members_[best]].spares; ++member) {
    if (!contestants_[members_[member]].spares || trials_.dropped(member) || !is_as_quick(member, best)) continue;
    if (chosen == best || trials_.time(member) < trials_.time(chosen)) chosen = member;
  }
  return chosen;
}

double TuningEntry::unseen(std::size_t member) const {
  const bool in_memory = one_node_ && contestants_[members_[member]].choice.variant == core::predict::Variant::kShared;
  return in_memory ? kUnseenInMemory : kUnseen;
}

// Than the MPI's own call, neither in loops nor in calls apart; unless what it loses in one is nothing beside what it
// gains in the other, as where ranks that spin wait for each other's time slices in loops only.
bool TuningEntry::is_not_slower(std::size_t member) const {
  const auto loss = [&](double own, double native) {
    const double whole = own + unseen(member);
    return whole <= kNotSlower * native ? 0 : whole - native;
  };
  const double in_loops = plan_.together == 0 ? 0 : loss(trials_.together(member), trials_.together(0));
  const double apart = loss(trials_.apart(member), trials_.apart(0));
  const double gain = trials_.time(0) - trials_.time(member) - unseen(member);
  return std::max(in_loops, apart) <= kOutweighed * std::max(gain, 0.0);
}

// Turns of one pass are compared, since a machine's load changes; one unlucky pass of three may be lost.
bool TuningEntry::beats_native(std::size_t member) const {
  const int enough = trials_.passes() - trials_.passes() / 3;
  return (trials_.time(member) + unseen(member)) * kMargin < trials_.time(0) && is_not_slower(member) &&
         trials_.wins(member) >= enough && (one_node_ || wins_apart(member, enough));
}

// Across nodes calls apart must win by themselves: a gain in loops would make up for them, and means of them are luck
// where processes take turns.
bool TuningEntry::wins_apart(std::size_t member, int enough) const {
  const double margin = plan_.together > 0 ? kArrivals : 1;
  return trials_.wins_apart(member) >= enough && (trials_.apart(member) + unseen(member)) * margin < trials_.apart(0);
}

// How many calls of the way in use a contestant's part of a round costs beyond as many of those. The way in use costs
// its meetings, too.
double TuningEntry::cost_of(std::size_t contestant) const {
  const double unit = contestants_[winner_].measured;
  if (!(unit > 0)) return 0;
  const double excess = std::max(0.0, contestants_[contestant].measured / unit - 1);
  const double meetings = (plan_.apart + (plan_.together > 0 ? 1 : 0)) * kPassesLater;
  return excess * (plan_.preparing + plan_.calls() * kPassesLater) + meetings * meeting_ / unit;
}

// The next round has the MPI's own call, the way in use, the best of the others, and of the rest who can be paid for.
void TuningEntry::settle() {
  std::vector<std::size_t> others;
  for (std::size_t i = 1; i < contestants_.size(); ++i) {
    if (i != winner_ && contestants_[i].failures < kFailures) others.push_back(i);
  }
  std::stable_sort(others.begin(), others.end(), [this](std::size_t first, std::size_t second) {
    return contestants_[first].measured < contestants_[second].measured;
  });
  members_ = winner_ == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, winner_};
  double cost = cost_of(0) + (winner_ == 0 ? 0 : cost_of(winner_));
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
