// What tuning may cost a process, and what it has cost: set-up, agreements and lost time in trials together take at
// most 2 % of the time since MPI_Init, and 1 ms. In programs that call Ranktree themselves the time begins with the
// first collective call. A step begins only where its estimated cost still fits; a set-up, whose estimate is the
// coarsest, only where the 2 % alone cover it: short programs never pay for one. Where earlier runs have decided for a
// like communicator, its gain is sure, and the 1 ms may cover it too.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ranktree::mpi::collect {

class Context;
class Process;

// Of a process; threads may use it at the same time.
class Account {
 public:
  enum class Cost : std::uint8_t { kSetUp, kAgreements, kTrials };
  // What is set up at once: a communicator's context and chooser; the shared memory of one node; shared memory, links
  // and candidates of the first kind of call that is tuned; and the candidates of each other kind.
  enum class SetUp : std::uint8_t { kCommunicator, kMemory, kFirstKind, kKind };
  static constexpr std::size_t kSetUps = 4;
  static constexpr double kShare = 0.02;
  static constexpr double kGrace = 1e-3;  // seconds

  // Seconds that may still be spent; negative where more has been spent.
  [[nodiscard]] double allowed() const;
  void charge(Cost cost, double seconds);
  // Charges a set-up that took so long, and remembers it as what the next one will take.
  void charge(SetUp what, double seconds);
  // 0 where there has been none.
  [[nodiscard]] double last(SetUp what) const { return last_.at(static_cast<std::size_t>(what)); }
  // Seconds that the last agreement took, of any communicator; 0 where there has been none.
  [[nodiscard]] double last_agreement() const { return last_agreement_; }
  void keep_agreement(double seconds) { last_agreement_ = seconds; }
  // "spent: set-up 0.8 ms, agreements 60 us, trials 0.2 ms; allowed 5.2 ms in 210 ms"
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] double seconds(Cost cost) const { return spent_.at(static_cast<std::size_t>(cost)); }
  [[nodiscard]] double granted() const;

  double start_ = PMPI_Wtime();
  std::array<std::atomic<double>, 3> spent_{};
  std::array<std::atomic<double>, kSetUps> last_{};
  std::atomic<double> last_agreement_ = 0;
};

// Seconds that a set-up is expected to take, before the first of its kind, where a collective step takes `step`.
double expected_set_up(Account::SetUp what, double step);

// What ranks have agreed on, equal on all of them.
struct Budget {
  double allowed = 0;                           // seconds: of the rank that may spend least
  double agreement = 0;                         // seconds that one takes, of the rank that came last
  double step = 0;                              // seconds that a collective step of a set-up takes
  std::array<double, Account::kSetUps> last{};  // seconds that each set-up took last; 0 where there has been none
  // Seconds that a set-up will take, where a step takes so many seconds.
  [[nodiscard]] double estimate(Account::SetUp what, double of_step) const {
    const double known = last.at(static_cast<std::size_t>(what));
    return known > 0 ? known : expected_set_up(what, of_step);
  }
  [[nodiscard]] double estimate(Account::SetUp what) const { return estimate(what, step); }
  // Seconds until it covers a set-up of so many seconds, which may not use the reserve; at most 0 where it does.
  [[nodiscard]] double missing(double seconds, double reserve = Account::kGrace) const {
    return seconds - (allowed - reserve);
  }
};

// A number for a text that may differ between ranks: where the greatest of it and the greatest of its negative, which
// ranks agree on, are opposite, the texts are equal.
double number_of(std::string_view text);

// The agreements of one communicator: one nonblocking allreduce each, in which ranks drive what is in flight. Each is
// charged at the next one, by the time of the rank that came last, since the others only waited for the program.
class Agreements {
 public:
  static constexpr std::size_t kMostSamples = 256;

  // Collective: `samples`, at most kMostSamples, become the greatest of all ranks. `context`: the one whose
  // communicator `comm` is, if there is one yet. Throws MpiError, and where ranks are simulated what start() does.
  Budget agree(MPI_Comm comm, Process& process, std::span<double> samples, Context* context = nullptr);

 private:
  double last_ = 0;  // seconds of this rank
};

}  // namespace ranktree::mpi::collect
