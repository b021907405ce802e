// Operations in shared memory with threads as ranks: random sequences against what each must give.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "helpers/sanitized.h"
#include "mpi/collect/shared/segment.h"
#include "sleeping.h"
#include "thread_ranks.h"

namespace {

using ranktree::core::shared::after;
using ranktree::core::shared::Allgather;
using ranktree::core::shared::Allreduce;
using ranktree::core::shared::Barrier;
using ranktree::core::shared::Blocks;
using ranktree::core::shared::Broadcast;
using ranktree::core::shared::byte_of;
using ranktree::core::shared::Bytes;
using ranktree::core::shared::Call;
using ranktree::core::shared::Combine;
using ranktree::core::shared::compose;
using ranktree::core::shared::Gather;
using ranktree::core::shared::kSmallCell;
using ranktree::core::shared::kSmallDepth;
using ranktree::core::shared::Map;
using ranktree::core::shared::map_of;
using ranktree::core::shared::Memory;
using ranktree::core::shared::on_ranks;
using ranktree::core::shared::Reduce;
using ranktree::core::shared::ReduceScatter;
using ranktree::core::shared::Scatter;
using ranktree::core::shared::Team;
using ranktree::mpi::collect::wake;
using ranktree::tests::sleep;

struct Drawn {
  std::uint64_t number = 0;
  int kind = 0;
  int root = 0;
  std::size_t size = 0;
  bool in_place = false;
};

// One rank of a team with the operations it checks.
class Player {
 public:
  Player(Team& team, unsigned seed) : team_(team), random_(seed) {}

  void play(const Drawn& drawn) {
    drawn_ = drawn;
    switch (drawn.kind) {
      case 0:
        return barrier();
      case 1:
        return broadcast();
      case 2:
        return gather();
      case 3:
        return scatter();
      case 4:
        return allgather();
      case 5:
        return reduce();
      case 6:
        return allreduce();
      default:
        return reduce_scatter();
    }
  }

 private:
  static constexpr std::byte kCanary{0xa5};

  [[nodiscard]] int rank() const { return team_.rank(); }
  [[nodiscard]] auto ranks() const { return static_cast<std::size_t>(team_.ranks()); }
  [[nodiscard]] bool is_root() const { return rank() == drawn_.root; }

