#include "mpi/collect/select/tuning_entry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/paired_test.h"

namespace ranktree::mpi::collect {
namespace {

using core::predict::PairedTest;
using Verdict = PairedTest::Verdict;

constexpr std::size_t kNumbers = 4;      // of a block
constexpr std::uint32_t kInStream = 64;  // calls of a block where ranks may run ahead
constexpr std::uint32_t kIsolated = 16;  // where other work comes between
constexpr std::uint32_t kExactInStream = 8;
constexpr std::uint32_t kExactIsolated = 1;
constexpr std::uint32_t kExactObserved = 2;
constexpr double kBlockSeconds = 2e-3;    // a block of long calls has fewer
constexpr std::uint32_t kFirstCalls = 4;  // of a challenger whose time is not known
constexpr std::uint32_t kFirstBatch = 4;  // pairs
constexpr std::uint32_t kMostBatch = 32;
constexpr std::size_t kNoisy = 64;  // pairs without a decision, from which blocks are longer
// A challenger's first calls are expected to lose at most this: a multiple of the native call's time, or some time
// slices, or what the model allows beyond the cheapest (core/predict/candidates.h).
constexpr double kWorst = 9;
constexpr double kWorstSeconds = 20e-6;
constexpr double kTimeSlices = 10e-3;
constexpr double kWorstOfLong = 1.5;
constexpr double kHopeless = 3;  // times as slow, where the account does not cover more pairs
constexpr int kFailures = 3;
// A test replaces by mistake with a chance of at most 1/300 in the first round, which has up to three or four tests,
// and half of it in each round behind.
constexpr double kOdds = 300;
constexpr int kMostRounds = 20;
constexpr double kOddsForNative = 20;
constexpr std::uint32_t kFirstInterval = 1024;
constexpr std::uint32_t kRest = 4;  // times the calls of a round that found nothing faster than the native call
constexpr std::uint32_t kLastInterval = 1U << 20U;
// Seconds of a call that no block sees: a variant of Ranktree is found in more steps than a native call that is decided
// on. Calls through the memory of one node are found in fewer.
constexpr double kUnseen = 100e-9;
constexpr double kUnseenInMemory = 20e-9;
// Seconds that a call of a block takes longer than one that is passed through, whatever its variant, and that each
// reading of the clock takes, two of a call that is timed.
constexpr double kUnseenInBlock = 100e-9;
constexpr double kReading = 30e-9;
constexpr std::uint32_t kTimedAtEnds = 3;  // calls of a block (TuningEntry::reads_clock)

// Of a block.
double overhead(std::uint32_t calls, bool each_timed) {
  const std::uint32_t timed = each_timed ? calls : std::min(calls, kTimedAtEnds);
  return calls * kUnseenInBlock + 2 * timed * kReading;
}

// Mixes the bits of a number (splitmix64's finaliser).
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31U);
}

}  // namespace

TuningEntry::TuningEntry(std::int64_t bytes, bool one_node, bool may_run_ahead, Clock clock)
    : clock_(clock), observed_(observed_calls(bytes, clock)), one_node_(one_node), may_run_ahead_(may_run_ahead) {
  samples_.reserve(kNumbers * 2 * kMostBatch);
  contestants_.reserve(2);  // for start_with()
  to_test_.reserve(2);
}

std::uint32_t TuningEntry::Funds::calls_until_agreement() const {
  if (agreement <= 0 || missing_for_agreement() <= 0) return 0;
  const double calls = missing_for_agreement() / (share * agreement);
  return static_cast<std::uint32_t>(std::min(1 + calls, static_cast<double>(kLastInterval)));
}

// Long calls cost more than an agreement.
std::uint32_t TuningEntry::observed_calls(std::int64_t bytes, Clock clock) {
  constexpr std::int64_t kMiddle = 16384;
  constexpr std::int64_t kLong = 262144;
  if (clock == Clock::kExact) return kExactObserved;
  if (bytes >= kLong) return 2;
  return bytes >= kMiddle ? 8 : 32;
}

// Drawn, so that no period of the program can favour one of them.
bool TuningEntry::challenger_first(std::size_t pair) const {
  return (mixed((std::uint64_t{tests_} << 32U) + drawn_ + pair) & 1U) != 0;
}

std::size_t TuningEntry::on_turn() const {
  if (batch_ == 0) return served_by();
  const std::size_t block = samples_.size() / kNumbers;
  const bool second = block % 2 != 0;
  return challenger_first(block / 2) != second ? to_test_.front() : winner_;
}

