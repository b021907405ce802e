#include "programs/calibrate/measure.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "core/predict/choice.h"
#include "core/predict/closed_forms.h"
#include "core/predict/fit.h"
#include "core/predict/parameters.h"
#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"
#include "programs/calibrate/levels.h"

namespace ranktree::mpi::calibrate {
namespace {

constexpr std::array kSizes = {1, 64, 1024, 8192, 65536, 524288, 2097152};
constexpr int kTag = 1;
constexpr int kLeastTimes = 5;
constexpr int kMostTimes = 2000;
constexpr int kBurst = 32;
constexpr std::size_t kWork = 1048576;  // bytes

// One end of a pair.
class End {
 public:
  End(MPI_Comm comm, const Pair& pair) : comm_(comm), buffer_(kSizes.back()) {
    int rank = 0;
    check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    first_ = rank == pair.first;
    peer_ = first_ ? pair.second : pair.first;
  }

  [[nodiscard]] bool first() const { return first_; }
  void send(int bytes) { check(PMPI_Send(buffer_.data(), bytes, MPI_BYTE, peer_, kTag, comm_), "MPI_Send"); }
  void receive(int bytes) {
    check(PMPI_Recv(buffer_.data(), bytes, MPI_BYTE, peer_, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
  }
  // The first end's number at both.
  int agree(int number) {
    if (first_) {
      check(PMPI_Send(&number, 1, MPI_INT, peer_, kTag, comm_), "MPI_Send");
    } else {
      check(PMPI_Recv(&number, 1, MPI_INT, peer_, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    }
    return number;
  }
  // Seconds of a message there and one back.
  double round_trip(int bytes) {
    const double begin = PMPI_Wtime();
    if (first_) send(bytes);
    receive(bytes);
    if (!first_) send(bytes);
    return PMPI_Wtime() - begin;
  }

 private:
  MPI_Comm comm_;
  std::vector<char> buffer_;
  bool first_ = false;
  int peer_ = 0;
};

int times_in(double seconds, double each) {
  const double times = each > 0 ? seconds / each : kMostTimes;
  return static_cast<int>(std::clamp(times, static_cast<double>(kLeastTimes), static_cast<double>(kMostTimes)));
}

// The least of so many measurements.
template <class Measure>
double least_of(int times, Measure measure) {
  double least = std::numeric_limits<double>::max();
  for (int time = 0; time < times; ++time) least = std::min(least, measure());
  return least;
}

double one_way(End& end, int bytes, double seconds) {
  const double first = least_of(3, [&] { return end.round_trip(bytes); });
  const int times = end.agree(times_in(seconds, first));
  return least_of(times, [&] { return end.round_trip(bytes); }) / 2;
}

// The processor time of a short send, and of a receive whose message has arrived already.
struct Overheads {
  double send = 0;
  double receive = 0;
};
Overheads overheads(End& end, int times) {
  const auto burst = [&end](double& sending, double& receiving) {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < kBurst; ++i) end.send(1);
    sending = (PMPI_Wtime() - begin) / kBurst;
    end.receive(1);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const double middle = PMPI_Wtime();
    for (int i = 0; i < kBurst; ++i) end.receive(1);
    receiving = (PMPI_Wtime() - middle) / kBurst;
  };
  Overheads least{1e9, 1e9};
  for (int time = 0; time < times; ++time) {
    double sending = 0;
    double receiving = 0;
    if (end.first()) {
      burst(sending, receiving);
    } else {  // the mirror of the above
      for (int i = 0; i < kBurst; ++i) end.receive(1);
      end.send(1);
      for (int i = 0; i < kBurst; ++i) end.send(1);
    }
    least.send = std::min(least.send, sending);
    least.receive = std::min(least.receive, receiving);
  }
  return least;
}

// Between messages of a burst, whose last one and the answer take `latency` each.
double gap(End& end, int times, double latency) {
  const double burst = least_of(times, [&end] {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < kBurst; ++i) end.first() ? end.send(1) : end.receive(1);
    end.first() ? end.receive(1) : end.send(1);
    return PMPI_Wtime() - begin;
  });
  return std::max(0.0, burst - 2 * latency) / (kBurst - 1);
}

// Broadcasts over the node through shared memory; the slowest rank's least time.
double shared_broadcast(const std::shared_ptr<collect::Context>& context, const core::predict::Choice& choice,
                        std::vector<char>& buffer, int bytes, double seconds) {
  collect::Operation operation{.collective = core::schedule::Collective::kBroadcast};
  operation.receive = {.buffer = buffer.data(), .count = bytes, .type = MPI_BYTE, .counts = {}, .displacements = {}};
  operation.comm = context->comm();
  const auto once = [&] {
    check(PMPI_Barrier(context->comm()), "MPI_Barrier");
    const double begin = PMPI_Wtime();
    collect::finish(*context, operation, choice);
    double took = PMPI_Wtime() - begin;
    check(PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, context->comm()), "MPI_Allreduce");
    return took;
  };
  const double first = least_of(3, once);
  return std::min(first, least_of(std::min(times_in(seconds, 4 * first), 200), once));
}

// The times of messages. On a loaded machine messages may have waited for the processor, so that longer ones seem to
// take no more time. All are then sent again; after kAttempts the shortest and the longest message decide.
core::predict::Line line_of(End& end, double seconds) {
  constexpr int kAttempts = 4;
  std::vector<core::predict::Sample> samples;
  samples.reserve(kSizes.size());
  for (const int bytes : kSizes) samples.push_back({static_cast<double>(bytes), std::numeric_limits<double>::max()});
  core::predict::Line line;
  const auto measured = [&line] { return line.latency > 0 && line.per_byte > 0; };
  for (int attempt = 0; attempt < kAttempts && end.agree(measured() ? 1 : 0) == 0; ++attempt) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      samples[i].seconds = std::min(samples[i].seconds, std::max(one_way(end, kSizes[i], seconds), 1e-9));
    }
    line = core::predict::fit_line(samples);
  }
  if (line.latency <= 0) line.latency = samples.front().seconds;
  if (line.per_byte <= 0) line.per_byte = samples.back().seconds / samples.back().bytes;
  return line;
}

}  // namespace

