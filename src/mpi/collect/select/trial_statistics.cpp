#include "mpi/collect/select/trial_statistics.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace ranktree::mpi::collect {
namespace {

constexpr int kFirstPasses = 2;  // before anybody is dropped
constexpr double kNever = std::numeric_limits<double>::infinity();

// The mean without so many of the least and as many of the most. Of times that are of two kinds, as those of ranks that
// come in a good order or not, a median is one or the other by chance.
double mean_without(std::size_t aside, std::vector<double> values) {
  if (values.empty()) return kNever;
  std::sort(values.begin(), values.end());
  aside = std::min(aside, (values.size() - 1) / 2);
  const auto middle = std::span(values).subspan(aside, values.size() - 2 * aside);
  return std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
}

// Of a few: one that was pushed aside by something else says nothing.
double of_turn(std::vector<double> values) {
  const std::size_t aside = (values.size() + 2) / 4;
  return mean_without(aside, std::move(values));
}

// Of a round: what befalls one of eight, at least one, is an accident; what befalls more is the way's own, as waiting
// for the time slice of a rank that spins.
double of_round(std::vector<double> values) {
  const std::size_t aside = std::max(values.size() / 8, std::size_t{1});
  return mean_without(aside, std::move(values));
}

}  // namespace

TrialStatistics::TrialStatistics(std::size_t contestants, const Plan& plan)
    : plan_(plan),
      order_(contestants - 1),
      seconds_(contestants * static_cast<std::size_t>(plan.passes) * width(), 0.0),
      finished_(contestants, 0) {
  std::iota(order_.begin(), order_.end(), std::size_t{1});
  meetings_.reserve(seconds_.size());
  shared_.reserve(seconds_.size() + 1);
}

TrialStatistics::Turn TrialStatistics::turn() const {
  const bool timed = pass_ >= 0;
  return {order_[place_], timed, timed && (call_ == 0 || call_ >= plan_.together)};
}

bool TrialStatistics::record(double seconds, double meeting) {
  if (turn().meets) meetings_.push_back(meeting);
  const std::size_t contestant = order_[place_];
  if (pass_ >= 0) keep(contestant, seconds);
  if (++call_ < (pass_ < 0 ? plan_.preparing : plan_.calls())) return false;
  if (pass_ >= 0) ++finished_[contestant];
  call_ = 0;
  if (++place_ < order_.size()) return false;
  start_pass();
  return pass_ == kFirstPasses || ended();
}

void TrialStatistics::keep(std::size_t contestant, double seconds) {
  const std::size_t at =
      (contestant * static_cast<std::size_t>(plan_.passes) + static_cast<std::size_t>(pass_)) * width();
  if (call_ >= plan_.together) {
    seconds_[at + width() - static_cast<std::size_t>(plan_.calls() - call_)] = seconds;
    return;
  }
  sum_ += seconds;
  if (call_ + 1 == plan_.together) seconds_[at] = std::exchange(sum_, 0) / plan_.together;
}

// Every pass begins with another contestant, so that nobody always follows the same one.
void TrialStatistics::start_pass() {
  ++pass_;
  place_ = 0;
  if (pass_ == 0) order_.insert(order_.begin(), 0);
  if (pass_ > 0) std::rotate(order_.begin(), order_.begin() + 1, order_.end());
}

template <typename Use>
void TrialStatistics::for_each_unagreed(Use use) {
  const auto passes = static_cast<std::size_t>(plan_.passes);
  const std::size_t numbers = width() * static_cast<std::size_t>(pass_ - first_unagreed_);
  for (const std::size_t contestant : order_) {
    const std::size_t first = (contestant * passes + static_cast<std::size_t>(first_unagreed_)) * width();
    for (std::size_t i = first; i < first + numbers; ++i) use(seconds_[i]);
  }
}

std::span<double> TrialStatistics::unagreed() {
  shared_.clear();
  for_each_unagreed([this](double seconds) { shared_.push_back(seconds); });
  shared_.push_back(-of_turn(meetings_));
  return shared_;
}

