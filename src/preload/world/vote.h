// Decisions that all ranks take alike: a rank that cannot do what was requested reports it before another rank waits
// for it.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>

#include "mpi/text.h"

namespace ranktree::preload {

// Why something is not done; empty where nothing prevents it.
using Reason = mpi::Text;

// What a local piece of work throws; empty where it throws nothing.
template <typename Work>
Reason reason_of(Work work) noexcept {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return Reason("out of memory");
  } catch (const std::exception& error) {
    return Reason(error.what());
  } catch (...) {
    return Reason("an unknown error");
  }
}

// The vote of one rank.
struct Ballot {
  const char* variable = nullptr;  // the setting that requests it
  bool wanted = false;             // by this rank
  Reason obstacle;                 // why this rank cannot do it
};

// Collective over `comm`: true when all ranks want it and no rank has an obstacle. Where only some want it, the lowest
// rank with RANKTREE_VERBOSE=1 prints "<what>: rank R: <why>", where R is the lowest rank that prevents it.
bool all_agree(MPI_Comm comm, const char* what, const Ballot& own) noexcept;

}  // namespace ranktree::preload