TuningEntry::Turn TuningEntry::next() {
  if (calls_ == 0) {
    if (left_ > 0) {
      if (left_ != kForEver) --left_;
      return {&in_use()};
    }
    observe();
  }
  return {&contestants_[on_turn()].choice, true, reads_clock()};
}

void TuningEntry::observe() {
  samples_.clear();
  batch_ = 0;
  calls_ = observed_;
}

bool TuningEntry::record(double begin, double end, std::uint64_t calls) {
  if (call_ == 0) {
    whole_begin_ = begin;
    calls_before_ = calls;
  }
  if (call_ == unjudged()) {
    begin_ = begin;
    in_calls_ = 0;
  }
  in_calls_ += end - begin;
  if (++call_ < calls_) return false;
  call_ = 0;
  if (!times_each_call()) in_calls_ = end - begin_;
  const auto others = static_cast<double>(calls - calls_before_) - static_cast<double>(calls_ - 1);
  samples_.insert(samples_.end(), {end - whole_begin_, end - begin_, in_calls_, others});
  if (batch_ != 0) return samples_.size() == kNumbers * 2 * batch_;
  samples_.insert(samples_.end(), {begin - whole_begin_, whole_begin_ - begin});
  return true;
}

TuningEntry::Block TuningEntry::block(std::size_t at, std::size_t contestant) const {
  const core::predict::Choice& choice = contestants_[contestant].choice;
  double unseen = 0;
  if (contestant != 0) {
    unseen = one_node_ && choice.variant == core::predict::Variant::kShared ? kUnseenInMemory : kUnseen;
  }
  const double* const numbers = samples_.data() + at * kNumbers;
  const double judged = unseen * (calls_ - unjudged());
  const double first_calls = numbers[0] - numbers[1] + unseen * unjudged();
  return {first_calls, {numbers[1] + judged, numbers[2] + judged}};
}

// Calls that synchronise take all ranks as long, but for one or two of a block. Where the first rank enters the last
// call in less than half of the slowest one's time, the agreement on the block has ended its lead.
void TuningEntry::keep_observed() {
  const double lead = samples_[kNumbers] + samples_[kNumbers + 1];
  runs_ahead_ = may_run_ahead_ && 2 * lead > samples_[kNumbers];
  if (runs_ahead_) uncharged_ += lead;
  uncharged_ += overhead(calls_, true);
  const Block seen = block(0, served_by());
  const double judged = calls_ - unjudged();
  by_elapsed_ = 2 * seen.times.in_calls >= seen.times.elapsed;
  elapsed_ = seen.times.elapsed / judged;
  rate_ = by_elapsed_ ? elapsed_ : seen.times.in_calls / judged;
  const bool stream = by_elapsed_ && 2 * samples_[3] < calls_;
  const bool exact = clock_ == Clock::kExact;
  const std::uint32_t most = stream ? (exact ? kExactInStream : kInStream) : (exact ? kExactIsolated : kIsolated);
  const double calls = std::min(kBlockSeconds / std::max(elapsed_, 1e-9), static_cast<double>(most));
  block_calls_ = std::max(1U, static_cast<std::uint32_t>(calls));
  contestants_[served_by()].measured = rate_;
  on_hold_ = false;
}

// Pairs of blocks that are shorter than they should be show only what the challenger costs.
void TuningEntry::keep_pairs() {
  const std::size_t challenger = to_test_.front();
  const auto judged = [&](const Block& block) { return by_elapsed_ ? block.times.elapsed : block.times.in_calls; };
  double of_current = 0;
  double of_challenger = 0;
  double more = 0;  // by the first calls, then by all
  for (std::size_t pair = 0; pair < batch_; ++pair) {
    const std::size_t first = challenger_first(pair) ? 1 : 0;
    const Block current = block(2 * pair + first, winner_);
    const Block other = block(2 * pair + 1 - first, challenger);
    of_current += judged(current);
    of_challenger += judged(other);
    more += other.first_calls - current.first_calls;
    if (calls_ >= block_calls_) test_.add(current.times, other.times);
  }
  more += of_challenger - of_current;
  const double before = std::max(lost_, 0.0);
  lost_ += challenger != 0 ? more : -more;
  uncharged_ += std::max(lost_, 0.0) - before - std::exchange(reserved_, 0);
  const double calls = static_cast<double>(batch_) * (calls_ - unjudged());
  rate_ = contestants_[winner_].measured = of_current / calls;
  contestants_[challenger].measured = of_challenger / calls;
  measured_ = true;
}

double TuningEntry::charge() { return std::exchange(uncharged_, 0); }

