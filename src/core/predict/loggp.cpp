#include "core/predict/loggp.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/predict/costs.h"
#include "core/predict/parameters.h"
#include "core/predict/waits.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {
namespace {

using schedule::Action;
using schedule::Program;
using schedule::Rank;
using schedule::Step;

// At one time in this order: completions first, then arrivals; then the processor's work in program order, so that a
// rank forwards a segment before it receives the next one.
enum class Kind : std::uint8_t { kEnd, kArrival, kReceive, kLocal, kSend };
struct Event {
  double time = 0;
  Kind kind = Kind::kEnd;
  std::int32_t step = 0;
  Rank rank = 0;  // whose step it is
  Rank peer = -1;
};
// At one time.
auto place_of(const Event& event) {
  return std::make_tuple(std::min(event.kind, Kind::kReceive), event.step, event.kind, event.rank);
}
struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.time != b.time ? a.time > b.time : place_of(a) > place_of(b);
  }
};

// Sends of one rank to another, and the receives there, in program order; the i-th send matches the i-th receive.
struct Channel {
  std::vector<std::int32_t> sends;
  std::vector<std::int32_t> receives;
  std::size_t sent = 0;
  std::size_t posted = 0;
  std::size_t received = 0;
  std::vector<double> arrived;  // arrival times of the sends so far
};