  void delay() {
    const unsigned what = static_cast<unsigned>(random_()) % 64;
    if (what == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
    if (what < 8) std::this_thread::yield();
  }
  // Every sleeper must be woken: one that is forgotten sleeps until its time is over.
  void wait() {
    if (team_.may_sleep() && team_.awaited()) {
      EXPECT_TRUE(sleep(team_, *team_.awaited(), std::chrono::seconds(10)));
    } else {
      std::this_thread::yield();
    }
  }
  void finish(Call& call) {
    delay();
    while (!call.progress()) wait();
    EXPECT_TRUE(call.progress());
    delay();
  }

  // --- moving
  [[nodiscard]] Bytes made(int rank, std::size_t bytes) const {
    Bytes data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = byte_of(drawn_.number, rank, i);
    return data;
  }
  [[nodiscard]] Bytes all_blocks() const {
    Bytes all;
    for (int from = 0; from < team_.ranks(); ++from) {
      const Bytes block = made(from, drawn_.size);
      all.insert(all.end(), block.begin(), block.end());
    }
    return all;
  }
  void expect(const Bytes& got, const Bytes& wanted) const {
    EXPECT_TRUE(got == wanted) << "kind " << drawn_.kind << " operation " << drawn_.number << " rank " << rank()
                               << " of " << team_.ranks() << " root " << drawn_.root << " size " << drawn_.size;
  }
  [[nodiscard]] static Bytes expecting(Bytes wanted) {
    wanted.push_back(kCanary);
    return wanted;
  }

  void barrier() {
    Barrier call(team_);
    finish(call);
  }
  void broadcast() {
    Bytes data = is_root() ? made(drawn_.root, drawn_.size) : Bytes(drawn_.size);
    data.push_back(kCanary);
    Broadcast call(team_, drawn_.root, std::span(data).first(drawn_.size));
    if (is_root() && drawn_.in_place) {
      for (std::size_t there = 0; there < drawn_.size; there += drawn_.size / 3 + 1) {
        call.make_available(there);
        call.progress();
        delay();
      }
      call.make_available(drawn_.size);
    }
    finish(call);
    expect(data, expecting(made(drawn_.root, drawn_.size)));
  }
  void gather() {
    const Bytes own = made(rank(), drawn_.size);
    Bytes all(is_root() ? ranks() * drawn_.size : 0);
    all.push_back(kCanary);
    Gather call(team_, drawn_.root, own, all.data());
    finish(call);
    if (is_root()) expect(all, expecting(all_blocks()));
  }
  void scatter() {
    Bytes all = is_root() ? all_blocks() : Bytes();
    Bytes own(drawn_.size + 1, kCanary);
    Scatter call(team_, drawn_.root, all.data(), std::span(own).first(drawn_.size));
    finish(call);
    expect(own, expecting(made(rank(), drawn_.size)));
  }
  // Blocks of different sizes, the last ones first.
  void allgather() {
    std::vector<Blocks::Block> blocks(ranks());
    Bytes all;
    Bytes wanted;
    std::size_t sum = 0;
    for (std::size_t from = 0; from < ranks(); ++from) sum += size_of(from);
    all.assign(sum + 1, kCanary);
    std::size_t at = 0;
    for (std::size_t from = ranks(); from-- > 0; at += size_of(from)) {
      blocks[from] = {all.data() + at, size_of(from)};
      const Bytes block = made(static_cast<int>(from), size_of(from));
      wanted.insert(wanted.end(), block.begin(), block.end());
    }
    const auto me = static_cast<std::size_t>(rank());
    Bytes own = made(rank(), size_of(me));
    if (drawn_.in_place) std::copy(own.begin(), own.end(), blocks[me].data);
    const std::span<const std::byte> from = drawn_.in_place ? std::span(blocks[me].data, size_of(me)) : std::span(own);
    Allgather call(team_, from, {nullptr, drawn_.size, blocks});
    finish(call);
    expect(all, expecting(wanted));
  }
  [[nodiscard]] std::size_t size_of(std::size_t rank) const {
    return rank % 3 == 1 ? drawn_.size / 2 : drawn_.size - (rank % 3 == 2 && drawn_.size > 0 ? 1 : 0);
  }

  // --- combining
  [[nodiscard]] std::vector<Map> operand(std::size_t elements) const {
    std::vector<Map> maps(elements);
    for (std::size_t i = 0; i < elements; ++i) maps[i] = map_of(drawn_.number, rank(), i);
    return maps;
  }
  [[nodiscard]] std::vector<Map> combined(std::size_t first, std::size_t elements) const {
    std::vector<Map> maps(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      for (int from = 0; from < team_.ranks(); ++from) {
        maps[i] = after(maps[i], map_of(drawn_.number, from, first + i));
      }
    }
    return maps;
  }
  Combine combine() { return {compose, &calls_, sizeof(Map)}; }
  static std::byte* bytes(std::vector<Map>& maps) { return reinterpret_cast<std::byte*>(maps.data()); }
  void expect(const std::vector<Map>& got, const std::vector<Map>& wanted) const {
    EXPECT_TRUE(got == wanted) << "kind " << drawn_.kind << " operation " << drawn_.number << " rank " << rank()
                               << " of " << team_.ranks() << " root " << drawn_.root << " size " << drawn_.size;
  }
  [[nodiscard]] std::size_t elements() const { return (drawn_.size + sizeof(Map) - 1) / sizeof(Map); }

  void reduce() {
    std::vector<Map> input = operand(elements());
    std::vector<Map> output(elements());
    std::vector<Map>& result = drawn_.in_place ? input : output;
    Reduce call(team_, drawn_.root, {bytes(input), is_root() ? bytes(result) : nullptr, elements()}, combine());
    finish(call);
    if (!is_root()) return;
    EXPECT_EQ(call.completed(), elements());
    expect(result, combined(0, elements()));
  }
  void allreduce() {
    std::vector<Map> input = operand(elements());
    std::vector<Map> output(elements());
    std::vector<Map>& result = drawn_.in_place ? input : output;
    Allreduce call(team_, {bytes(input), bytes(result), elements()}, combine());
    finish(call);
    expect(result, combined(0, elements()));
  }
  // In place the block goes to the beginning of the operand.
  void reduce_scatter() {
    std::vector<std::size_t> starts{0};
    for (std::size_t to = 0; to < ranks(); ++to) starts.push_back(starts.back() + size_of(to) / ranks() / sizeof(Map));
    const auto me = static_cast<std::size_t>(rank());
    const std::size_t block = starts[me + 1] - starts[me];
    std::vector<Map> input = operand(starts.back());
    std::vector<Map> output(block);
    std::byte* const into = drawn_.in_place ? bytes(input) : bytes(output);
    ReduceScatter call(team_, {bytes(input), into, starts.back()}, starts, combine());
    finish(call);
    if (drawn_.in_place) output.assign(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(block));
    expect(output, combined(starts[me], block));
  }

  Team& team_;
  std::mt19937 random_;
  Drawn drawn_;
  std::size_t calls_ = 0;
};

std::vector<Drawn> draw(int ranks, std::size_t cell, int count, unsigned seed) {
  const std::array<std::size_t, 8> sizes = {0, 1, 64, kSmallCell - 8, kSmallCell, kSmallCell + 1, cell, 3 * cell};
  std::mt19937 random(seed);
  std::vector<Drawn> drawn(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::size_t size = sizes[random() % sizes.size()];
    if (random() % 2 == 0) size = random() % (size + 1);
    if (random() % 16 == 0 && ranks <= 5) size = 5 * cell * static_cast<std::size_t>(ranks) / 2;
    drawn[i] = {i, static_cast<int>(random() % 8), static_cast<int>(random() % static_cast<unsigned>(ranks)), size,
                random() % 2 == 0};
  }
  return drawn;
}

void play_all(int ranks, std::size_t cell, const std::vector<Drawn>& drawn, bool asleep = false) {
  const Memory memory(Team::bytes_for(ranks, cell));
  on_ranks(ranks, [&](int rank) {
    Team team(memory.span(), rank, ranks, cell);
    if (asleep) team.let_sleep(wake);
    Player player(team, static_cast<unsigned>(rank));
    for (const Drawn& one : drawn) player.play(one);
  });
}

class Sequences : public testing::TestWithParam<std::tuple<int, std::size_t, bool>> {};

TEST_P(Sequences, GiveWhatEachOperationMust) {
  const auto [ranks, cell, asleep] = GetParam();
  play_all(ranks, cell, draw(ranks, cell, 160, static_cast<unsigned>(ranks)), asleep);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sequences,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 7, 8, 13, 16),
                                          testing::Values(kSmallCell, 5 * kSmallCell), testing::Bool()),
                         [](const auto& one) {
                           return std::to_string(std::get<0>(one.param)) + "RanksCell" +
                                  std::to_string(std::get<1>(one.param)) +
                                  (std::get<2>(one.param) ? "Asleep" : "Awake");
                         });

