#include "mpi/collect/trials.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace ranktree::mpi::collect {
namespace {

constexpr int kFirstPasses = 2;  // before anybody is dropped

}  // namespace

Trials::Trials(std::size_t contestants, const Plan& plan)
    : plan_(plan),
      order_(contestants - 1),
      seconds_(contestants * static_cast<std::size_t>(plan.passes), 0.0),
      finished_(contestants, 0) {
  std::iota(order_.begin(), order_.end(), std::size_t{1});
  shared_.reserve(seconds_.size());
}

Trials::Turn Trials::turn() const { return {order_[place_], pass_ >= 0, pass_ >= 0 && call_ == 0}; }

bool Trials::record(double seconds) {
  const std::size_t contestant = order_[place_];
  if (pass_ >= 0) {
    sum_ += seconds;
    if (++call_ < plan_.calls) return false;
    seconds_[contestant * static_cast<std::size_t>(plan_.passes) + static_cast<std::size_t>(pass_)] =
        sum_ / plan_.calls;
    ++finished_[contestant];
    call_ = 0;
    sum_ = 0;
  }
  if (++place_ < order_.size()) return false;
  start_pass();
  return pass_ == kFirstPasses || ended();
}

// Every pass begins with another contestant, so that nobody always follows the same one.
void Trials::start_pass() {
  ++pass_;
  place_ = 0;
  if (pass_ == 0) order_.insert(order_.begin(), 0);
  if (pass_ > 0) std::rotate(order_.begin(), order_.begin() + 1, order_.end());
}

std::span<double> Trials::unagreed() {
  shared_.clear();
  for (const std::size_t contestant : order_) {
    for (int pass = first_unagreed_; pass < pass_; ++pass) {
      shared_.push_back(seconds_[contestant * static_cast<std::size_t>(plan_.passes) + static_cast<std::size_t>(pass)]);
    }
  }
  return shared_;
}

void Trials::agreed(double much) {
  auto next = shared_.begin();
  for (const std::size_t contestant : order_) {
    for (int pass = first_unagreed_; pass < pass_; ++pass) {
      seconds_[contestant * static_cast<std::size_t>(plan_.passes) + static_cast<std::size_t>(pass)] = *next++;
    }
  }
  first_unagreed_ = pass_;
  if (ended()) return;
  double quickest = std::numeric_limits<double>::infinity();
  for (const std::size_t contestant : order_) quickest = std::min(quickest, least(contestant));
  std::erase_if(order_, [&](std::size_t contestant) { return contestant != 0 && least(contestant) > much * quickest; });
  if (order_.size() == 1) pass_ = plan_.passes;  // the first alone: nothing is left to find out
}

double Trials::least(std::size_t contestant) const {
  const auto first =
      seconds_.begin() + static_cast<std::ptrdiff_t>(contestant * static_cast<std::size_t>(plan_.passes));
  const auto end = first + static_cast<std::ptrdiff_t>(finished_[contestant]);
  return first == end ? std::numeric_limits<double>::infinity() : *std::min_element(first, end);
}

double Trials::middle(std::size_t contestant) const {
  const auto first =
      seconds_.begin() + static_cast<std::ptrdiff_t>(contestant * static_cast<std::size_t>(plan_.passes));
  std::vector<double> turns(first, first + static_cast<std::ptrdiff_t>(finished_[contestant]));
  if (turns.empty()) return std::numeric_limits<double>::infinity();
  const auto half = turns.begin() + static_cast<std::ptrdiff_t>(turns.size() / 2);
  std::nth_element(turns.begin(), half, turns.end());
  return *half;
}

bool Trials::dropped(std::size_t contestant) const {
  return std::find(order_.begin(), order_.end(), contestant) == order_.end();
}

}  // namespace ranktree::mpi::collect
