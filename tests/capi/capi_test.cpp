// The C interface from outside: what a C program sees, bad input first.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "ranktree/base.h"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/topo.h"

extern "C" const char* version_seen_by_c(void);

namespace {

ranktree_topo* load(const char* machine) {
  ranktree_topo* topo = nullptr;
  ranktree_error error;
  EXPECT_EQ(ranktree_topo_load(machine, &topo, &error), RANKTREE_SUCCESS);
  return topo;
}

// Four ranks, 0 talks to 2 and 1 to 3: on two nodes of two cores the order 0,1,2,3 sends everything between nodes.
ranktree_pattern* crossed_pairs() {
  const std::array<ranktree_pair, 2> pairs{{{0, 2, 1, 1000}, {1, 3, 1, 500}}};
  ranktree_pattern* pattern = nullptr;
  EXPECT_EQ(ranktree_pattern_create(4, 2, pairs.data(), &pattern, nullptr), RANKTREE_SUCCESS);
  return pattern;
}

TEST(Capi, VersionIsTheSameFromC) { EXPECT_STREQ(version_seen_by_c(), "0.1.0"); }

TEST(Capi, AMissingFileIsASystemErrorThatNamesIt) {
  ranktree_pattern* pattern = nullptr;
  ranktree_error error{};
  EXPECT_EQ(ranktree_pattern_load("no/such/file.npz", &pattern, &error), RANKTREE_ERROR_SYSTEM);
  EXPECT_EQ(pattern, nullptr);
  EXPECT_EQ(error.status, RANKTREE_ERROR_SYSTEM);
  EXPECT_NE(std::string(error.text).find("no/such/file.npz"), std::string::npos);
}

TEST(Capi, NullParametersAreNamed) {
  ranktree_error error{};
  EXPECT_EQ(ranktree_topo_load("4", nullptr, &error), RANKTREE_ERROR_INPUT);
  EXPECT_NE(std::string(error.text).find("'topo'"), std::string::npos);
}

TEST(Capi, ABadMachineLeavesTheOutputUntouched) {
  ranktree_topo* topo = nullptr;
  EXPECT_NE(ranktree_topo_load("switch:0", &topo, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(topo, nullptr);
}

TEST(Capi, APairOutOfRangeIsAnInputError) {
  const ranktree_pair pair{7, 0, 1, 1};
  ranktree_pattern* pattern = nullptr;
  EXPECT_EQ(ranktree_pattern_create(4, 1, &pair, &pattern, nullptr), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_pattern_create(4, 1, nullptr, &pattern, nullptr), RANKTREE_ERROR_INPUT);
}

TEST(Capi, DistancesFollowTheTree) {
  ranktree_topo* topo = load("node:2 core:2");
  ASSERT_NE(topo, nullptr);
  EXPECT_EQ(ranktree_topo_get_leaf_count(topo), 4);
  double near = -1;
  double far = -1;
  EXPECT_EQ(ranktree_topo_get_distance(topo, 0, 1, &near, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_topo_get_distance(topo, 0, 2, &far, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(near, 2);
  EXPECT_EQ(far, 4);
  EXPECT_EQ(ranktree_topo_get_distance(topo, 0, 4, &far, nullptr), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_topo_get_level_name(topo, 99), nullptr);
  ranktree_topo_destroy(topo);
}

TEST(Capi, APlanBringsTalkingRanksTogetherAndSurvivesItsFile) {
  ranktree_topo* topo = load("node:2 core:2");
  ranktree_pattern* pattern = crossed_pairs();
  ranktree_plan* plan = nullptr;
  ASSERT_EQ(ranktree_place(topo, pattern, nullptr, &plan, nullptr), RANKTREE_SUCCESS);
  EXPECT_TRUE(ranktree_plan_has_gain(plan));
  EXPECT_STREQ(ranktree_plan_get_host(plan, 0), ranktree_plan_get_host(plan, 2));
  EXPECT_STREQ(ranktree_plan_get_host(plan, 1), ranktree_plan_get_host(plan, 3));
  double cost = 0;
  EXPECT_EQ(ranktree_plan_get_cost(plan, "identity", &cost, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(cost, 1500 * 4);
  EXPECT_EQ(ranktree_plan_get_cost(plan, "plan", &cost, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(cost, 1500 * 2);

  const auto path = std::filesystem::temp_directory_path() / ("capi_plan_" + std::to_string(::getpid()) + ".json");
  ranktree_plan* again = nullptr;
  ASSERT_EQ(ranktree_plan_save(plan, path.c_str(), nullptr), RANKTREE_SUCCESS);
  ASSERT_EQ(ranktree_plan_load(path.c_str(), &again, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_plan_get_rank_count(again), 4);
  const int* pus = nullptr;
  EXPECT_EQ(ranktree_plan_get_pus(again, 3, &pus), 1);
  EXPECT_EQ(ranktree_plan_get_pus(again, 4, &pus), 0);
  std::filesystem::remove(path);
  ranktree_plan_destroy(again);
  ranktree_plan_destroy(plan);
  ranktree_pattern_destroy(pattern);
  ranktree_topo_destroy(topo);
}

TEST(Capi, MoreRanksThanLeavesIsAMismatch) {
  ranktree_topo* topo = load("node:1 core:2");
  ranktree_pattern* pattern = crossed_pairs();
  ranktree_plan* plan = nullptr;
  EXPECT_EQ(ranktree_place(topo, pattern, nullptr, &plan, nullptr), RANKTREE_ERROR_MISMATCH);
  ranktree_place_options options;
  ranktree_place_options_init(&options);
  options.oversubscribe = 1;
  EXPECT_EQ(ranktree_place(topo, pattern, &options, &plan, nullptr), RANKTREE_SUCCESS);
  ranktree_plan_destroy(plan);
  ranktree_pattern_destroy(pattern);
  ranktree_topo_destroy(topo);
}

}  // namespace
