#include "prove.h"
#include "core/base/index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/schedule/channels.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "symbols.h"

namespace ranktree::core::schedule {
namespace {

bool reads(const Step& step) { return step.action != Action::kReceive; }
bool writes(const Step& step) { return step.action != Action::kSend; }

// True when the steps must not happen at the same time.
bool conflict(const Step& a, const Step& b) {
  if (writes(a) && ((reads(b) && overlap(a.into, b.from)) || (writes(b) && overlap(a.into, b.into)))) return true;
  return reads(a) && writes(b) && overlap(a.from, b.into);
}

// For each step, the set of steps it waits for, directly or through others.
class Ancestors {
 public:
  explicit Ancestors(const Program& program)
      : words_((program.steps.size() + 63) / 64), sets_(program.steps.size() * words_) {
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      for (const std::int32_t before : program.dependencies_of(program.steps[step])) {
        if (before < 0 || at(before) >= step) fail(program, step, "expected to depend on earlier steps only");
        add(step, at(before));
      }
    }
  }
  [[nodiscard]] bool has(std::size_t step, std::size_t before) const {
    return ((sets_[step * words_ + before / 64] >> (before % 64)) & 1U) != 0;
  }

 private:
  void add(std::size_t step, std::size_t before) {
    for (std::size_t word = 0; word < words_; ++word) sets_[step * words_ + word] |= sets_[before * words_ + word];
    sets_[step * words_ + before / 64] |= std::uint64_t{1} << (before % 64);
  }

  std::size_t words_;
  std::vector<std::uint64_t> sets_;
};

void check_order(const Program& program) {
  const Ancestors ancestors(program);
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    for (std::size_t before = 0; before < step; ++before) {
      if (conflict(program.steps[before], program.steps[step]) && !ancestors.has(step, before)) {
        fail(program, step,
             "expected to wait for step " + std::to_string(before) + ", which touches the same elements");
      }
    }
  }
}

// Carries out steps that may happen until none may.
class Run {
 public:
  Run(std::span<const Program> schedule, std::vector<Memory>* memory, std::uint64_t seed, Rank withheld)
      : schedule_(schedule), memory_(memory), random_(seed), in_order_(seed == 0), ranks_(schedule.size()) {
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) prepare(rank);
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      if (static_cast<Rank>(rank) != withheld) begin(rank);
    }
    while (!possible_.empty()) happen(choose());
  }

  [[nodiscard]] bool finished(std::size_t rank) const { return ranks_[rank].done == schedule_[rank].steps.size(); }

  // The first step of a rank that never happened.
  [[nodiscard]] std::size_t stuck(std::size_t rank) const {
    const auto& complete = ranks_[rank].complete;
    return at(std::find(complete.begin(), complete.end(), 0) - complete.begin());
  }

 private:
  struct State {
    std::vector<std::int32_t> missing;  // dependencies of each step
    std::vector<std::vector<std::int32_t>> followers;
    std::vector<std::uint8_t> complete;
    std::size_t done = 0;
  };
  struct Event {
    std::size_t rank = 0;
    std::int32_t step = 0;
    std::size_t peer = 0;  // the receiver of a message
    std::int32_t peer_step = -1;
  };

  void prepare(std::size_t rank) {
    const Program& program = schedule_[rank];
    State& state = ranks_[rank];
    state.missing.resize(program.steps.size());
    state.followers.resize(program.steps.size());
    state.complete.resize(program.steps.size());
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      const Step& now = program.steps[step];
      state.missing[step] = static_cast<std::int32_t>(now.dependency_count);
      for (const std::int32_t before : program.dependencies_of(now)) {
        state.followers[at(before)].push_back(static_cast<std::int32_t>(step));
      }
      if (!is_message(now)) continue;
      if (now.peer < 0 || at(now.peer) >= schedule_.size() || at(now.peer) == rank) fail(program, step, "no such peer");
      channels_.add(static_cast<Rank>(rank), now, static_cast<std::int32_t>(step));
    }
  }

  void begin(std::size_t rank) {
    for (std::size_t step = 0; step < schedule_[rank].steps.size(); ++step) {
      if (ranks_[rank].missing[step] == 0) ready(rank, static_cast<std::int32_t>(step));
    }
  }

  void ready(std::size_t rank, std::int32_t step) {
    const Step& now = schedule_[rank].steps[at(step)];
    if (!is_message(now)) {
      possible_.push_back({.rank = rank, .step = step});
      return;
    }
    channels_.post(static_cast<Rank>(rank), now, ranks_[rank].missing, [this](const Message& message) {
      possible_.push_back({.rank = at(message.sender),
                           .step = message.send,
                           .peer = at(message.receiver),
                           .peer_step = message.receive});
    });
  }

  Event choose() {
    const std::size_t index = in_order_ ? 0 : at(static_cast<std::int64_t>(random_.below(possible_.size())));
    const Event event = possible_[index];
    if (in_order_) {
      possible_.erase(possible_.begin());
    } else {
      possible_[index] = possible_.back();
      possible_.pop_back();
    }
    return event;
  }

  void happen(const Event& event) {
    const Step& step = schedule_[event.rank].steps[at(event.step)];
    if (event.peer_step < 0) {
      if (memory_ != nullptr) (*memory_)[event.rank].apply(schedule_[event.rank], at(event.step));
      complete(event.rank, event.step);
      return;
    }
    const Step& receive = schedule_[event.peer].steps[at(event.peer_step)];
    if (step.from.count != receive.into.count) {
      fail(schedule_[event.rank], at(event.step),
           "sends " + std::to_string(step.from.count) + " elements where rank " + std::to_string(event.peer) +
               " expects " + std::to_string(receive.into.count));
    }
    if (memory_ != nullptr) {
      (*memory_)[event.peer].put(receive.into, (*memory_)[event.rank].get(schedule_[event.rank], at(event.step)));
    }
    complete(event.rank, event.step);
    complete(event.peer, event.peer_step);
  }

  void complete(std::size_t rank, std::int32_t step) {
    State& state = ranks_[rank];
    state.complete[at(step)] = 1;
    ++state.done;
    for (const std::int32_t follower : state.followers[at(step)]) {
      if (--state.missing[at(follower)] == 0) ready(rank, follower);
    }
  }

  std::span<const Program> schedule_;
  std::vector<Memory>* memory_;
  Random random_;
  bool in_order_;
  std::vector<State> ranks_;
  Channels channels_;
  std::vector<Event> possible_;
};

