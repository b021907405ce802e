// Measures variants in turn in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/collect/context.h"
#include "programs/bench/gate.h"
#include "programs/bench/trial_case.h"
#include "programs/bench/variant.h"

namespace ranktree::mpi::bench {

struct Limits {
  double seconds = 1;  // of one case with all its variants, more or less
  int least = 6;       // rounds; fewer never show that a variant is faster (Figures::evidence)
  int most = 200;
  int warm = 2;       // calls of each variant before its first timed one
  int warm_auto = 0;  // and of "auto", which measures by itself at first; 0: until it has decided
};

// Of one variant. Seconds of one call: from the moment when all are ready until the slowest rank is done.
struct Figures {
  std::string variant;
  std::string wrong;  // why there are no figures
  std::int64_t calls = 0;
  double least = 0;
  double median = 0;
  double mean = 0;     // for calls of microseconds or time slices, whose medians vary little
  double high = 0;     // 90 % of the calls are faster
  double central = 0;  // mean processor seconds of a call, all ranks together
  // Median over the rounds of the first variant's time by this one's in the same round: above 1 this one is faster.
  double ratio = 0;
  // That it is faster, by the rounds in which its median is below the first variant's: if it is not, a number of at
  // least 20 has a chance of 1/20 (core/predict/paired_test.h).
  double evidence = 0;
};

// Collective; the same figures on all ranks. A variant that gives wrong results has figures of none. Throws MpiError.
std::vector<Figures> measure(TrialCase& trial, const std::vector<Variant>& variants,
                             const std::shared_ptr<collect::Context>& context, Gate& gate, const Limits& limits);

// `calls` calls of each variant after its first ones, with nothing else on the network; `pause(variant)` is called on
// all ranks before and after them. Variants that cannot run are left out. Throws MpiError.
void repeat(TrialCase& trial, const std::vector<Variant>& variants, const std::shared_ptr<collect::Context>& context,
            int calls, const Limits& limits, const std::function<void(const Variant&, bool after)>& pause);

}  // namespace ranktree::mpi::bench
