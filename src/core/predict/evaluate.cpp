#include "core/predict/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "core/base/index.h"
#include "core/predict/waits.h"
#include "core/schedule/channels.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {
namespace {

using schedule::Action;
using schedule::is_message;
using schedule::Message;
using schedule::Program;
using schedule::Rank;
using schedule::Step;

// Events: a completion, a local step or a message. At one time in this order, so that completions count first.
enum class Kind : std::uint8_t { kEnd, kLocal, kMessage };
struct Event {
  double time = 0;
  Kind kind = Kind::kEnd;
  std::int32_t step = 0;
  Rank rank = 0;
  Rank peer = -1;  // the receiver of a message
  std::int32_t peer_step = -1;
};
struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return std::tie(a.time, a.kind, a.step, a.rank) > std::tie(b.time, b.kind, b.step, b.rank);
  }
};

class Clock {
 public:
  Clock(std::span<const Program> schedule, const Hockney& model)
      : schedule_(schedule),
        model_(model),
        ranks_(schedule.size()),
        waits_(schedule),
        wires_(model.node_of, schedule.size()) {
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      const auto& steps = schedule[rank].steps;
      for (std::size_t step = 0; step < steps.size(); ++step) {
        if (!is_message(steps[step])) continue;
        channels_.add(static_cast<Rank>(rank), steps[step], static_cast<std::int32_t>(step));
      }
    }
    waits_.begin([this](Rank rank, std::int32_t step) { ready(rank, step, 0); });
  }

  double run() {
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Kind::kEnd) {
        now = event.time;
        end(event);
      } else {
        attempt(event);
      }
    }
    waits_.check_end();
    return now;
  }

 private:
  struct State {
    double send_free = 0;
    double receive_free = 0;
    double compute_free = 0;
  };

  State& state(Rank rank) { return ranks_[at(rank)]; }
  [[nodiscard]] const Step& step_of(Rank rank, std::int32_t step) const { return schedule_[at(rank)].steps[at(step)]; }

  void ready(Rank rank, std::int32_t index, double now) {
    const Step& step = step_of(rank, index);
    if (!is_message(step)) {
      events_.push({.time = now, .kind = Kind::kLocal, .step = index, .rank = rank});
      return;
    }
    channels_.post(rank, step, waits_.missing(rank), [&](const Message& message) {
      events_.push({.time = now,
                    .kind = Kind::kMessage,
                    .step = message.send,
                    .rank = message.sender,
                    .peer = message.receiver,
                    .peer_step = message.receive});
    });
  }

  // Begins the event's step, or delays it until its ports may be free.
  void attempt(Event event) {
    const double start =
        event.kind == Kind::kMessage ? message_start(event) : std::max(event.time, state(event.rank).compute_free);
    if (start > event.time) {
      event.time = start;
      events_.push(event);
      return;
    }
    event.time = event.kind == Kind::kMessage ? send(event) : compute(event);
    event.kind = Kind::kEnd;
    events_.push(event);
  }

  double message_start(const Event& event) {
    const State& mine = state(event.rank);
    const State& other = state(event.peer);
    const double start =
        std::max({event.time, mine.compute_free, mine.send_free, other.receive_free, other.compute_free});
    if (!wires_.crosses(event.rank, event.peer)) return start;
    return std::max({start, wires_.of(event.rank).out, wires_.of(event.peer).in});
  }

  // Returns the time of completion.
  double send(const Event& event) {
    const Link link = model_.link(event.rank, event.peer);
    const double moving = link.per_element * static_cast<double>(step_of(event.rank, event.step).from.count);
    const double end = event.time + link.latency + moving;
    state(event.rank).send_free = end;
    state(event.peer).receive_free = end;
    if (wires_.crosses(event.rank, event.peer)) {
      wires_.of(event.rank).out = wires_.of(event.peer).in = event.time + link.gap + moving;
    }
    return end;
  }
  double compute(const Event& event) {
    const Step& step = step_of(event.rank, event.step);
    const double each = step.action == Action::kReduce ? model_.reduce : model_.copy;
    return state(event.rank).compute_free = event.time + each * static_cast<double>(step.from.count);
  }

  void end(const Event& event) {
    const auto next = [this, &event](Rank rank, std::int32_t step) { ready(rank, step, event.time); };
    waits_.complete(event.rank, event.step, next);
    if (event.peer >= 0) waits_.complete(event.peer, event.peer_step, next);
  }

  std::span<const Program> schedule_;
  const Hockney& model_;
  std::vector<State> ranks_;
  Waits waits_;
  Wires wires_;
  schedule::Channels channels_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
};

}  // namespace

Hockney uniform(const Link& link, double reduce, double copy) {
  return {.link = [link](Rank, Rank) { return link; }, .reduce = reduce, .copy = copy, .node_of = {}};
}

double evaluate(std::span<const Program> schedule, const Hockney& model) { return Clock(schedule, model).run(); }

}  // namespace ranktree::core::predict
