#include "mpi/collect/select/account.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/process.h"
#include "mpi/collect/requests/in_flight.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/variant.h"
#include "mpi/simulated.h"

namespace ranktree::mpi::collect {
namespace {

constexpr std::size_t kHeader = 2 + Account::kSetUps;

// A set-up: so many collective steps, and seconds of other work.
struct Parts {
  double steps;
  double seconds;
};
constexpr std::array<Parts, Account::kSetUps> kParts{{{16, 2.5e-4}, {6, 4e-4}, {20, 7e-4}, {2, 4e-4}}};

void add(std::atomic<double>& sum, double seconds) {
  double before = sum.load(std::memory_order_relaxed);
  while (!sum.compare_exchange_weak(before, before + seconds, std::memory_order_relaxed)) {
  }
}

// By SMPI's nonblocking reduction and broadcast the root would have 8,190 messages of 4,096 ranks.
void share_along_tree(Context& context, std::span<double> values) {
  const core::predict::Choice tree = by_messages(core::schedule::Algorithm::kBinomial);
  const auto count = static_cast<std::int64_t>(values.size());
  const void* const own = context.rank() == 0 ? MPI_IN_PLACE : values.data();
  finish(context, reduce(own, values.data(), count, MPI_DOUBLE, MPI_MAX, 0, context.comm()), tree);
  finish(context, broadcast(values.data(), count, MPI_DOUBLE, 0, context.comm()), tree);
}

}  // namespace

double expected_set_up(Account::SetUp what, double step) {
  const Parts& parts = kParts.at(static_cast<std::size_t>(what));
  return parts.steps * step + parts.seconds;
}

double number_of(std::string_view text) {
  constexpr std::size_t kExactInDouble = 0xFFFFFFFFFFFF;
  return static_cast<double>(std::hash<std::string_view>{}(text)&kExactInDouble);
}

double Account::granted() const { return kGrace + kShare * (PMPI_Wtime() - start_); }

double Account::allowed() const {
  return granted() - seconds(Cost::kSetUp) - seconds(Cost::kAgreements) - seconds(Cost::kTrials);
}

void Account::charge(Cost cost, double seconds) { add(spent_.at(static_cast<std::size_t>(cost)), seconds); }

void Account::charge(SetUp what, double seconds) {
  charge(Cost::kSetUp, seconds);
  last_.at(static_cast<std::size_t>(what)).store(seconds, std::memory_order_relaxed);
}

std::string Account::text() const {
  return "spent: set-up " + time_text(seconds(Cost::kSetUp)) + ", agreements " + time_text(seconds(Cost::kAgreements)) +
         ", trials " + time_text(seconds(Cost::kTrials)) + "; allowed " + time_text(granted()) + " in " +
         time_text(PMPI_Wtime() - start_);
}

Budget Agreements::agree(MPI_Comm comm, Process& process, std::span<double> samples, Context* context) {
  Account& account = process.account;
  std::array<double, kHeader + kMostSamples> values{-account.allowed(),
                                                    -(last_ > 0 ? last_ : account.last_agreement())};
  for (std::size_t i = 0; i < Account::kSetUps; ++i) values.at(2 + i) = account.last(static_cast<Account::SetUp>(i));
  std::copy(samples.begin(), samples.end(), values.begin() + kHeader);
  const double start = PMPI_Wtime();
  const std::span<double> shared = std::span(values).first(kHeader + samples.size());
  if (kRanksShareProcess && context != nullptr) {
    share_along_tree(*context, shared);
  } else {
    share_greatest(comm, shared, process.in_flight);
  }
  const bool charges = std::exchange(last_, PMPI_Wtime() - start) > 0;
  account.keep_agreement(last_);
  std::copy_n(values.begin() + kHeader, samples.size(), samples.begin());
  const double step = -values[1];
  if (charges) account.charge(Account::Cost::kAgreements, step);
  // The communicator's set-up shows what a step of the others takes, where ranks are together.
  const double together = (values[2] - kParts[0].seconds) / kParts[0].steps;
  Budget budget{.allowed = -values[0], .agreement = step, .step = std::max(step, together)};
  std::copy_n(values.begin() + 2, Account::kSetUps, budget.last.begin());
  return budget;
}

}  // namespace ranktree::mpi::collect