// Nothing but small calls, in which one rank waits for no other: it may be ahead, but not by more than there are cells.
TEST(SmallCalls, StayWithinTheNumberOfCells) {
  for (const int kind : {1, 2, 3, 5}) {
    std::vector<Drawn> drawn(400);
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = {i, kind, static_cast<int>(i / 100 % 3), 40, false};
    play_all(3, kSmallCell, drawn);
  }
}

// A rank publishes that it has finished a call when it begins the next one: a root is ahead of it by one call less than
// there are cells, and goes on as soon as it has begun.
TEST(SmallCalls, ArePublishedAsFinishedWithTheNext) {
  const Memory memory(Team::bytes_for(2, kSmallCell));
  Team root(memory.span(), 0, 2, kSmallCell);
  Team other(memory.span(), 1, 2, kSmallCell);
  const auto call = [](Team& team, std::byte& data) { return Broadcast(team, 0, {&data, 1}); };
  std::array<std::byte, 2 * kSmallDepth> sent{};
  for (std::size_t i = 0; i < sent.size(); ++i) sent.at(i) = static_cast<std::byte>(i + 1);
  std::byte got{};
  for (std::size_t i = 0; i < kSmallDepth; ++i) EXPECT_TRUE(call(root, sent.at(i)).progress());
  Broadcast next = call(root, sent.at(kSmallDepth));
  EXPECT_FALSE(next.progress());
  EXPECT_TRUE(call(other, got).progress());
  EXPECT_EQ(got, sent.at(0));
  EXPECT_FALSE(next.progress());
  EXPECT_TRUE(call(other, got).progress());
  EXPECT_EQ(got, sent.at(1));
  EXPECT_TRUE(next.progress());
  Barrier last(root);
  EXPECT_FALSE(last.progress());
  for (std::size_t i = 2; i <= kSmallDepth; ++i) {
    EXPECT_TRUE(call(other, got).progress());
    EXPECT_EQ(got, sent.at(i));
  }
  EXPECT_TRUE(Barrier(other).progress());
  EXPECT_TRUE(last.progress());
}

// Large and small cells in turn, so that both sets are used again at every distance.
TEST(CellsOfBothSizes, TakeTurns) {
  std::vector<Drawn> drawn(300);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const std::size_t size = (i * i / 7) % 3 == 0 ? 3 * kSmallCell : 16;
    drawn[i] = {i, static_cast<int>(i % 2 == 0 ? 1 : 6), static_cast<int>(i % 4), size, false};
  }
  play_all(4, 2 * kSmallCell, drawn);
}

