// Rank reordering without a centre (reorder-2011 §6): core::reorder::order_distributed() on MPI.
#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/reorder/distributed.h"
#include "core/reorder/network.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/handle.h"
#include "mpi/reorder/modes.h"

namespace ranktree::mpi {
namespace {

enum class State : std::uint8_t { kGood, kLate, kFailed };

// Thrown on all ranks by the collective call before which one of them was late or had failed.
class Stopped : public std::exception {
 public:
  explicit Stopped(State state) : state_(state) {}
  [[nodiscard]] State state() const { return state_; }

 private:
  State state_;
};

// Every collective call starts with an allreduce of how everybody is doing, so that nobody waits for a rank that has
// failed, and all notice at the same place that time is up. Between that and the end of the call no rank may fail
// alone: what it needs is allocated before.
class MpiNetwork : public core::reorder::Network {
 public:
  MpiNetwork(MPI_Comm comm, double deadline) : deadline_(deadline) {
    check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_split(comm, 0, rank_, comm_.receive()), "MPI_Comm_split");
  }

  [[nodiscard]] int shard_of(int id) const override { return id; }
  [[nodiscard]] std::vector<int> held() const override { return {rank_}; }

  std::map<int, Bytes> exchange(const std::map<int, Bytes>& messages) override {
    meet();
    return exchange_alone(comm_.get(), messages);
  }

  std::vector<double> sum(const std::vector<double>& own) override {
    std::vector<double> all(own.size());
    meet();
    check(MPI_Allreduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_SUM, comm_.get()),
          "MPI_Allreduce");
    return all;
  }

  // Nobody but the first rank knows beforehand how much room it takes: another meeting when all have it.
  Bytes broadcast(const Bytes& bytes) override {
    if (bytes.size() > INT_MAX)
      throw core::Error(core::Fault::kUnsupported, "a broadcast of more than 2147483647 bytes");
    Bytes told = bytes;
    meet();
    auto length = static_cast<int>(bytes.size());
    check(MPI_Bcast(&length, 1, MPI_INT, 0, comm_.get()), "MPI_Bcast");
    told.resize(static_cast<std::size_t>(length));
    meet();
    check(MPI_Bcast(told.data(), length, MPI_BYTE, 0, comm_.get()), "MPI_Bcast");
    return told;
  }

  // Collective. Throws Stopped unless everybody is well and in time.
  void meet() {
    const State worst = tell(in_time() ? State::kGood : State::kLate);
    if (worst != State::kGood) throw Stopped(worst);
  }

  // Instead of the collective call that the others are at.
  void fail() { tell(State::kFailed); }

  [[nodiscard]] bool in_time() const { return deadline_ == 0 || MPI_Wtime() < deadline_; }

 private:
  State tell(State own) {
    const int mine = static_cast<int>(own);
    int worst = 0;
    check(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm_.get()), "MPI_Allreduce");
    return static_cast<State>(worst);
  }

  double deadline_;
  int rank_ = 0;
  Communicator comm_;
};

core::reorder::Share share_of(const ReorderInput& input) {
  core::split::Chain chain = *input.chain;
  if (chain.size() > core::split::kMaxDepth) chain.resize(core::split::kMaxDepth);
  return {input.own->peers, input.own->weights, std::move(chain)};
}

// How it ended, the same on all ranks; `failure` where it was this rank that failed.
State run(MpiNetwork& network, const ReorderInput& input, const ReorderOptions& options,
          core::reorder::DistributedOrder& order, Failure& failure) {
  core::reorder::DistributedOptions parts;
  parts.engine.preset = options.preset;
  parts.engine.seed = options.seed;
  parts.engine.keep_going = [&network] { return network.in_time(); };
  parts.coarse_vertices = options.coarse_vertices;
  try {
    order_distributed(network, {share_of(input)}, parts, order);
    network.meet();
    return State::kGood;
  } catch (const Stopped& stopped) {
    return stopped.state();
  } catch (const MpiError&) {
    throw;
  } catch (...) {
    failure = current_failure();
    network.fail();
    return State::kFailed;
  }
}

}  // namespace

Reordering reorder_distributed(const ReorderInput& input, const ReorderOptions& options) {
  MpiNetwork network(input.comm, input.deadline);
  core::reorder::DistributedOrder order;
  Failure failure;
  const State state = run(network, input, options, order, failure);
  Reordering result;
  check(MPI_Comm_rank(input.comm, &result.vertex), "MPI_Comm_rank");
  result.before = order.before;
  result.after = state == State::kGood ? order.after : order.before;
  if (state == State::kGood) result.vertex = order.vertex.front();
  if (state == State::kFailed) result.reason = share(input.comm, failure).text;
  if (state == State::kLate) result.reason = too_late(options);
  if (state == State::kGood && !(order.after < order.before)) result.reason = no_better_order();
  return result;
}

}  // namespace ranktree::mpi
