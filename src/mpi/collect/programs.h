// The programs of one communicator that were made lately. Knows no MPI; prepared_program.h makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {

// What a program is made from. Refers to the caller's.
struct Shape {
  const core::schedule::Request& request;
  std::span<const core::schedule::Algorithm> algorithms;
  core::schedule::Form form = core::schedule::Form::kLeaders;
  std::int64_t segment = 0;         // elements
  core::schedule::Rank groups = 0;  // as in predict::Choice
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
  // Instead of those that were not used for longest. One that takes more than all may is not kept.
  void keep(const Shape& shape, std::shared_ptr<const Prepared> prepared);

 private:
  struct Entry {
    core::schedule::Request request;
    core::schedule::Plan plan;
    core::schedule::Rank groups = 0;
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
