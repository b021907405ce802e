// A collective operation under way on the calling rank.
#pragma once

namespace ranktree::mpi::collect {

class Running {
 public:
  Running() = default;
  virtual ~Running() = default;
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Running(Running&&) = delete;
  Running& operator=(Running&&) = delete;

  // Does what can be done now without waiting; true once all is done on this rank, and from then on. Drives MPI's
  // progress as well: something in it calls MPI each time. Throws MpiError.
  virtual bool progress() = 0;
};

// Until it is done; drives all that is under way meanwhile (under_way.h). Yields the processor between tries, since
// ranks may outnumber cores. Throws MpiError.
void finish(Running& running);

}  // namespace ranktree::mpi::collect
