// The C++ interface of placement as a program uses it: spans in, a plan out, exceptions on errors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranktree/base.h"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/place.hpp"
#include "ranktree/topo.h"

namespace {

using ranktree::Error;
using ranktree::Pattern;
using ranktree::place;
using ranktree::PlaceOptions;
using ranktree::Plan;
using ranktree::Topo;

// Rank i sends to i + ranks/2, with a weight of its own.
std::vector<double> crossed(int ranks) {
  const auto side = static_cast<std::size_t>(ranks);
  std::vector<double> matrix(side * side, 0);
  for (std::size_t i = 0; i < side / 2; ++i) matrix[i * side + i + side / 2] = 1 + static_cast<double>(i);
  return matrix;
}

double sum(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result += value;
  return result;
}

TEST(PlaceHpp, SpansInAPlanOut) {
  const Topo machine = Topo::load("node:3 package:2 core:3");
  ASSERT_EQ(machine.leaf_count(), 18);
  const std::vector<double> matrix = crossed(18);
  std::vector<ranktree_pair> pairs;
  for (int i = 0; i < 9; ++i) pairs.push_back({i, i + 9, 1, std::uint64_t(1 + i)});
  const Plan from_matrix = place(machine, Pattern::dense(18, matrix));
  const Plan from_pairs = place(machine, Pattern::sparse(18, pairs));
  const std::set<int> used(from_matrix.permutation().begin(), from_matrix.permutation().end());
  EXPECT_EQ(used.size(), 18U);
  EXPECT_EQ(from_matrix.cost(), from_pairs.cost());
  EXPECT_EQ(from_matrix.cost("identity"), from_pairs.cost("identity"));
  EXPECT_TRUE(from_matrix.has_gain());
  EXPECT_FALSE(from_matrix.was_stopped());
  EXPECT_DOUBLE_EQ(sum(from_matrix.cost_by_level()), from_matrix.cost());
  EXPECT_LE(from_matrix.bound(), from_matrix.cost());
  EXPECT_DOUBLE_EQ(from_matrix.gap(), (from_matrix.cost() - from_matrix.bound()) / from_matrix.bound());
  for (int rank = 0; rank < 18; ++rank) {
    const int leaf = from_matrix.permutation()[static_cast<std::size_t>(rank)];
    EXPECT_EQ(from_matrix.host(rank), "n" + std::to_string(leaf / 6));
    ASSERT_EQ(from_matrix.pus(rank).size(), 1U);
    EXPECT_EQ(from_matrix.pus(rank)[0], leaf % 6);
  }
  EXPECT_THROW((void)from_matrix.host(18), Error);
  EXPECT_TRUE(from_matrix.pus(-1).empty());
}

TEST(PlaceHpp, OptionsReachTheEngine) {
  const std::array<int, 1> first{0};
  const Topo machine = Topo::load("node:2 core:6").forbid("n0", first).bundle(2);
  const ranktree_pin pin{3, "n1", 4};
  PlaceOptions options{
      .algorithm = RANKTREE_ALGORITHM_ENGINE, .preset = RANKTREE_PRESET_STRONG, .seed = 7, .threads = 2};
  options.pins = {&pin, 1};
  const std::vector<double> matrix = crossed(4);
  const Plan plan = place(machine, Pattern::dense(4, matrix, RANKTREE_BORROW), options);
  EXPECT_EQ(plan.host(3), "n1");
  ASSERT_EQ(plan.pus(3).size(), 2U);
  EXPECT_EQ(plan.pus(3)[0], 4);
  for (int rank = 0; rank < 4; ++rank) EXPECT_FALSE(plan.host(rank) == "n0" && plan.pus(rank)[0] == 0);
}

TEST(PlaceHpp, KeepGoingMayStopAndMayThrow) {
  const Topo machine = Topo::load("node:3 package:2 core:3");
  const Pattern pattern = Pattern::dense(18, crossed(18));
  PlaceOptions options;
  options.keep_going = [] { return false; };
  EXPECT_TRUE(place(machine, pattern, options).was_stopped());
  options.keep_going = []() -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)place(machine, pattern, options), std::runtime_error);
}

TEST(PlaceHpp, ErrorsKeepStatusAndText) {
  const Topo machine = Topo::load("node:2 core:2");
  const auto refused = [](const auto& call, ranktree_status status, const std::string& words) {
    try {
      call();
      ADD_FAILURE() << "accepted; expected " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  const std::vector<double> matrix = crossed(4);
  refused([&] { (void)Topo::load("switch:0"); }, RANKTREE_ERROR_INPUT, "switch");
  refused([&] { (void)Pattern::dense(5, matrix); }, RANKTREE_ERROR_INPUT, "matrix: expected ranks x ranks numbers");
  refused([&] { (void)Pattern::dense(0, {}); }, RANKTREE_ERROR_INPUT, "matrix");
  refused([&] { (void)Pattern::load("no/such.npz"); }, RANKTREE_ERROR_SYSTEM, "no/such.npz");
  refused([&] { (void)place(machine, Pattern::dense(6, crossed(6))); }, RANKTREE_ERROR_MISMATCH, "6 slots");
  PlaceOptions options;
  options.threads = 0;
  refused([&] { (void)place(machine, Pattern::dense(4, matrix), options); }, RANKTREE_ERROR_INPUT, "threads");
  refused([&] { (void)Plan::load("no/such.json"); }, RANKTREE_ERROR_SYSTEM, "no/such.json");
}

TEST(PlaceHpp, APlanFromAFileHasHostsButNoLeaves) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("place_hpp_" + std::to_string(getpid()) + ".json");
  const Plan plan = place(Topo::load("node:2 core:2"), Pattern::dense(4, crossed(4)).expand());
  plan.save(path);
  const Plan again = Plan::load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(again.rank_count(), 4);
  EXPECT_TRUE(again.permutation().empty());
  EXPECT_EQ(again.cost(), plan.cost());
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(again.host(rank), plan.host(rank));
}

}  // namespace
