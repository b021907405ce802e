#include "programs/bench/measure.h"

#include <mpi.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/predict/paired_test.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/select/chooser.h"
#include "programs/bench/gate.h"
#include "programs/bench/trial_case.h"
#include "programs/bench/variant.h"

namespace ranktree::mpi::bench {
namespace {

constexpr double kRoundSeconds = 0.01;  // of one variant
constexpr std::int64_t kMostOfRound = 50;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);  // NOLINT(misc-include-cleaner): of <time.h>
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// All calls of a variant before its first timed one, but one. Those of "auto" are trials until it has decided
// (docs/how-to/serve-collectives.md), synchronised by a gate as timed calls are: in a stream a rank may run ahead, and
// the calls stay native.
void warm_up(const Variant& variant, TrialCase& trial, const std::shared_ptr<collect::Context>& context,
             const Limits& limits, Gate* gate) {
  constexpr int kMostTrials = 1000;
  const bool tries = !variant.choice && limits.warm_auto == 0;
  const int most = tries ? kMostTrials : std::max(1, variant.choice ? limits.warm : limits.warm_auto);
  for (int call = 1; call < most; ++call) {
    if (tries && !context->chooser().is_deciding(trial.operation())) return;
    trial.renew();
    if (tries && gate != nullptr) gate->pass();
    run(variant, context, trial.operation());
  }
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 != 0 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Processor seconds that a call has which does nothing: those of reading the clocks, as much as a barrier of two ranks.
double reading_seconds() {
  constexpr int kReadings = 201;
  std::vector<double> readings(kReadings);
  for (double& reading : readings) {
    const double central = processor_seconds();
    [[maybe_unused]] const double wall = MPI_Wtime() - MPI_Wtime();
    reading = processor_seconds() - central;
  }
  return median_of(std::move(readings));
}

// What one variant's calls took on this rank; `walls` on all ranks after agree().
struct Series {
  std::vector<std::vector<double>> walls;  // by round
  double central = 0;
};

class Contest {
 public:
  Contest(TrialCase& trial, const std::vector<Variant>& variants, const std::shared_ptr<collect::Context>& context,
          Gate& gate, const Limits& limits)
      : trial_(trial), variants_(variants), context_(context), gate_(gate), limits_(limits), series_(variants.size()) {}

  std::vector<Figures> hold() {
    std::vector<Figures> figures;
    figures.reserve(variants_.size());
    for (const Variant& variant : variants_) figures.push_back({.variant = variant.text, .wrong = prepare(variant)});
    const double start = MPI_Wtime();
    const std::int64_t calls = calls_of_a_round(figures);
    std::vector<std::size_t> order(variants_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    int rounds = 0;
    do {
      shuffle(order);
      for (const std::size_t i : order) {
        if (figures[i].wrong.empty()) take_turn(i, calls);
      }
      ++rounds;
    } while (goes_on(rounds, start));
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      if (figures[i].wrong.empty()) fill_in(figures[i], series_[i]);
    }
    for (std::size_t i = variants_.size(); i-- > 0;) {
      if (figures[i].wrong.empty() && figures[0].wrong.empty()) compare(figures[i], series_[0], series_[i]);
    }
    return figures;
  }

 private:
  // The same on all ranks. In a fixed order a variant would always follow the same other one.
  void shuffle(std::vector<std::size_t>& order) {
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random_.below(left)]);
  }