core::predict::LevelParameters measure_pair(MPI_Comm comm, const Pair& pair, double seconds) {
  End end(comm, pair);
  const double share = seconds / (kSizes.size() + 3);
  const core::predict::Line line = line_of(end, share);
  const int bursts = end.agree(times_in(share, kBurst * 2 * line.latency));
  const Overheads least = overheads(end, std::min(bursts, 200));
  // o is a part of the latency, so a burst into full buffers, which takes longer, does not count.
  return {.name = {},
          .latency = line.latency,
          .per_byte = line.per_byte,
          .overhead_send = std::min(least.send, line.latency / 2),
          .overhead_receive = std::min(least.receive, line.latency / 2),
          .gap = gap(end, bursts, line.latency)};
}

Rates measure_rates(double seconds) {
  std::vector<double> from(kWork / sizeof(double), 1.0);
  std::vector<double> into(kWork / sizeof(double), 0.0);
  const auto clocked = [](auto&& work) {
    const double begin = PMPI_Wtime();
    work();
    return PMPI_Wtime() - begin;
  };
  const auto reduce = [&] {
    check(PMPI_Reduce_local(from.data(), into.data(), static_cast<int>(from.size()), MPI_DOUBLE, MPI_SUM),
          "MPI_Reduce_local");
  };
  const auto copy = [&] { std::memcpy(into.data(), from.data(), kWork); };
  const double bytes = kWork;
  const int reductions = times_in(seconds / 2, clocked(reduce));
  const int copies = times_in(seconds / 2, clocked(copy));
  return {.reduce_per_byte = least_of(reductions, [&] { return clocked(reduce); }) / bytes,
          .copy_per_byte = least_of(copies, [&] { return clocked(copy); }) / bytes};
}

SharedRates measure_shared(MPI_Comm node, double seconds) {
  int ranks = 1;
  check(PMPI_Comm_size(node, &ranks), "MPI_Comm_size");
  if (ranks < 2) return {};
  const auto context = collect::Context::of(node);
  std::vector<char> buffer(kWork);
  core::predict::Choice choice{.variant = core::predict::Variant::kShared};
  choice.composition.algorithms = {core::schedule::Algorithm::kBinomial};
  collect::Operation operation{.collective = core::schedule::Collective::kBroadcast};
  operation.receive = {.buffer = buffer.data(), .count = 1, .type = MPI_BYTE, .counts = {}, .displacements = {}};
  operation.comm = context->comm();
  if (!collect::can_run(*context, operation, choice)) return {};
  const double least = shared_broadcast(context, choice, buffer, 1, seconds / 2);
  const double whole = shared_broadcast(context, choice, buffer, static_cast<int>(kWork), seconds / 2);
  // Written once, then read by all at the same time (docs/explanation/models.md).
  return {.latency = least / ranks, .per_byte = std::max(0.0, whole - least) / (2.0 * kWork)};
}

}  // namespace ranktree::mpi::calibrate
