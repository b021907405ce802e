// What is known of one kind of call on one communicator (a collective, its size in powers of two, a kind of operation):
// the variants that are worth trying, and which is used. Pure and the same on all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/paired_test.h"

namespace ranktree::mpi::collect {

// The program's own calls are the samples. A block is some calls of the kind, one after the other as the program makes
// them. First a block of the variant in use is observed. Then pairs of blocks follow, in a random order: one of the
// variant in use, one of its challenger. After each batch of 1, 4, 8, 16, ... pairs the ranks agree on the times, and a
// sequential test (core/predict/paired_test.h) decides whether the challenger replaces the variant in use. The native
// call is in use at first, or what an earlier run has decided. A batch of pairs begins only where the account covers
// what the slower of the two is estimated to lose.
class TuningEntry {
 public:
  struct Contestant {
    core::predict::Choice choice;
    double model = 0;      // seconds; of the native call nothing is known
    double measured = 0;   // seconds a call, in its last batch; 0 where it has had none
    int failures = 0;      // it is tried no more after a few
    bool dropped = false;  // in its last test
  };
  struct Turn {
    const core::predict::Choice* choice = nullptr;
    bool timed = false;        // of a block: the caller reports it to record()
    bool reads_clock = false;  // record() looks at its times
  };
  // Seconds that ranks have agreed on, equal on all of them.
  struct Funds {
    double allowed = 0;               // that trials may lose
    double agreement = 0;             // that an agreement takes
    double missing_for_proposal = 0;  // until the account covers propose(); at most 0 where it does
    double share = 0;                 // that each second of the program adds to `allowed`
    // Until it covers one more agreement, behind the last, which is not charged yet; at most 0 where it does.
    [[nodiscard]] double missing_for_agreement() const { return 2 * agreement - allowed; }
    // The same in calls, each about as long as an agreement.
    [[nodiscard]] std::uint32_t calls_until_agreement() const;
  };
  // What the caller does after agreed().
  enum class Step : std::uint8_t {
    kContinue,
    kPropose,   // propose(), which the account covers
    kPostpone,  // for settled() calls the variant in use serves, until the account may cover the next step
    kDecide     // for settled() calls the variant in use serves
  };

  // Times of a simulation are exact: blocks are short, and one pair of them decides.
  enum class Clock : std::uint8_t { kNoisy, kExact };

  // Calls of a kind that stay native before anything is looked at, and of the first block.
  static std::uint32_t observed_calls(std::int64_t bytes, Clock clock);

  // `may_run_ahead`: of call_kind.h. Where a rank does, each agreement would end its lead: the calls stay native for
  // good.
  TuningEntry(std::int64_t bytes, bool one_node, bool may_run_ahead, Clock clock = Clock::kNoisy);

  // The next call's.
  Turn next();
  // Of a timed call, on this rank: its times where it reads the clock, and how many collective calls the communicator
  // has made. True where ranks must agree: each number of unagreed() becomes the greatest of all ranks, then agreed()
  // is called.
  bool record(double begin, double end, std::uint64_t calls);
  std::span<double> unagreed() { return samples_; }
  Step agreed(const Funds& funds);
  // Before the first call is observed.
  Step start(const Funds& funds) { return propose_or_postpone(funds); }
  // Instead of start(): with what an earlier run or a like communicator has decided. It is used at once, where ranks
  // may run ahead behind one block of native calls, and the native call challenges it first; candidates are proposed
  // only behind that.
  Step start_with(core::predict::Choice known) noexcept;
  // Once before each propose(), which needs no memory then. Those it has already are passed over.
  void add(const std::vector<core::predict::Candidate>& candidates);
  // `valid`: the candidates are the same on all ranks; others are forgotten. `known`: as start_with(), which has not
  // been called: the number of the candidate, from 1, or 0 for the native call. `all`: there are no more; else those
  // are tested, and then the others are proposed once the account covers it.
  Step propose(bool valid, std::optional<std::size_t> known, bool all = true);

  // Seconds to charge since the last query: what trials have lost, what finding and timing their calls has taken, and
  // what the pairs in flight are estimated to lose.
  double charge();

