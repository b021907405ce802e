// One rank's program of a schedule, carried out by nonblocking messages (core/schedule/schedule.h documents what it
// relies on).
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/schedule/schedule.h"
#include "mpi/collect/context.h"
#include "mpi/collect/datatypes.h"
#include "mpi/collect/errors.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/execute/workspace.h"

namespace ranktree::mpi::collect {

// What is moved and combined.
struct Elements {
  MPI_Datatype type = MPI_BYTE;
  TypeLayout layout = kByteLayout;
  MPI_Op op = MPI_OP_NULL;
};

class Execution {
 public:
  // Peers are ranks of the context's communicator. `bases` are where element 0 of input and output is, by MPI's rules
  // for buffers. Nothing is posted yet. Throws std::bad_alloc.
  Execution(Context& context, std::shared_ptr<const Prepared> prepared, const Elements& elements,
            const std::array<std::byte*, 2>& bases, int tag);
  // Messages in flight are given up; what they may still write to in memory of ours lives on with the context.
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  Execution(Execution&&) = delete;
  Execution& operator=(Execution&&) = delete;

  // Does what can be done without waiting; true once all is done, and from then on. A message or a reduction that fails
  // counts as done, since others wait for what comes after it. Throws AgreedError where nothing more can be posted, or
  // waited for: then no more.
  bool progress();
  // What has failed.
  [[nodiscard]] const FirstError& errors() const { return errors_; }
  // Messages may be written to memory at the bases.
  [[nodiscard]] bool has_messages() const { return !work_->requests.empty(); }

 private:
  void advance();
  bool test();
  void ready(std::int32_t index);
  void complete(std::int32_t index);
  void post(std::int32_t index);
  void do_locally(const core::schedule::Step& step);
  void take_scratch();
  void abandon() noexcept;
  [[nodiscard]] std::byte* at(const core::schedule::Range& range, std::int64_t first) const {
    return bases_[static_cast<std::size_t>(range.buffer)] + (range.first + first) * elements_.layout.extent;
  }

  Context& context_;
  std::shared_ptr<const Prepared> prepared_;
  Elements elements_;
  std::array<std::byte*, 3> bases_;
  int tag_;
  std::unique_ptr<Workspace> work_;
  std::size_t left_;  // steps that have not ended
  FirstError errors_;
};

}  // namespace ranktree::mpi::collect
