// The part of a shared-memory operation that goes across nodes: a schedule of messages among the nodes' leaders,
// segment by segment, so that shared memory works on one segment while the next ones are on their way.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>

#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execution.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {

// Segments under way at a time, each with a tag of its own.
constexpr std::size_t kSegmentsAtOnce = 4;

class Across {
 public:
  struct Task {
    core::schedule::Request request;  // nodes are its ranks
    core::schedule::Algorithm algorithm = core::schedule::Algorithm::kBinomial;
    std::int64_t segment = 0;          // elements; broadcast, reduce and allreduce only, 0 for everything at once
    int leading = 0;                   // the rank that leads its node in any case (NodeTeam::leader())
    const std::byte* input = nullptr;  // where the lowest byte of element 0 is
    std::byte* output = nullptr;
    Elements elements;
  };

  // On leaders only. Tags that nobody else uses on the context's communicator meanwhile.
  Across(Context& context, Task task, const std::array<int, kSegmentsAtOnce>& tags);

  // So many elements at the beginning of the operand are there; fewer than all are of use to segments only.
  void allow(std::int64_t elements) { allowed_ = elements; }
  void allow_all() { allowed_ = std::numeric_limits<std::int64_t>::max(); }
  // Elements at the beginning of the result that are there.
  [[nodiscard]] std::int64_t completed() const;
  // True once all is done on this rank. Throws as Execution's does.
  bool progress();
  [[nodiscard]] const FirstError& errors() const { return errors_; }
  // As Execution's.
  [[nodiscard]] bool has_messages() const;

 private:
  [[nodiscard]] bool has_segments() const;
  [[nodiscard]] std::int64_t end_of(std::int64_t segment) const;
  void begin(std::int64_t segment);
  [[nodiscard]] std::shared_ptr<const Prepared> program_of(std::int64_t count) const;

  Context& context_;
  Task task_;
  std::array<int, kSegmentsAtOnce> tags_;
  std::int64_t segments_ = 1;
  std::int64_t allowed_ = 0;
  std::int64_t begun_ = 0;  // segments
  std::int64_t done_ = 0;
  std::shared_ptr<const Prepared> whole_segment_;
  std::deque<Execution> running_;
  FirstError errors_;
};

}  // namespace ranktree::mpi::collect