  // What is decided; the native one before the first decision.
  [[nodiscard]] const core::predict::Choice& winner() const { return contestants_[winner_].choice; }
  // What serves calls that are not on trial: the same, or the native call while the winner is on hold.
  [[nodiscard]] const core::predict::Choice& in_use() const { return contestants_[served_by()].choice; }
  [[nodiscard]] bool native_is_in_use() const { return served_by() == 0; }
  [[nodiscard]] bool runs_ahead() const { return runs_ahead_; }
  // No decision has been made yet.
  [[nodiscard]] bool on_trial() const { return !decided_ && winner_ == 0; }
  // Calls from now without a trial.
  [[nodiscard]] std::uint32_t settled() const { return left_; }
  // They have been made elsewhere.
  void pass_settled() { left_ = 0; }
  [[nodiscard]] const std::vector<Contestant>& contestants() const { return contestants_; }
  // The native call is used and nothing will be tried any more.
  static constexpr std::uint32_t kForEver = UINT32_MAX;

 private:
  // A block of calls, the slowest rank's: the seconds of its first calls, which are not judged, and of the others.
  struct Block {
    double first_calls = 0;
    core::predict::BlockTimes times;
  };
  [[nodiscard]] Block block(std::size_t at, std::size_t contestant) const;
  [[nodiscard]] bool challenger_first(std::size_t pair) const;
  [[nodiscard]] std::size_t on_turn() const;
  [[nodiscard]] std::size_t served_by() const { return on_hold_ ? 0 : winner_; }
  // Calls at the begin of a block. The first one of a challenger may touch memory for the first time.
  [[nodiscard]] std::uint32_t unjudged() const {
    return std::max(calls_ / 8, batch_ != 0 && !measured_ && calls_ > 1 ? 1U : 0U);
  }
  // Blocks that are judged by their elapsed time read the clock at their ends only.
  [[nodiscard]] bool times_each_call() const { return batch_ == 0 || !by_elapsed_; }
  [[nodiscard]] bool reads_clock() const {
    return times_each_call() || call_ == 0 || call_ == unjudged() || call_ + 1 == calls_;
  }
  void observe();
  void keep_observed();
  [[nodiscard]] Step stay_native();
  void keep_pairs();
  void begin_test();
  Step propose_or_postpone(const Funds& funds);
  Step judge(const Funds& funds);
  void replace_winner();
  void begin_next_test();
  Step begin_round(const Funds& funds);
  Step use_known(std::size_t known) noexcept;
  [[nodiscard]] bool is_settled_enough() const;
  [[nodiscard]] double overhead_of_pair(std::uint32_t calls) const;
  [[nodiscard]] double loss_of_pair() const;
  Step plan(const Funds& funds);
  Step plan_first(const Funds& funds);
  Step postpone(double missing, const Funds& funds);
  Step settle(double least_calls = 0);
  [[nodiscard]] double calls_for(double seconds, const Funds& funds) const;
  void begin_batch(std::uint32_t pairs, double loss);

  std::vector<Contestant> contestants_ = std::vector<Contestant>(1);  // the first is the native call
  Clock clock_;
  std::uint32_t observed_;  // calls
  bool one_node_;
  bool may_run_ahead_;
  bool runs_ahead_ = false;
  bool proposed_ = false;
  bool decided_ = false;
  bool short_round_ = false;  // the next one: before candidates are proposed, or only the native call challenges
  bool on_hold_ = false;      // the winner, which seems slower than the native call, or was never observed
  std::size_t winner_ = 0;

  // The block in flight.
  std::uint32_t calls_ = 0;  // of a block; 0: none is in flight
  std::uint32_t call_ = 0;
  double whole_begin_ = 0;
  double begin_ = 0;
  double in_calls_ = 0;
  std::uint64_t calls_before_ = 0;
  // Of each block: whole, elapsed, in calls, other collective calls; of one that is observed also from the first call
  // to the last one's begin: of the slowest rank, and of the fastest one, negative.
  std::vector<double> samples_;
  std::uint32_t batch_ = 0;  // pairs; 0: observing

  // The test in flight.
  std::vector<std::size_t> to_test_;  // challengers of this round, the present one first
  core::predict::PairedTest test_{0};
  std::uint64_t drawn_ = 0;  // orders of pairs, of all tests
  bool measured_ = false;    // the challenger, in this test
  std::uint32_t tests_ = 0;  // of all rounds
  int rounds_ = 0;           // behind the first
  std::uint32_t block_calls_ = 1;
  std::uint32_t next_batch_ = 1;
  bool by_elapsed_ = true;
  double rate_ = 0;     // seconds a call of the variant in use
  double elapsed_ = 0;  // from call to call, when it was last observed
  double lost_ = 0;     // seconds by the pairs of this test, may be negative
  double reserved_ = 0;
  double uncharged_ = 0;

  std::uint32_t round_calls_ = 0;  // of the pairs of this round
  std::uint32_t interval_ = 0;
  double unconfirmed_ = 0;  // calls that the winner has served since the native call challenged it
  std::uint32_t wait_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace ranktree::mpi::collect