// No rank may leave the barrier before every rank has entered it.
void prove_barrier(std::span<const Program> schedule, std::uint64_t seed) {
  for (std::size_t withheld = 0; withheld < schedule.size(); ++withheld) {
    const Run run(schedule, nullptr, seed, static_cast<Rank>(withheld));
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      if (schedule.size() > 1 && rank != withheld && run.finished(rank)) {
        fail(schedule[rank], 0, "leaves the barrier without rank " + std::to_string(withheld));
      }
    }
  }
}

}  // namespace

void prove(const Request& request, std::span<const Program> schedule, std::uint64_t seed,
           const std::vector<bool>& in_place) {
  Symbols symbols(request, in_place);
  std::vector<Memory> memory;
  memory.reserve(schedule.size());
  for (const Program& program : schedule) {
    memory.push_back(symbols.before(program));
    memory.back().check_ranges(program, request.collective == Collective::kBarrier);
    check_order(program);
  }
  const Run run(schedule, &memory, seed, -1);
  for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
    if (!run.finished(rank)) fail(schedule[rank], run.stuck(rank), "waits forever");
    symbols.check_after(schedule[rank], memory[rank]);
  }
  if (request.collective == Collective::kBarrier) prove_barrier(schedule, seed);
}

std::vector<Traffic> traffic_of(std::span<const Program> schedule) {
  std::map<std::pair<Rank, Rank>, Traffic> sums;
  for (const Program& program : schedule) {
    for (const Step& step : program.steps) {
      if (step.action != Action::kSend) continue;
      Traffic& sum = sums[{program.rank, step.peer}];
      sum.from = program.rank;
      sum.to = step.peer;
      ++sum.messages;
      sum.elements += step.from.count;
    }
  }
  std::vector<Traffic> traffic;
  traffic.reserve(sums.size());
  for (const auto& [pair, sum] : sums) traffic.push_back(sum);
  return traffic;
}

}  // namespace ranktree::core::schedule
