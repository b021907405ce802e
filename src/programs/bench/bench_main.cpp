// Started as an MPI program: measures several variants of collectives in turn in one process. Rank 0 prints a JSON line
// a variant of a case:
//   {"collective":"broadcast","bytes":1048576,"ranks":16,"nodes":4,"variant":"auto","calls":120,"min":...,"median":...,
//    "mean":...,"high":...,"cpu":...,"ratio":...,"evidence":...}
// seconds of a call (median and mean over calls of the slowest rank; high: nine of ten are below), processor seconds of
// all ranks together, the first variant's time over this one's. What gives no figures has "wrong" in their place.
//
// With --pause CALLS nothing is timed: around so many calls of a variant rank 0 prints {"pause":"begin"|"end",...} and
// waits for a line on standard input, so that the program that started it can read the network's counters.
//
// With --keep nothing is measured: decisions are written to where `auto` keeps its own (keep.h).
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/makers.h"
#include "io/json_object.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/handle.h"
#include "programs/bench/gate.h"
#include "programs/bench/keep.h"
#include "programs/bench/measure.h"
#include "programs/bench/options.h"
#include "programs/bench/trial_case.h"
#include "programs/bench/variant.h"

namespace {

namespace mpi = ranktree::mpi;
namespace bench = ranktree::mpi::bench;
using ranktree::core::schedule::Collective;
using ranktree::io::JsonObject;

// Flushed at once: some MPIs lose, or hold back, what is written later than MPI_Finalize.
void print(const JsonObject& line) {
  std::printf("%s\n", line.text().c_str());
  std::fflush(stdout);
}

JsonObject described(const bench::TrialCase& trial, mpi::collect::Context& context) {
  const Collective collective = trial.operation().collective;
  return JsonObject()
      .add("collective", ranktree::core::schedule::collective_name(collective))
      .add("bytes", trial.bytes())
      .add("ranks", context.size())
      .add("nodes", context.node_count());
}

void print_figures(JsonObject line, const bench::Figures& figures) {
  line.add("variant", figures.variant);
  if (!figures.wrong.empty()) {
    line.add("wrong", figures.wrong);
  } else {
    line.add("calls", figures.calls)
        .add("min", figures.least)
        .add("median", figures.median)
        .add("mean", figures.mean)
        .add("high", figures.high)
        .add("cpu", figures.central)
        .add("ratio", figures.ratio)
        .add("evidence", figures.evidence);
  }
  print(line);
}

// No rank sends anything while rank 0 waits: the others wait for it, without a message, in the broadcast.
void wait_for_reader(JsonObject line, const bench::Variant& variant, bool after, int rank) {
  mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  if (rank == 0) {
    print(line.add("pause", after ? "end" : "begin").add("variant", variant.text));
    std::string answer;
    std::getline(std::cin, answer);
  }
  char word = 0;
  mpi::check(MPI_Bcast(&word, 1, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
}

class Program {
 public:
  explicit Program(const bench::Options& options)
      : options_(options), context_(mpi::collect::Context::of(MPI_COMM_WORLD)), gate_(MPI_COMM_WORLD) {
    if (options.root >= context_->size()) {
      throw ranktree::core::Error(ranktree::core::Fault::kInput, "--root: there is no such rank");
    }
  }

  void run() {
    for (const Collective collective : options_.collectives) {
      const bool empty = collective == Collective::kBarrier;
      for (std::size_t i = 0; i < (empty ? 1 : options_.sizes.size()); ++i) run(collective, options_.sizes[i]);
    }
  }

 private:
  void run(Collective collective, std::int64_t bytes) {
    std::vector<bench::Variant> variants;
    variants.reserve(options_.variants.size());
    for (const std::string& text : options_.variants) variants.push_back(bench::read_variant(text, collective));
    bench::TrialCase trial(collective, bytes, options_.root, MPI_COMM_WORLD);
    const JsonObject line = described(trial, *context_);
    if (options_.pause > 0) {
      const auto pause = [&](const bench::Variant& variant, bool after) {
        wait_for_reader(line, variant, after, context_->rank());
      };
      bench::repeat(trial, variants, context_, options_.pause, options_.limits, pause);
      return;
    }
    for (const bench::Figures& figures : bench::measure(trial, variants, context_, gate_, options_.limits)) {
      if (context_->rank() == 0) print_figures(line, figures);
    }
  }

  const bench::Options& options_;
  std::shared_ptr<mpi::collect::Context> context_;
  bench::Gate gate_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::Options options = bench::read_options({argv + 1, argv + argc});
    const mpi::Session session(&argc, &argv);
    try {
      mpi::return_errors();
      if (options.kept.empty()) {
        Program(options).run();
      } else {
        bench::keep(options.kept);
      }
    } catch (const std::exception& error) {
      // The other ranks wait for this one.
      std::fprintf(stderr, "ranktree-bench: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ranktree-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
