// Rank reordering without a centre (reorder-2011 §6): core::reorder::order_distributed() on MPI.
#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/reorder/distributed.h"
#include "core/reorder/network.h"
#include "core/split/chain.h"
#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/exchange.h"
#include "mpi/reorder/modes.h"

namespace ranktree::mpi {
namespace {

// The state of a rank when the ranks synchronise; the largest counts. From kFailed on: LocalSteps::word() is added.
enum State : std::uint8_t { kGood, kLate, kFailed };

// Thrown on all ranks by the collective call before which one of them was late or had failed.
class Stopped : public std::exception {
 public:
  explicit Stopped(int word) : word_(word) {}
  [[nodiscard]] int word() const { return word_; }

 private:
  int word_;
};

// Every collective call starts with an exchange of messages (an empty one except in exchange()) that carries the state
// of each rank. So no rank waits for one that has failed, and all stop at the same place when the time is up. Between
// that and the end of the call no rank may fail alone: what it needs is allocated before.
class MpiNetwork : public core::reorder::Network {
 public:
  explicit MpiNetwork(const Search& search) : search_(search) {
    check(PMPI_Comm_rank(search.comm, &rank_), "MPI_Comm_rank");
  }

  [[nodiscard]] int shard_of(int id) const override { return id; }
  [[nodiscard]] std::vector<int> held() const override { return {rank_}; }

  std::map<int, Bytes> exchange(const std::map<int, Bytes>& messages) override {
    search_.mailbox.reserve(messages);
    Messages received = synchronise(messages);
    if (search_.mailbox.lost()) throw std::bad_alloc();
    return received;
  }

  std::vector<double> sum(const std::vector<double>& own) override {
    std::vector<double> all(own.size());
    synchronise();
    check(PMPI_Allreduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_SUM, search_.comm),
          "MPI_Allreduce");
    return all;
  }

  // No rank but the first knows beforehand how much memory it takes: the ranks synchronise again when all have it.
  Bytes broadcast(const Bytes& bytes) override {
    if (bytes.size() > INT_MAX)
      throw core::Error(core::Fault::kUnsupported, "a broadcast of more than 2147483647 bytes");
    Bytes result = bytes;
    synchronise();
    auto length = static_cast<int>(bytes.size());
    check(PMPI_Bcast(&length, 1, MPI_INT, 0, search_.comm), "MPI_Bcast");
    result.resize(static_cast<std::size_t>(length));
    synchronise();
    check(PMPI_Bcast(result.data(), length, MPI_BYTE, 0, search_.comm), "MPI_Bcast");
    return result;
  }

  // Collective. Throws Stopped unless all ranks are well and in time.
  Messages synchronise(const Messages& messages = {}) {
    Messages received;
    const int merged = search_.mailbox.exchange(in_time() ? kGood : kLate, messages, received);
    if (merged != kGood) throw Stopped(merged);
    return received;
  }

  // Instead of the collective call that the others are at: the merged word.
  [[nodiscard]] int fail() {
    const Messages nothing;
    Messages dropped;
    return search_.mailbox.exchange(kFailed + search_.steps.word(), nothing, dropped);
  }

  [[nodiscard]] bool in_time() const { return search_.deadline == 0 || PMPI_Wtime() < search_.deadline; }

 private:
  const Search& search_;
  int rank_ = 0;
};

core::reorder::Share share_of(const OwnPart& own) {
  core::split::Chain chain = own.chain;
  if (chain.size() > core::split::kMaxDepth) chain.resize(core::split::kMaxDepth);
  return {own.edges.peers, own.edges.weights, std::move(chain)};
}

// The word that all ranks stop by, the same everywhere.
int run(MpiNetwork& network, const Search& search, const OwnPart& own, const ReorderOptions& options,
        core::reorder::DistributedOrder& order) {
  core::reorder::DistributedOptions parts;
  parts.engine.preset = options.preset;
  parts.engine.seed = options.seed;
  parts.coarse_vertices = options.coarse_vertices;
  try {
    if (search.steps.failed()) return network.fail();
    parts.engine.keep_going = [&network] { return network.in_time(); };
    order_distributed(network, {share_of(own)}, parts, order);
    network.synchronise();
    return kGood;
  } catch (const Stopped& stopped) {
    return stopped.word();
  } catch (const MpiError&) {
    throw;
  } catch (...) {
    search.steps.fail(current_failure());
    return network.fail();
  }
}

}  // namespace

Reordering reorder_distributed(const Search& search, const OwnPart& own, const ReorderOptions& options) {
  MpiNetwork network(search);
  core::reorder::DistributedOrder order;
  const int word = run(network, search, own, options, order);
  Reordering result;
  check(PMPI_Comm_rank(search.comm, &result.vertex), "MPI_Comm_rank");
  result.before = order.before;
  result.after = word == kGood ? order.after : order.before;
  if (word == kGood) result.vertex = order.vertex.front();
  if (word >= kFailed) result.reason = search.steps.failure_of(word - kFailed).text;
  if (word == kLate) result.reason = too_late(options);
  if (word == kGood && !(order.after < order.before)) result.reason = no_better_order();
  return result;
}

}  // namespace ranktree::mpi
