// Matches sends with receives by the rule of schedule.h, for code that follows schedules message by message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

inline bool is_message(const Step& step) { return step.action == Action::kSend || step.action == Action::kReceive; }

// A send of one rank and the receive of another, by the indices of the two steps.
struct Message {
  Rank sender = 0;
  std::int32_t send = 0;
  Rank receiver = 0;
  std::int32_t receive = 0;
};

// The i-th send of one rank to another matches the i-th receive there. Steps with one peer are posted in program order.
class Channels {
 public:
  // Call once for each message of each program, in program order.
  void add(Rank rank, const Step& step, std::int32_t index) { queue(rank, step).steps.push_back(index); }

  // Call when `step` of `rank` may begin. Posts the queued steps up to the first that may not begin yet, and calls
  // `matched` for each message whose send and receive are now both posted. missing[i] is the number of steps that step
  // i of `rank` waits for.
  template <class Matched>
  void post(Rank rank, const Step& step, std::span<const std::int32_t> missing, Matched matched) {
    const bool sends = step.action == Action::kSend;
    Queue& posting = queue(rank, step);
    while (posting.posted < posting.steps.size() &&
           missing[static_cast<std::size_t>(posting.steps[posting.posted])] == 0) {
      ++posting.posted;
    }
    Channel& pair = channel(rank, step);
    for (; pair.matched < std::min(pair.sends.posted, pair.receives.posted); ++pair.matched) {
      matched(Message{.sender = sends ? rank : step.peer,
                      .send = pair.sends.steps[pair.matched],
                      .receiver = sends ? step.peer : rank,
                      .receive = pair.receives.steps[pair.matched]});
    }
  }

 private:
  // Steps of one kind with one peer, in program order; the first `posted` have been posted.
  struct Queue {
    std::vector<std::int32_t> steps;
    std::size_t posted = 0;
  };
  struct Channel {
    Queue sends;
    Queue receives;
    std::size_t matched = 0;
  };
  Channel& channel(Rank rank, const Step& step) {
    return step.action == Action::kSend ? channels_[{rank, step.peer}] : channels_[{step.peer, rank}];
  }
  Queue& queue(Rank rank, const Step& step) {
    Channel& pair = channel(rank, step);
    return step.action == Action::kSend ? pair.sends : pair.receives;
  }

  std::map<std::pair<Rank, Rank>, Channel> channels_;  // by sender and receiver
};

}  // namespace ranktree::core::schedule