void TrialStatistics::agreed(double much, double clearly) {
  auto next = shared_.begin();
  for_each_unagreed([&next](double& seconds) { seconds = *next++; });
  meeting_ = -*next;
  first_unagreed_ = pass_;
  if (ended()) return;
  double quickest = kNever;
  for (const std::size_t contestant : order_) quickest = std::min(quickest, quickest_turn(contestant));
  std::erase_if(order_,
                [&](std::size_t contestant) { return contestant != 0 && quickest_turn(contestant) > much * quickest; });
  const bool clear = std::any_of(order_.begin(), order_.end(), [&](std::size_t contestant) {
    return contestant != 0 && slowest_turn(contestant) * clearly < quickest_turn(0);
  });
  if (clear || order_.size() == 1) pass_ = plan_.passes;  // nothing is left to find out
}

std::span<const double> TrialStatistics::turn_of(std::size_t contestant, std::size_t pass) const {
  return std::span(seconds_).subspan((contestant * static_cast<std::size_t>(plan_.passes) + pass) * width(), width());
}

std::span<const double> TrialStatistics::calls_apart(std::size_t contestant, std::size_t pass) const {
  return turn_of(contestant, pass).last(static_cast<std::size_t>(plan_.apart));
}

double TrialStatistics::turn_apart(std::size_t contestant, std::size_t pass) const {
  const std::span<const double> apart = calls_apart(contestant, pass);
  return of_turn({apart.begin(), apart.end()});
}

double TrialStatistics::turn_time(std::size_t contestant, std::size_t pass) const {
  const double apart = turn_apart(contestant, pass);
  return plan_.together > 0 ? (turn_of(contestant, pass).front() + apart) / 2 : apart;
}

double TrialStatistics::quickest_turn(std::size_t contestant) const {
  double least = kNever;
  for (std::size_t pass = 0; pass < finished_[contestant]; ++pass) least = std::min(least, turn_time(contestant, pass));
  return least;
}

double TrialStatistics::slowest_turn(std::size_t contestant) const {
  double most = 0;
  for (std::size_t pass = 0; pass < finished_[contestant]; ++pass) most = std::max(most, turn_time(contestant, pass));
  return most;
}

double TrialStatistics::together(std::size_t contestant) const {
  if (plan_.together == 0) return 0;
  std::vector<double> values;
  values.reserve(finished_[contestant]);
  for (std::size_t pass = 0; pass < finished_[contestant]; ++pass) values.push_back(turn_of(contestant, pass).front());
  return of_round(std::move(values));
}

double TrialStatistics::apart(std::size_t contestant) const {
  std::vector<double> values;
  values.reserve(finished_[contestant] * width());
  for (std::size_t pass = 0; pass < finished_[contestant]; ++pass) {
    const std::span<const double> calls = calls_apart(contestant, pass);
    values.insert(values.end(), calls.begin(), calls.end());
  }
  return of_round(std::move(values));
}

double TrialStatistics::time(std::size_t contestant) const {
  return plan_.together > 0 ? (together(contestant) + apart(contestant)) / 2 : apart(contestant);
}

int TrialStatistics::passes_won(std::size_t contestant, TurnTime seconds) const {
  int won = 0;
  for (std::size_t pass = 0; pass < std::min(finished_[contestant], finished_[0]); ++pass) {
    if ((this->*seconds)(contestant, pass) < (this->*seconds)(0, pass)) ++won;
  }
  return won;
}

int TrialStatistics::wins(std::size_t contestant) const { return passes_won(contestant, &TrialStatistics::turn_time); }

int TrialStatistics::wins_apart(std::size_t contestant) const {
  return passes_won(contestant, &TrialStatistics::turn_apart);
}

bool TrialStatistics::dropped(std::size_t contestant) const {
  return std::find(order_.begin(), order_.end(), contestant) == order_.end();
}

}  // namespace ranktree::mpi::collect
