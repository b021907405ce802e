// Ranks that call with different sizes, a program's error: each gets what fits and an error where data is lost, never
// reads or writes outside its buffers, and later calls stay in step. Threads as ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/shared/combining.h"
#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "helpers/sanitized.h"
#include "thread_ranks.h"

namespace {

using ranktree::core::shared::after;
using ranktree::core::shared::Allgather;
using ranktree::core::shared::Allreduce;
using ranktree::core::shared::Blocks;
using ranktree::core::shared::Broadcast;
using ranktree::core::shared::byte_of;
using ranktree::core::shared::Bytes;
using ranktree::core::shared::Call;
using ranktree::core::shared::Combine;
using ranktree::core::shared::compose;
using ranktree::core::shared::Gather;
using ranktree::core::shared::kSmallCell;
using ranktree::core::shared::Map;
using ranktree::core::shared::map_of;
using ranktree::core::shared::Memory;
using ranktree::core::shared::on_ranks;
using ranktree::core::shared::Reduce;
using ranktree::core::shared::ReduceScatter;
using ranktree::core::shared::Scatter;
using ranktree::core::shared::Team;

constexpr std::size_t kCell = 3 * kSmallCell;
constexpr std::byte kCanary{0xa5};
constexpr std::size_t kCanaries = 64;
enum Kind : int { kBroadcast, kGather, kScatter, kAllgather, kReduce, kAllreduce, kReduceScatter, kKinds };

struct Drawn {
  std::uint64_t number = 0;
  int kind = 0;
  int root = 0;
  std::vector<std::size_t> sizes;  // of each rank, multiples of a Map
};

// Bytes that a gather moves of each block: rounds of the shortest one that is sent.
std::size_t reach_of_gather(const Drawn& drawn) {
  std::size_t shortest = SIZE_MAX;
  for (std::size_t rank = 0; rank < drawn.sizes.size(); ++rank) {
    if (static_cast<int>(rank) != drawn.root) shortest = std::min(shortest, drawn.sizes[rank]);
  }
  return std::max<std::size_t>((shortest + kCell - 1) / kCell, 1) * kCell;
}

// One rank of a team with the operations it checks.
class Player {
 public:
  explicit Player(Team& team) : team_(team) {}

  void play(const Drawn& drawn) {
    drawn_ = &drawn;
    switch (drawn.kind) {
      case kBroadcast:
        return broadcast();
      case kGather:
        return gather();
      case kScatter:
        return scatter();
      case kAllgather:
        return allgather();
      case kReduce:
        return reduce();
      case kAllreduce:
        return allreduce();
      default:
        return reduce_scatter();
    }
  }

 private:
  [[nodiscard]] int rank() const { return team_.rank(); }
  [[nodiscard]] auto ranks() const { return static_cast<std::size_t>(team_.ranks()); }
  [[nodiscard]] bool is_root() const { return rank() == drawn_->root; }
  [[nodiscard]] std::size_t size_of(std::size_t rank) const { return drawn_->sizes[rank]; }
  [[nodiscard]] std::size_t own() const { return size_of(static_cast<std::size_t>(rank())); }
  [[nodiscard]] std::size_t sent() const { return size_of(static_cast<std::size_t>(drawn_->root)); }
  [[nodiscard]] std::size_t fewest() const { return *std::min_element(drawn_->sizes.begin(), drawn_->sizes.end()); }
  [[nodiscard]] std::size_t most() const { return *std::max_element(drawn_->sizes.begin(), drawn_->sizes.end()); }

  void finish(Call& call, bool truncated) {
    while (!call.progress()) std::this_thread::yield();
    EXPECT_EQ(call.truncated(), truncated) << where();
  }
  [[nodiscard]] std::string where() const {
    std::string text = "kind " + std::to_string(drawn_->kind) + " operation " + std::to_string(drawn_->number) +
                       " rank " + std::to_string(rank()) + " root " + std::to_string(drawn_->root) + " sizes";
    for (const std::size_t size : drawn_->sizes) text += " " + std::to_string(size);
    return text;
  }
  void expect(const Bytes& got, const Bytes& wanted) const { EXPECT_TRUE(got == wanted) << where(); }

