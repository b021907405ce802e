// A program prepared to be run: which steps wait for which, in program order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::mpi::collect {

// Constant, shared by all operations of one shape.
//
// Messages with one peer are posted in program order (core/schedule/channels.h), and at most kWindow of them in each
// direction at a time, so that a rank with a thousand segments does not have a thousand requests. The limit cannot
// deadlock a schedule that completes without it: whenever a message and a later one of the same channel are posted at
// both ends, the earlier one completes by itself, so completing it first delays no step for ever.
class Prepared {
 public:
  static constexpr std::size_t kWindow = 8;

  // O(steps log peers) time, O(steps) memory.
  explicit Prepared(core::schedule::Program program);

  [[nodiscard]] const core::schedule::Program& program() const { return program_; }
  [[nodiscard]] const core::schedule::Step& step(std::int32_t index) const {
    return program_.steps[static_cast<std::size_t>(index)];
  }
  // How many events each step waits for before it may begin.
  [[nodiscard]] const std::vector<std::int32_t>& waits() const { return waits_; }
  // The steps that wait for the end of a step.
  [[nodiscard]] std::span<const std::int32_t> followers(std::int32_t index) const {
    const auto at = static_cast<std::size_t>(index);
    return std::span(followers_).subspan(first_follower_[at], first_follower_[at + 1] - first_follower_[at]);
  }
  // The step that waits for a message step to be posted, -1 where there is none.
  [[nodiscard]] std::int32_t next_in_channel(std::int32_t index) const {
    return next_in_channel_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::size_t bytes() const;  // of memory

 private:
  struct Edge {
    std::int32_t first = 0;
    std::int32_t then = 0;
  };
  void order_channels(std::vector<Edge>& edges);
  void list_followers(const std::vector<Edge>& edges);

  core::schedule::Program program_;
  std::vector<std::int32_t> waits_;
  std::vector<std::uint32_t> first_follower_;
  std::vector<std::int32_t> followers_;
  std::vector<std::int32_t> next_in_channel_;
};

// A cache of the programs of one communicator. Knows no MPI; execute/messages.h makes them.

// What a program is made from. Refers to the caller's.
struct Shape {
  const core::schedule::Request& request;
  std::span<const core::schedule::Algorithm> algorithms;
  core::schedule::Form form = core::schedule::Form::kLeaders;
  std::int64_t segment = 0;         // elements
  core::schedule::Rank groups = 0;  // as in predict::Choice
  std::int64_t element = 1;         // bytes of an element
  // Of a program among the leaders of nodes, which the request counts as ranks: the rank that leads its node in any
  // case (NodeTeam::leader()). Peers are ranks all the same. The calling rank leads.
  core::schedule::Rank leading = -1;
};

// Keeps the last ones used, a few and of little memory. Safe for threads, though one communicator's operations begin
// one after the other.
class Programs {
 public:
  static constexpr std::size_t kMostEntries = 64;
  static constexpr std::size_t kMostBytes = std::size_t{4} * 1024 * 1024;

  // Null where it is not kept.
  std::shared_ptr<const Prepared> find(const Shape& shape);
  // Replaces the least recently used ones. A program that is larger than the whole cache is not kept.
  void keep(const Shape& shape, std::shared_ptr<const Prepared> prepared);

 private:
  struct Entry {
    core::schedule::Request request;
    core::schedule::Composition composition;
    core::schedule::Rank groups = 0;
    std::int64_t element = 1;
    core::schedule::Rank leading = -1;
    std::shared_ptr<const Prepared> prepared;
    std::size_t bytes = 0;
  };
  static bool fits(const Entry& entry, const Shape& shape);

  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  std::size_t bytes_ = 0;
};

}  // namespace ranktree::mpi::collect