TuningEntry::Step TuningEntry::agreed(const Funds& funds) {
  if (batch_ == 0) {
    keep_observed();
    calls_ = 0;
    if (runs_ahead_) return stay_native();
    if (!to_test_.empty()) return plan(funds);
    if (!proposed_ && !short_round_) {
      if (winner_ == 0 || funds.missing_for_proposal <= 0) return propose_or_postpone(funds);
      short_round_ = true;  // which costs less than a proposal
    }
    return begin_round(funds);
  }
  keep_pairs();
  calls_ = 0;
  samples_.clear();
  return judge(funds);
}

TuningEntry::Step TuningEntry::stay_native() {
  winner_ = 0;
  decided_ = true;
  left_ = kForEver;
  return Step::kDecide;
}

TuningEntry::Step TuningEntry::propose_or_postpone(const Funds& funds) {
  return funds.missing_for_proposal <= 0 ? Step::kPropose : postpone(funds.missing_for_proposal, funds);
}

void TuningEntry::add(const std::vector<core::predict::Candidate>& candidates) {
  for (const core::predict::Candidate& each : candidates) {
    const bool has_it = std::any_of(contestants_.begin(), contestants_.end(),
                                    [&](const Contestant& other) { return other.choice == each.choice; });
    if (!has_it) contestants_.push_back({each.choice, each.seconds});
  }
  to_test_.reserve(contestants_.size());
}

TuningEntry::Step TuningEntry::start_with(core::predict::Choice known) noexcept {
  if (known.variant != core::predict::Variant::kNative) contestants_.push_back({.choice = std::move(known)});
  on_hold_ = may_run_ahead_;
  return use_known(contestants_.size() - 1);
}

TuningEntry::Step TuningEntry::use_known(std::size_t known) noexcept {
  winner_ = known;
  short_round_ = winner_ != 0;
  settle();
  if (winner_ != 0) {
    left_ = interval_ = 0;
    unconfirmed_ = 0;
  }
  return Step::kDecide;
}

TuningEntry::Step TuningEntry::propose(bool valid, std::optional<std::size_t> known, bool all) {
  if (!valid) {
    contestants_.resize(1);
    winner_ = 0;
  }
  proposed_ = all || !valid;
  wait_ = 0;
  if (valid && known) return use_known(*known);
  short_round_ = !proposed_;
  if (contestants_.size() > 1) return Step::kContinue;
  settle();
  return Step::kDecide;
}

// Where another variant is in use, the native call challenges it first.
TuningEntry::Step TuningEntry::begin_round(const Funds& funds) {
  to_test_.clear();
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    const bool may = contestants_[i].failures < kFailures && (winner_ == 0 || !short_round_);
    if (i != winner_ && (i == 0 || may)) to_test_.push_back(i);
  }
  short_round_ = false;
  round_calls_ = 0;
  begin_test();
  return plan(funds);
}

void TuningEntry::begin_test() {
  if (to_test_.empty()) return;
  const double odds = to_test_.front() == 0 ? kOddsForNative : std::ldexp(kOdds, rounds_);
  ++tests_;
  test_ = clock_ == Clock::kExact ? PairedTest(1, 1) : PairedTest(odds);
  measured_ = false;
  next_batch_ = kFirstBatch;
  lost_ = 0;
}

TuningEntry::Step TuningEntry::judge(const Funds& funds) {
  const Verdict verdict = test_.verdict();
  const std::size_t challenger = to_test_.front();
  if (verdict == Verdict::kUndecided && !is_settled_enough()) return plan(funds);
  Contestant& judged = contestants_[challenger];
  judged.dropped = verdict != Verdict::kFaster;
  if (verdict == Verdict::kFaster) {
    replace_winner();
  } else if (challenger != 0) {
    ++judged.failures;
  }
  begin_next_test();
  return plan(funds);
}

// By its challenger.
void TuningEntry::replace_winner() {
  const std::size_t challenger = to_test_.front();
  const double rate = contestants_[challenger].measured;
  contestants_[winner_].dropped = true;
  if (challenger == 0) {  // it has been slower than the native call for an unknown part of the calls between
    ++contestants_[winner_].failures;
    uncharged_ += std::max(0.0, contestants_[winner_].measured - rate) * unconfirmed_ / 2;
  }
  unconfirmed_ = 0;
  winner_ = challenger;
  rate_ = rate;
  interval_ = 0;
}

void TuningEntry::begin_next_test() {
  to_test_.erase(to_test_.begin());
  begin_test();
}

// Among variants of Ranktree that are about as fast, and behind a decision, nothing is gained by many more pairs.
bool TuningEntry::is_settled_enough() const { return winner_ != 0 && test_.pairs() >= kNoisy; }

