// Which steps of a schedule may begin as others complete, for code that follows schedules in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::predict {

class Waits {
 public:
  explicit Waits(std::span<const schedule::Program> schedule) : schedule_(schedule), ranks_(schedule.size()) {
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) prepare(rank);
  }

  // The number of steps that each step of a rank waits for.
  [[nodiscard]] std::span<const std::int32_t> missing(schedule::Rank rank) const { return ranks_[at(rank)].missing; }

  // Calls ready(rank, step) for the steps that wait for nothing, rank by rank in program order.
  template <class Ready>
  void begin(Ready ready) const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (std::size_t step = 0; step < ranks_[rank].missing.size(); ++step) {
        if (ranks_[rank].missing[step] == 0) ready(static_cast<schedule::Rank>(rank), static_cast<std::int32_t>(step));
      }
    }
  }

  // A step is complete: calls ready(rank, step) for the steps that waited for it alone.
  template <class Ready>
  void complete(schedule::Rank rank, std::int32_t step, Ready ready) {
    State& mine = ranks_[at(rank)];
    ++mine.done;
    for (const std::int32_t follower : mine.followers[at(step)]) {
      if (--mine.missing[at(follower)] == 0) ready(rank, follower);
    }
  }

  // Throws Error(kMismatch) when some rank has not finished.
  void check_end() const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].done == schedule_[rank].steps.size()) continue;
      throw Error(Fault::kMismatch, "predict: rank " + std::to_string(rank) + " waits forever");
    }
  }

 private:
  struct State {
    std::vector<std::int32_t> missing;
    std::vector<std::vector<std::int32_t>> followers;
    std::size_t done = 0;
  };

  void prepare(std::size_t rank) {
    const schedule::Program& program = schedule_[rank];
    State& mine = ranks_[rank];
    mine.followers.resize(program.steps.size());
    for (std::size_t step = 0; step < program.steps.size(); ++step) {
      const schedule::Step& each = program.steps[step];
      mine.missing.push_back(static_cast<std::int32_t>(each.dependency_count));
      for (const std::int32_t before : program.dependencies_of(each)) {
        mine.followers[at(before)].push_back(static_cast<std::int32_t>(step));
      }
    }
  }

  std::span<const schedule::Program> schedule_;
  std::vector<State> ranks_;
};

// The wire of a node: the times at which each direction is free again.
struct Wire {
  double out = 0;
  double in = 0;
};

// The wires that ranks of one node share. Without nodes every rank has its own, and there are none here.
class Wires {
 public:
  // Throws Error(kMismatch) unless there is a node for each of `ranks`, or none at all.
  Wires(const std::vector<std::int32_t>& node_of, std::size_t ranks) : node_of_(&node_of) {
    if (node_of.empty()) return;
    if (node_of.size() != ranks) {
      throw Error(Fault::kMismatch, "predict: expected the nodes of " + std::to_string(ranks) + " ranks, found " +
                                        std::to_string(node_of.size()));
    }
    for (const std::int32_t node : node_of) {
      if (static_cast<std::size_t>(node) >= wires_.size()) wires_.resize(static_cast<std::size_t>(node) + 1);
    }
  }

  [[nodiscard]] bool crosses(schedule::Rank from, schedule::Rank to) const {
    return !wires_.empty() && node(from) != node(to);
  }
  Wire& of(schedule::Rank rank) { return wires_[node(rank)]; }

 private:
  [[nodiscard]] std::size_t node(schedule::Rank rank) const {
    return static_cast<std::size_t>((*node_of_)[static_cast<std::size_t>(rank)]);
  }

  const std::vector<std::int32_t>* node_of_;
  std::vector<Wire> wires_;
};

}  // namespace ranktree::core::predict