TEST(Barrier, ReleasesNoRankBeforeAllHaveEntered) {
  constexpr int kRanks = 5;
  const Memory memory(Team::bytes_for(kRanks, kSmallCell));
  std::array<std::atomic<int>, kRanks> come{};
  std::atomic<int> early{0};
  on_ranks(kRanks, [&](int rank) {
    Team team(memory.span(), rank, kRanks, kSmallCell);
    for (int round = 1; round <= 200; ++round) {
      come[static_cast<std::size_t>(rank)].store(round, std::memory_order_relaxed);
      Barrier call(team);
      while (!call.progress()) std::this_thread::yield();
      for (const auto& other : come) early += other.load(std::memory_order_relaxed) < round ? 1 : 0;
    }
  });
  EXPECT_EQ(early.load(), 0);
}

// A broadcast whose root has only a part yet hands on that part.
TEST(Broadcast, HandsOnWhatIsThere) {
  constexpr std::size_t kCell = 32 * kSmallCell;
  const Memory memory(Team::bytes_for(2, kCell));
  Team root(memory.span(), 0, 2, kCell);
  Team other(memory.span(), 1, 2, kCell);
  Bytes data(3 * kCell, std::byte{7});
  Bytes got(3 * kCell);
  Broadcast from(root, 0, data);
  Broadcast into(other, 0, got);
  from.make_available(kCell + 1);
  EXPECT_FALSE(from.progress());
  EXPECT_FALSE(into.progress());
  EXPECT_EQ(std::count(got.begin(), got.end(), std::byte{7}), static_cast<std::ptrdiff_t>(kCell));
  from.make_available(data.size());
  EXPECT_TRUE(from.progress());
  EXPECT_TRUE(into.progress());
  EXPECT_TRUE(got == data);
}

// The root's size counts, on whatever cells and rounds others have expected, and the calls behind are in step.
TEST(Broadcast, FollowsTheSizeOfItsRoot) {
  constexpr int kRanks = 3;
  constexpr std::size_t kCell = 2 * kSmallCell;
  const std::array<std::size_t, 7> sizes = {0, 1, kSmallCell, kSmallCell + 1, 3 * kCell, 9 * kCell, 40 * kCell};
  const Memory memory(Team::bytes_for(kRanks, kCell));
  on_ranks(kRanks, [&](int rank) {
    Team team(memory.span(), rank, kRanks, kCell);
    team.set_part(kSmallCell);
    for (std::size_t i = 0; i < (ranktree::test::kSanitized ? 5 : 20) * sizes.size() * sizes.size(); ++i) {
      const int root = static_cast<int>(i / 10 % kRanks);
      const std::size_t sent = sizes[i % sizes.size()];
      const std::size_t capacity = rank == root ? sent : sizes[i / sizes.size() % sizes.size()];
      Bytes data(capacity + 1, std::byte{0xa5});
      if (rank == root) std::fill_n(data.begin(), capacity, static_cast<std::byte>(i % 100));
      Broadcast call(team, root, std::span(data).first(capacity));
      while (!call.progress()) std::this_thread::yield();
      EXPECT_EQ(call.sent(), sent);
      const auto filled = static_cast<std::ptrdiff_t>(std::min(capacity, sent));
      EXPECT_EQ(std::count(data.begin(), data.begin() + filled, static_cast<std::byte>(i % 100)), filled);
      EXPECT_EQ(std::count(data.begin() + filled, data.end(), std::byte{0xa5}), data.end() - data.begin() - filled);
    }
  });
}

class Budget : public testing::TestWithParam<std::tuple<int, std::size_t>> {};

TEST_P(Budget, IsKeptByCells) {
  const auto [ranks, mebibytes] = GetParam();
  const std::size_t budget = mebibytes << 20U;
  const std::size_t cell = Team::cell_within(budget, ranks);
  EXPECT_LE(Team::bytes_for(ranks, cell), budget);
  EXPECT_EQ(cell % kSmallCell, 0U);
  EXPECT_LE(cell, std::size_t{128} << 10U);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Budget,
                         testing::Combine(testing::Values(2, 3, 16, 100, 256), testing::Values(20, 40, 1024)));

TEST(Cells, HaveALeastAndALargestSize) {
  EXPECT_EQ(Team::cell_within(0, 4), kSmallCell);
  EXPECT_EQ(Team::cell_within(std::size_t{16} << 20U, 16), std::size_t{128} << 10U);
}

}  // namespace