  // Calls it for the first times, and compares the last result. Why it takes no part, or nothing.
  std::string prepare(const Variant& variant) {
    if (!can_run(variant, *context_, trial_.operation())) return "cannot run";
    warm_up(variant, trial_, context_, limits_, &gate_);
    trial_.fill();
    run(variant, context_, trial_.operation());
    const int own = trial_.right() ? 1 : 0;
    int all = 0;
    check(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
    return all == 0 ? "wrong result" : "";
  }

  // So many that a round of the first variant is neither too short nor too long. The same on all ranks.
  std::int64_t calls_of_a_round(const std::vector<Figures>& figures) {
    double seconds = 0;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      if (figures[i].wrong.empty()) seconds = std::max(seconds, timed(variants_[i]));
    }
    double slowest = 0;
    check(MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    return std::clamp(static_cast<std::int64_t>(kRoundSeconds / std::max(slowest, 1e-7)), std::int64_t{1},
                      kMostOfRound);
  }

  double timed(const Variant& variant) {
    trial_.renew();
    gate_.pass();
    const double start = MPI_Wtime();
    run(variant, context_, trial_.operation());
    return MPI_Wtime() - start;
  }

  void take_turn(std::size_t which, std::int64_t calls) {
    std::vector<double>& walls = series_[which].walls.emplace_back();
    for (std::int64_t call = 0; call < calls; ++call) {
      trial_.renew();
      gate_.pass();
      const double central = processor_seconds();
      const double start = MPI_Wtime();
      run(variants_[which], context_, trial_.operation());
      walls.push_back(MPI_Wtime() - start);
      series_[which].central += processor_seconds() - central - reading_;
    }
  }

  [[nodiscard]] bool goes_on(int rounds, double start) const {
    int more = rounds < limits_.least || (rounds < limits_.most && MPI_Wtime() - start < limits_.seconds) ? 1 : 0;
    check(MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
    return more != 0;
  }

  static void fill_in(Figures& figures, Series& series) {
    std::vector<double> all;
    for (std::vector<double>& round : series.walls) {
      check(MPI_Allreduce(MPI_IN_PLACE, round.data(), static_cast<int>(round.size()), MPI_DOUBLE, MPI_MAX,
                          MPI_COMM_WORLD),
            "MPI_Allreduce");
      all.insert(all.end(), round.begin(), round.end());
    }
    std::sort(all.begin(), all.end());
    double central = 0;
    check(MPI_Allreduce(&series.central, &central, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
    figures.calls = static_cast<std::int64_t>(all.size());
    figures.least = all.front();
    figures.median = all[all.size() / 2];
    figures.mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    figures.high = all[all.size() * 9 / 10];
    figures.central = std::max(central, 0.0) / static_cast<double>(all.size());
  }

  static void compare(Figures& figures, const Series& first, const Series& other) {
    std::vector<double> ratios;
    ratios.reserve(first.walls.size());
    for (std::size_t round = 0; round < first.walls.size(); ++round) {
      ratios.push_back(median_of(first.walls[round]) / std::max(median_of(other.walls[round]), 1e-9));
    }
    const auto won =
        static_cast<std::size_t>(std::count_if(ratios.begin(), ratios.end(), [](double each) { return each > 1; }));
    figures.evidence = core::predict::evidence(won, ratios.size() - won);
    figures.ratio = median_of(std::move(ratios));
  }

  TrialCase& trial_;
  const std::vector<Variant>& variants_;
  const std::shared_ptr<collect::Context>& context_;
  Gate& gate_;
  const Limits& limits_;
  const double reading_ = reading_seconds();
  std::vector<Series> series_;
  core::Random random_{1};
};

}  // namespace

std::vector<Figures> measure(TrialCase& trial, const std::vector<Variant>& variants,
                             const std::shared_ptr<collect::Context>& context, Gate& gate, const Limits& limits) {
  return Contest(trial, variants, context, gate, limits).hold();
}

void repeat(TrialCase& trial, const std::vector<Variant>& variants, const std::shared_ptr<collect::Context>& context,
            int calls, const Limits& limits, const std::function<void(const Variant&, bool after)>& pause) {
  for (const Variant& variant : variants) {
    if (!can_run(variant, *context, trial.operation())) continue;
    trial.fill();
    warm_up(variant, trial, context, limits, nullptr);
    run(variant, context, trial.operation());
    pause(variant, false);
    for (int call = 0; call < calls; ++call) run(variant, context, trial.operation());
    pause(variant, true);
  }
}

}  // namespace ranktree::mpi::bench