  // --- moving
  [[nodiscard]] Bytes made(std::size_t from, std::size_t bytes) const {
    Bytes data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = byte_of(drawn_->number, static_cast<int>(from), i);
    return data;
  }
  [[nodiscard]] static Bytes empty(std::size_t bytes) { return Bytes(bytes + kCanaries, kCanary); }
  // So much of what rank `from` has at `at`.
  void put(Bytes& into, std::size_t at, std::size_t from, std::size_t bytes) const {
    const Bytes data = made(from, bytes);
    std::copy(data.begin(), data.end(), into.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void broadcast() {
    Bytes data = empty(own());
    Bytes wanted = data;
    const auto root = static_cast<std::size_t>(drawn_->root);
    if (is_root()) put(data, 0, root, own());
    put(wanted, 0, root, std::min(own(), sent()));
    Broadcast call(team_, drawn_->root, std::span(data).first(own()));
    finish(call, sent() > own());
    EXPECT_EQ(call.sent(), sent());
    expect(data, wanted);
  }
  void gather() {
    const Bytes mine = made(static_cast<std::size_t>(rank()), own());
    Bytes all = empty(is_root() ? ranks() * own() : 0);
    Bytes wanted = all;
    bool truncated = false;
    const std::size_t reach = reach_of_gather(*drawn_);
    for (std::size_t from = 0; is_root() && from < ranks(); ++from) {
      const bool itself = static_cast<int>(from) == rank();
      put(wanted, from * own(), from, itself ? own() : std::min({own(), size_of(from), reach}));
      truncated = truncated || (!itself && (size_of(from) > own() || size_of(from) > reach));
    }
    Gather call(team_, drawn_->root, mine, all.data());
    finish(call, truncated);
    expect(all, wanted);
  }
  // Rank r is sent what is rank r's in the root's blocks.
  void scatter() {
    Bytes all;
    for (std::size_t to = 0; is_root() && to < ranks(); ++to) {
      const Bytes block = made(to, own());
      all.insert(all.end(), block.begin(), block.end());
    }
    Bytes data = empty(own());
    Bytes wanted = data;
    put(wanted, 0, static_cast<std::size_t>(rank()), std::min(own(), sent()));
    Scatter call(team_, drawn_->root, all.data(), std::span(data).first(own()));
    finish(call, sent() > own());
    EXPECT_EQ(call.sent(), sent());
    expect(data, wanted);
  }
  void allgather() {
    const Bytes mine = made(static_cast<std::size_t>(rank()), own());
    Bytes all = empty(ranks() * own());
    Bytes wanted = all;
    for (std::size_t from = 0; from < ranks(); ++from) put(wanted, from * own(), from, std::min(own(), size_of(from)));
    Allgather call(team_, mine, {all.data(), own(), {}});
    finish(call, most() > own());
    expect(all, wanted);
  }

  // --- combining
  [[nodiscard]] std::vector<Map> operand(std::size_t bytes) const {
    std::vector<Map> maps(bytes / sizeof(Map));
    for (std::size_t i = 0; i < maps.size(); ++i) maps[i] = map_of(drawn_->number, rank(), i);
    return maps;
  }
  [[nodiscard]] std::vector<Map> untouched(std::size_t bytes) const {
    return std::vector<Map>(bytes / sizeof(Map) + 8, Map{7, 7});
  }
  void combine_into(std::vector<Map>& wanted, std::size_t first, std::size_t elements) const {
    for (std::size_t i = 0; i < elements; ++i) {
      wanted[i] = {};
      for (int from = 0; from < team_.ranks(); ++from) {
        wanted[i] = after(wanted[i], map_of(drawn_->number, from, first + i));
      }
    }
  }
  Combine combine() { return {compose, &calls_, sizeof(Map)}; }
  static std::byte* bytes(std::vector<Map>& maps) { return reinterpret_cast<std::byte*>(maps.data()); }
  void expect(const std::vector<Map>& got, const std::vector<Map>& wanted) const {
    EXPECT_TRUE(got == wanted) << where();
  }

  void reduce() {
    std::vector<Map> input = operand(own());
    std::vector<Map> output = untouched(own());
    std::vector<Map> wanted = output;
    if (is_root()) combine_into(wanted, 0, fewest() / sizeof(Map));
    Reduce call(team_, drawn_->root, {bytes(input), is_root() ? bytes(output) : nullptr, own() / sizeof(Map)},
                combine());
    finish(call, is_root() && most() > own());
    EXPECT_EQ(call.completed(), is_root() ? fewest() / sizeof(Map) : 0) << where();
    expect(output, wanted);
  }
  void allreduce() {
    std::vector<Map> input = operand(own());
    std::vector<Map> output = untouched(own());
    std::vector<Map> wanted = output;
    combine_into(wanted, 0, fewest() / sizeof(Map));
    Allreduce call(team_, {bytes(input), bytes(output), own() / sizeof(Map)}, combine());
    finish(call, most() > own());
    expect(output, wanted);
  }
  // Blocks of own() / ranks, or lists with that sum whose first block is longer by as much as the last is shorter.
  void reduce_scatter() {
    const std::size_t block = own() / ranks() / sizeof(Map);
    std::vector<std::size_t> starts(ranks() + 1);
    for (std::size_t to = 1; to <= ranks(); ++to) starts[to] = to * block;
    const bool equal_blocks = drawn_->number % 3 != 0;
    const std::size_t shift = equal_blocks ? 0 : std::min(block, own() / sizeof(Map) % 3);
    for (std::size_t to = 1; to < ranks(); ++to) starts[to] += shift;
    std::vector<Map> input = operand(starts.back() * sizeof(Map));
    std::vector<Map> output = untouched(own() + shift * sizeof(Map));
    std::vector<Map> wanted = output;
    const auto me = static_cast<std::size_t>(rank());
    const bool differ = differ_in_blocks(equal_blocks);
    if (!differ) combine_into(wanted, starts[me], starts[me + 1] - starts[me]);
    ReduceScatter call(team_, {bytes(input), bytes(output), starts.back()}, starts, combine());
    finish(call, differ);
    EXPECT_EQ(call.completed(), differ ? 0 : starts[me + 1] - starts[me]) << where();
    expect(output, wanted);
  }
  [[nodiscard]] bool differ_in_blocks(bool equal_blocks) const {
    const auto blocks_of = [&](std::size_t size) {
      const std::size_t block = size / ranks() / sizeof(Map);
      const bool alone = ranks() == 1;
      return std::pair(block, equal_blocks || alone ? 0 : std::min(block, size / sizeof(Map) % 3));
    };
    return std::any_of(drawn_->sizes.begin(), drawn_->sizes.end(),
                       [&](std::size_t size) { return blocks_of(size) != blocks_of(own()); });
  }

  Team& team_;
  const Drawn* drawn_ = nullptr;
  std::size_t calls_ = 0;
};

// Every second operation is of equal sizes: one that is right.
std::vector<Drawn> draw(int ranks, int count) {
  constexpr std::array<std::size_t, 11> kSizes = {
      0, 8, 400, kSmallCell - 8, kSmallCell, kSmallCell + 8, kCell, kCell + 8, 2 * kCell, 3 * kCell + 16, 7 * kCell};
  std::mt19937 random(static_cast<unsigned>(ranks));
  std::vector<Drawn> drawn(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    Drawn& one = drawn[i];
    one.number = i;
    one.kind = static_cast<int>(random() % kKinds);
    one.root = static_cast<int>(random() % static_cast<unsigned>(ranks));
    one.sizes.assign(static_cast<std::size_t>(ranks), kSizes[random() % kSizes.size()]);
    if (i % 2 == 1) continue;
    const bool one_alone = random() % 2 == 0;
    for (std::size_t rank = 0; rank < one.sizes.size(); ++rank) {
      if (!one_alone || rank == i / 2 % one.sizes.size()) one.sizes[rank] = kSizes[random() % kSizes.size()];
    }
  }
  return drawn;
}

class Sizes : public testing::TestWithParam<int> {};

TEST_P(Sizes, MayDifferBetweenRanks) {
  const int ranks = GetParam();
  const std::vector<Drawn> drawn = draw(ranks, ranktree::test::kSanitized ? 300 : 1200);
  const Memory memory(Team::bytes_for(ranks, kCell));
  on_ranks(ranks, [&](int rank) {
    Team team(memory.span(), rank, ranks, kCell);
    Player player(team);
    for (const Drawn& one : drawn) player.play(one);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sizes, testing::Values(1, 2, 3, 4, 5, 7),
                         [](const auto& one) { return std::to_string(one.param) + "Ranks"; });

}  // namespace
