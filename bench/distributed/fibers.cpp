// The peak memory of one rank in the distributed placement of 27-point stencils: every rank is a fiber of this process
// with its own vertex, its own messages and its own account of allocations, messages in flight included.
//
// distributed-fibers X Y Z COARSE CORES_PER_NODE [MOST]: fails where a rank holds more than MOST MB. The preset is then
// "fast", because further attempts, one after the other, take time but no memory.
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "accounts.h"
#include "core/place/engine.h"
#include "core/reorder/distributed.h"
#include "core/reorder/network.h"
#include "grid.h"

namespace {

using ranktree::core::reorder::Bytes;
using ranktree::core::reorder::DistributedOrder;

constexpr std::size_t kStack = std::size_t{1} << 20U;
std::size_t running = 0;  // 0: the scheduler, else rank + 1

// Ranks run one after the other, each until it waits for others.
struct World {
  ranktree::bench::Grid grid;
  int coarse = 4096;
  int cores = 128;
  ranktree::core::place::Preset preset = ranktree::core::place::Preset::kDefault;
  ucontext_t scheduler{};
  std::vector<ucontext_t> ranks;
  std::vector<DistributedOrder> orders;
  std::vector<std::map<int, Bytes>> inbox;
  std::vector<double> sums;
  Bytes broadcast;
  int finished = 0;

  void wait() {
    const std::size_t self = running;
    running = 0;
    swapcontext(&ranks[self - 1], &scheduler);
  }
  void run_all();
};

World* world = nullptr;

class FiberNetwork : public ranktree::core::reorder::Network {
 public:
  explicit FiberNetwork(int rank) : rank_(rank) {}
  [[nodiscard]] int shard_of(int id) const override { return id; }
  [[nodiscard]] std::vector<int> held() const override { return {rank_}; }
  std::map<int, Bytes> exchange(const std::map<int, Bytes>& messages) override {
    for (const auto& [to, bytes] : messages) {
      const std::size_t self = std::exchange(running, static_cast<std::size_t>(to) + 1);
      world->inbox[static_cast<std::size_t>(to)][rank_] = bytes;  // charged to the receiver
      running = self;
    }
    world->wait();
    std::map<int, Bytes> received = std::move(world->inbox[static_cast<std::size_t>(rank_)]);
    world->inbox[static_cast<std::size_t>(rank_)].clear();
    world->wait();
    return received;
  }
  std::vector<double> sum(const std::vector<double>& own) override {
    const std::size_t self = std::exchange(running, 0);
    world->sums.resize(own.size(), 0);
    running = self;
    for (std::size_t i = 0; i < own.size(); ++i) world->sums[i] += own[i];
    world->wait();
    std::vector<double> all = world->sums;
    world->wait();
    if (rank_ == 0) world->sums.clear();
    world->wait();
    return all;
  }
  Bytes broadcast(const Bytes& bytes) override {
    const std::size_t self = std::exchange(running, 0);
    if (rank_ == 0) world->broadcast = bytes;
    running = self;
    world->wait();
    Bytes received = world->broadcast;
    world->wait();
    return received;
  }

 private:
  int rank_;
};

void run_rank(int rank) {
  const ranktree::bench::Shuffle shuffle(world->grid.size());
  const auto own = edges_of(world->grid, shuffle, rank);
  FiberNetwork network(rank);
  ranktree::core::reorder::DistributedOptions options;
  options.coarse_vertices = world->coarse;
  options.engine.preset = world->preset;
  order_distributed(network, {{own.peers, own.weights, ranktree::bench::chain_of(rank, world->cores)}}, options,
                    world->orders[static_cast<std::size_t>(rank)]);
}

void start_rank() {
  run_rank(static_cast<int>(running) - 1);
  ++world->finished;
  world->wait();
}

void World::run_all() {
  for (ucontext_t& context : ranks) {
    getcontext(&context);
    context.uc_stack.ss_sp =
        mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    context.uc_stack.ss_size = kStack;
    makecontext(&context, start_rank, 0);
  }
  while (finished == 0) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      running = rank + 1;
      swapcontext(&scheduler, &ranks[rank]);
    }
  }
}

}  // namespace

std::size_t account_index() { return running; }
bool is_counted(const void* /*caller*/) { return true; }

int main(int count, char** arguments) {
  if (count != 6 && count != 7) return 2;
  World all;
  all.grid = {std::atoi(arguments[1]), std::atoi(arguments[2]), std::atoi(arguments[3])};
  all.coarse = std::atoi(arguments[4]);
  all.cores = std::atoi(arguments[5]);
  const double allowed = count == 7 ? std::atof(arguments[6]) : std::numeric_limits<double>::infinity();
  if (count == 7) all.preset = ranktree::core::place::Preset::kFast;
  const auto size = static_cast<std::size_t>(all.grid.size());
  all.ranks.resize(size);
  all.orders.resize(size);
  all.inbox.resize(size);
  world = &all;
  open_accounts();
  all.run_all();
  std::int64_t most = 0;
  std::int64_t sum = 0;
  std::size_t where = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    running = rank + 1;
    const std::int64_t held = own_account().most;
    sum += held;
    if (held > most) where = rank;
    most = std::max(most, held);
  }
  running = 0;
  std::printf("%zu ranks, coarse %d: cost %.0f -> %.0f; held at most %.2f MB (rank %zu), %.3f MB on average\n", size,
              all.coarse, *all.orders[0].before, *all.orders[0].after, static_cast<double>(most) / 1e6, where,
              static_cast<double>(sum) / static_cast<double>(size) / 1e6);
  return static_cast<double>(most) / 1e6 <= allowed ? 0 : 1;
}
