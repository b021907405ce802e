// The options of ranktree-bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/makers.h"
#include "programs/bench/keep.h"
#include "programs/bench/measure.h"

namespace ranktree::mpi::bench {

struct Options {
  std::vector<core::schedule::Collective> collectives;
  std::vector<std::int64_t> sizes;    // bytes
  std::vector<std::string> variants;  // the others are compared with the first one
  std::vector<Decided> kept;          // nothing is measured where there are any
  int root = 0;
  int pause = 0;  // calls between pauses; 0: measure
  Limits limits;
};

inline constexpr const char* kUsage =
    "usage: ranktree-bench COLLECTIVE[,...] [--sizes 8,1K or 1K:16M] [--variant TEXT]... [--root R] [--seconds S] "
    "[--rounds LEAST:MOST] [--warm N] [--pause CALLS]; or ranktree-bench --keep COLLECTIVE,BYTES,VARIANT...";

// Throws Error(kInput) naming the argument.
Options read_options(const std::vector<std::string>& words);

}  // namespace ranktree::mpi::bench