double TuningEntry::overhead_of_pair(std::uint32_t calls) const { return 2 * overhead(calls, !by_elapsed_); }

// Where the native call challenges, it is the variant in use that may lose.
double TuningEntry::loss_of_pair() const {
  const double more = contestants_[to_test_.front()].measured - contestants_[winner_].measured;
  return std::max(to_test_.front() == 0 ? -more : more, 0.0) * block_calls_;
}

TuningEntry::Step TuningEntry::plan(const Funds& funds) {
  while (!to_test_.empty()) {
    if (!measured_) return plan_first(funds);
    const double loss = loss_of_pair();
    const double cost = loss + overhead_of_pair(block_calls_);
    const double half = (funds.allowed - funds.agreement) / 2;
    if (cost <= half) {
      const double most = half / cost;
      const auto pairs =
          std::min(next_batch_, static_cast<std::uint32_t>(std::min(most, static_cast<double>(kMostBatch))));
      next_batch_ = std::min(2 * next_batch_, kMostBatch);
      if (test_.pairs() >= kNoisy && block_calls_ < 2 * kInStream) block_calls_ *= 2;
      calls_ = block_calls_;
      begin_batch(pairs, loss * pairs);
      return Step::kContinue;
    }
    Contestant& challenger = contestants_[to_test_.front()];
    on_hold_ = to_test_.front() == 0 && loss > 0;
    if (on_hold_ || challenger.measured < kHopeless * contestants_[winner_].measured) {
      return postpone(2 * (cost - half), funds);
    }
    challenger.dropped = true;
    ++challenger.failures;
    begin_next_test();
  }
  return settle(calls_for(funds.missing_for_agreement(), funds));
}

TuningEntry::Step TuningEntry::plan_first(const Funds& funds) {
  const double unknown = std::min(kWorst * rate_ + kWorstSeconds, std::max(kWorstOfLong * rate_, kTimeSlices));
  const double worst = to_test_.front() == 0 ? 0 : unknown;
  const std::uint32_t least = std::min(kFirstCalls, block_calls_);
  const double missing = worst * least + overhead_of_pair(least) + funds.agreement - funds.allowed;
  if (missing > 0) return postpone(missing, funds);
  const double most = worst > 0 ? (funds.allowed - funds.agreement) / 2 / worst : block_calls_;
  calls_ = static_cast<std::uint32_t>(std::clamp(most, 1.0, static_cast<double>(block_calls_)));
  begin_batch(1, worst * calls_);
  return Step::kContinue;
}

void TuningEntry::begin_batch(std::uint32_t pairs, double loss) {
  samples_.clear();
  drawn_ += batch_;
  batch_ = pairs;
  round_calls_ += 2 * pairs * calls_;
  wait_ = 0;
  reserved_ = loss;
  uncharged_ += loss + pairs * overhead_of_pair(calls_);
}

// Until the account covers the next step and the agreement on it: by the time that calls took when last observed, and
// longer each time, since other kinds draw on the same account.
TuningEntry::Step TuningEntry::postpone(double missing, const Funds& funds) {
  const auto calls = static_cast<std::uint32_t>(calls_for(missing + funds.agreement, funds));
  wait_ = std::min(std::max({2 * wait_, 2 * observed_, calls}), kLastInterval);
  left_ = wait_;
  if (!on_hold_) unconfirmed_ += left_;
  return Step::kPostpone;
}

// In which the account gets so many seconds more, by the time that calls took when last observed.
double TuningEntry::calls_for(double seconds, const Funds& funds) const {
  if (elapsed_ <= 0 || seconds <= 0) return 0;
  return std::min(seconds / funds.share / elapsed_, static_cast<double>(kLastInterval));
}

// At least so many calls until the next agreement.
TuningEntry::Step TuningEntry::settle(double least_calls) {
  if (decided_) rounds_ = std::min(rounds_ + 1, kMostRounds);
  decided_ = true;
  wait_ = 0;
  const std::uint32_t rest = winner_ == 0 ? kRest * std::min(round_calls_, kLastInterval) : 0;
  interval_ = std::min(std::max({2 * interval_, kFirstInterval, rest}), kLastInterval);
  const bool nothing_left = proposed_ && winner_ == 0 &&
                            std::all_of(contestants_.begin() + 1, contestants_.end(),
                                        [](const Contestant& each) { return each.failures >= kFailures; });
  left_ = nothing_left ? kForEver : std::max(interval_, static_cast<std::uint32_t>(least_calls));
  unconfirmed_ = left_;
  return Step::kDecide;
}

}  // namespace ranktree::mpi::collect
