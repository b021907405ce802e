// Decisions that all ranks take alike: a rank that cannot do what was requested reports it before another rank waits
// for it.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>

#include "mpi/text.h"

namespace ranktree::preload {

// Why something is not done, empty where nothing is in the way.
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

// What one rank brings to a decision.
struct Ballot {
  const char* variable = nullptr;  // that asks for it
  bool wanted = false;             // by this rank
  Reason obstacle;                 // why this rank cannot do it
};

// Collective over `comm`: whether all ranks want it and nothing is in the way on any. Where some want it in vain, the
// lowest rank with RANKTREE_VERBOSE=1 says "<what>: rank R: <why>", R being the lowest that is in the way.
bool all_agree(MPI_Comm comm, const char* what, const Ballot& own) noexcept;

}  // namespace ranktree::preload
