#include "mpi/collect/entered.h"

namespace ranktree::mpi::collect {
namespace {

// How many calls of ours this thread is in.
thread_local int depth = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): asked by preload alone

}  // namespace

Entered::Entered() { ++depth; }
Entered::~Entered() { --depth; }

bool within_call() { return depth > 0; }

}  // namespace ranktree::mpi::collect