class Clock {
 public:
  Clock(std::span<const Program> schedule, const LogGP& model)
      : schedule_(schedule),
        model_(model),
        ports_(schedule.size()),
        waits_(schedule),
        wires_(model.node_of, schedule.size()),
        queues_(schedule.size()) {
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) add_messages(static_cast<Rank>(rank));
    waits_.begin([this](Rank rank, std::int32_t step) { ready(rank, step, 0); });
  }

  double run() {
    double now = 0;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Kind::kEnd) {
        now = std::max(now, event.time);
        waits_.complete(event.rank, event.step,
                        [this, &event](Rank rank, std::int32_t step) { ready(rank, step, event.time); });
      } else if (event.kind == Kind::kArrival) {
        arrive(event);
      } else {
        attempt(event);
      }
    }
    waits_.check_end();
    return now;
  }

 private:
  struct Port {
    double processor = 0;  // the times at which processor and ports are free
    double out = 0;
    double in = 0;
  };
  using Events = std::priority_queue<Event, std::vector<Event>, Later>;
  // Steps of one rank that wait for its processor.
  struct Queue {
    bool has_next = false;
    Event next;     // before all others
    Events others;  // of time 0
  };

  [[nodiscard]] const Step& step_of(Rank rank, std::int32_t step) const { return schedule_[at(rank)].steps[at(step)]; }
  Port& port(Rank rank) { return ports_[at(rank)]; }
  Channel& channel(Rank from, Rank to) { return channels_[{from, to}]; }

  void add_messages(Rank rank) {
    const auto& steps = schedule_[at(rank)].steps;
    for (std::size_t index = 0; index < steps.size(); ++index) {
      const auto step = static_cast<std::int32_t>(index);
      if (steps[index].action == Action::kSend) channel(rank, steps[index].peer).sends.push_back(step);
      if (steps[index].action == Action::kReceive) channel(steps[index].peer, rank).receives.push_back(step);
    }
  }

  void ready(Rank rank, std::int32_t index, double now) {
    const Step& step = step_of(rank, index);
    if (step.action == Action::kSend) {
      Channel& pair = channel(rank, step.peer);
      for (; pair.sent < pair.sends.size() && waits_.missing(rank)[at(pair.sends[pair.sent])] == 0; ++pair.sent) {
        events_.push({now, Kind::kSend, pair.sends[pair.sent], rank, step.peer});
      }
    } else if (step.action == Action::kReceive) {
      Channel& pair = channel(step.peer, rank);
      while (pair.posted < pair.receives.size() && waits_.missing(rank)[at(pair.receives[pair.posted])] == 0) {
        ++pair.posted;
      }
      take_arrived(pair, rank, now);
    } else {
      events_.push({now, Kind::kLocal, index, rank});
    }
  }

  // A message that has arrived and has a receive posted waits for the processor.
  void take_arrived(Channel& pair, Rank rank, double now) {
    for (; pair.received < std::min(pair.posted, pair.arrived.size()); ++pair.received) {
      events_.push({std::max(now, pair.arrived[pair.received]), Kind::kReceive, pair.receives[pair.received], rank});
    }
  }

  void attempt(const Event& event) {
    Queue& queue = queues_[at(event.rank)];
    if (queue.has_next && place_of(queue.next) == place_of(event)) queue.has_next = false;
    if (port(event.rank).processor > event.time) return wait(event);
    const Step& step = step_of(event.rank, event.step);
    const double end = event.kind == Kind::kSend ? send(event, step) : work(event, step);
    events_.push({end, Kind::kEnd, event.step, event.rank});
    if (queue.has_next || queue.others.empty()) return;
    const Event first = queue.others.top();
    queue.others.pop();
    begin_next(first);
  }

  // Until the processor is free. Only the first of those that wait is among the events, and others that have not yet
  // found it busy: were all of them, each step would move them all.
  void wait(Event event) {
    Queue& queue = queues_[at(event.rank)];
    if (!queue.has_next || place_of(event) < place_of(queue.next)) return begin_next(event);
    event.time = 0;
    queue.others.push(event);
  }

  void begin_next(Event event) {
    event.time = port(event.rank).processor;
    queues_[at(event.rank)].next = event;
    queues_[at(event.rank)].has_next = true;
    events_.push(event);
  }

  // Steps that only the processor carries out.
  double work(const Event& event, const Step& step) {
    const double each = step.action == Action::kReduce ? model_.reduce : model_.copy;
    const double takes = event.kind == Kind::kReceive ? model_.link(step.peer, event.rank).overhead_receive
                                                      : each * static_cast<double>(step.from.count);
    return port(event.rank).processor = event.time + takes;
  }

  // Returns the time at which the message has left.
  double send(const Event& event, const Step& step) {
    const LogGPLink link = model_.link(event.rank, event.peer);
    Port& mine = port(event.rank);
    const double moving = static_cast<double>(step.from.count) * link.per_byte;
    const double busy = std::max(link.gap, moving);
    mine.processor = event.time + link.overhead_send;
    double leaves = std::max(mine.processor, mine.out);
    if (wires_.crosses(event.rank, event.peer)) {
      Wire& wire = wires_.of(event.rank);
      leaves = std::max(leaves, wire.out);
      wire.out = leaves + busy;
    }
    mine.out = leaves + busy;
    events_.push({leaves + link.latency, Kind::kArrival, event.step, event.rank, event.peer});
    return leaves + moving;
  }

  // The first byte has arrived.
  void arrive(const Event& event) {
    const LogGPLink link = model_.link(event.rank, event.peer);
    const double moving = static_cast<double>(step_of(event.rank, event.step).from.count) * link.per_byte;
    Port& other = port(event.peer);
    double begins = std::max(event.time, other.in);
    if (wires_.crosses(event.rank, event.peer)) {
      Wire& wire = wires_.of(event.peer);
      begins = std::max(begins, wire.in);
      wire.in = begins + std::max(link.gap, moving);
    }
    other.in = begins + std::max(link.gap, moving);
    Channel& pair = channel(event.rank, event.peer);
    pair.arrived.push_back(begins + moving);
    take_arrived(pair, event.peer, begins);
  }

  std::span<const Program> schedule_;
  const LogGP& model_;
  std::vector<Port> ports_;
  Waits waits_;
  Wires wires_;
  std::map<std::pair<Rank, Rank>, Channel> channels_;
  std::vector<Queue> queues_;
  Events events_;
};

}  // namespace

double evaluate(std::span<const Program> schedule, const LogGP& model) { return Clock(schedule, model).run(); }

LogGP loggp_of(const Machine& machine) {
  LogGP model{.link =
                  [&machine](Rank from, Rank to) {
                    const LevelParameters& level = machine.level(machine.common_level(from, to));
                    return LogGPLink{
                        .latency = std::max(0.0, level.latency - level.overhead_send - level.overhead_receive),
                        .overhead_send = level.overhead_send,
                        .overhead_receive = level.overhead_receive,
                        .gap = level.gap,
                        .per_byte = level.per_byte};
                  },
              .reduce = machine.parameters().reduce_per_byte,
              .copy = 0,
              .node_of = {}};
  if (machine.parameters().node_port && machine.nodes() > 1) model.node_of = machine.node_of();
  return model;
}

}  // namespace ranktree::core::predict
