#include "core/predict/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
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

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// What may happen: an end, a local step or a message. At one time in this order, so that what has ended counts first.
enum class Kind : std::uint8_t { kEnd, kLocal, kMessage };
struct Event {
  double time = 0;
  Kind kind = Kind::kEnd;
  std::int32_t step = 0;
  Rank rank = 0;
  Rank peer = -1;  // of a message, whose receiver
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
      : schedule_(schedule), model_(model), ranks_(schedule.size()) {
    if (!model.node_of.empty()) {
      if (model.node_of.size() != schedule.size()) {
        throw Error(Fault::kMismatch, "predict: expected the nodes of " + std::to_string(schedule.size()) +
                                          " ranks, found " + std::to_string(model.node_of.size()));
      }
      const auto last = *std::max_element(model.node_of.begin(), model.node_of.end());
      wires_.resize(at(last) + 1);
    }
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) prepare(rank);
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      for (std::size_t step = 0; step < schedule[rank].steps.size(); ++step) {
        if (ranks_[rank].missing[step] == 0) ready(static_cast<Rank>(rank), static_cast<std::int32_t>(step), 0);
      }
    }
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
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].done == schedule_[rank].steps.size()) continue;
      throw Error(Fault::kMismatch, "predict: rank " + std::to_string(rank) + " waits for ever");
    }
    return now;
  }

 private:
  struct State {
    std::vector<std::int32_t> missing;  // dependencies of each step
    std::vector<std::vector<std::int32_t>> followers;
    std::size_t done = 0;
    double send_free = 0;
    double receive_free = 0;
    double compute_free = 0;
  };

  // A node's, each way.
  struct Wire {
    double out_free = 0;
    double in_free = 0;
  };

  State& state(Rank rank) { return ranks_[at(rank)]; }
  Wire& wire(Rank rank) { return wires_[at(model_.node_of[at(rank)])]; }
  [[nodiscard]] bool crosses(const Event& event) const {
    return !wires_.empty() && model_.node_of[at(event.rank)] != model_.node_of[at(event.peer)];
  }
  [[nodiscard]] const Step& step_of(Rank rank, std::int32_t step) const { return schedule_[at(rank)].steps[at(step)]; }

  void prepare(std::size_t rank) {
    const Program& program = schedule_[rank];
    State& mine = ranks_[rank];
    mine.followers.resize(program.steps.size());
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      const Step& each = program.steps[step];
      mine.missing.push_back(static_cast<std::int32_t>(each.dependency_count));
      for (const std::int32_t before : program.dependencies_of(each)) {
        mine.followers[at(before)].push_back(static_cast<std::int32_t>(step));
      }
      if (is_message(each)) channels_.add(static_cast<Rank>(rank), each, static_cast<std::int32_t>(step));
    }
  }

  void ready(Rank rank, std::int32_t index, double now) {
    const Step& step = step_of(rank, index);
    if (!is_message(step)) {
      events_.push({.time = now, .kind = Kind::kLocal, .step = index, .rank = rank});
      return;
    }
    channels_.post(rank, step, state(rank).missing, [&](const Message& message) {
      events_.push({.time = now,
                    .kind = Kind::kMessage,
                    .step = message.send,
                    .rank = message.sender,
                    .peer = message.receiver,
                    .peer_step = message.receive});
    });
  }

  // Begins what the event is about, or puts it off until its ports may be free.
  void attempt(Event event) {
    const Step& step = step_of(event.rank, event.step);
    State& mine = state(event.rank);
    const bool message = event.kind == Kind::kMessage;
    double start = std::max(event.time, mine.compute_free);
    if (message) {
      start = std::max({start, mine.send_free, state(event.peer).receive_free, state(event.peer).compute_free});
      if (crosses(event)) start = std::max({start, wire(event.rank).out_free, wire(event.peer).in_free});
    }
    if (start > event.time) {
      event.time = start;
      events_.push(event);
      return;
    }
    if (message) {
      const Link link = model_.link(event.rank, event.peer);
      const double moving = link.per_element * static_cast<double>(step.from.count);
      event.time = start + link.latency + moving;
      if (crosses(event)) wire(event.rank).out_free = wire(event.peer).in_free = start + link.gap + moving;
      mine.send_free = event.time;
      state(event.peer).receive_free = event.time;
    } else {
      const double each = step.action == Action::kReduce ? model_.reduce : model_.copy;
      event.time = start + each * static_cast<double>(step.from.count);
      mine.compute_free = event.time;
    }
    event.kind = Kind::kEnd;
    events_.push(event);
  }

  void end(const Event& event) {
    complete(event.rank, event.step, event.time);
    if (event.peer >= 0) complete(event.peer, event.peer_step, event.time);
  }

  void complete(Rank rank, std::int32_t step, double now) {
    ++state(rank).done;
    for (const std::int32_t follower : state(rank).followers[at(step)]) {
      if (--state(rank).missing[at(follower)] == 0) ready(rank, follower, now);
    }
  }

  std::span<const Program> schedule_;
  const Hockney& model_;
  std::vector<State> ranks_;
  std::vector<Wire> wires_;  // by node; none where every rank has its own
  schedule::Channels channels_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
};

}  // namespace

Hockney uniform(const Link& link, double reduce, double copy) {
  return {.link = [link](Rank, Rank) { return link; }, .reduce = reduce, .copy = copy, .node_of = {}};
}

double evaluate(std::span<const Program> schedule, const Hockney& model) { return Clock(schedule, model).run(); }

}  // namespace ranktree::core::predict
