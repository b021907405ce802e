// Between which ranks links are measured.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/collect/select/link_pairs.h"

namespace ranktree::mpi::collect {
namespace {

TEST(Links, AreMeasuredBetweenTheFirstRanksThereAre) {
  using Pairs = std::array<std::pair<int, int>, 2>;
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 0, 1, 1}, 2), (Pairs{{{0, 2}, {0, 1}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 1, 2, 1}, 3), (Pairs{{{0, 1}, {1, 3}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{2, 1, 0, 2}, 3), (Pairs{{{0, 1}, {0, 3}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 0, 0}, 1), (Pairs{{{0, 0}, {0, 1}}}));
  EXPECT_EQ(pairs_to_measure(std::vector<std::int32_t>{0, 1, 2}, 3), (Pairs{{{0, 1}, {0, 0}}}));
  EXPECT_EQ(pairs_to_measure({}, 0), Pairs{});
}

// Inside a call of the program, one rank a node: 2 million ranks would take minutes if each were held against all.
TEST(Links, AreFoundInOneLookAtEachRank) {
  std::vector<std::int32_t> apart(2'000'000);
  std::iota(apart.begin(), apart.end(), 0);
  const auto pairs = pairs_to_measure(apart, static_cast<int>(apart.size()));
  EXPECT_EQ(pairs[0], (std::pair{0, 1}));
  EXPECT_EQ(pairs[1], (std::pair{0, 0}));
}

}  // namespace
}  // namespace ranktree::mpi::collect
