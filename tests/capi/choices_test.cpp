// The C interface's choices and launches: names, texts, machines by unit and cost, files of launchers, verification.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "ranktree/base.h"
#include "ranktree/launch.h"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/topo.h"

namespace {

TEST(Capi, NamesOfTheCommandLineAreChoices) {
  ranktree_algorithm algorithm{};
  ranktree_preset preset{};
  ranktree_metric metric{};
  ranktree_model model{};
  ranktree_unit unit{};
  ranktree_cost cost{};
  EXPECT_EQ(ranktree_algorithm_parse("round-robin", &algorithm, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_preset_parse("strong", &preset, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_metric_parse("avg", &metric, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_model_parse("mpich", &model, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_unit_parse("pu", &unit, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_cost_parse("latency", &cost, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(algorithm, RANKTREE_ALGORITHM_ROUND_ROBIN);
  EXPECT_EQ(preset, RANKTREE_PRESET_STRONG);
  EXPECT_EQ(metric, RANKTREE_METRIC_AVERAGE);
  EXPECT_EQ(model, RANKTREE_MODEL_MPICH);
  EXPECT_EQ(unit, RANKTREE_UNIT_PU);
  EXPECT_EQ(cost, RANKTREE_COST_LATENCY);
  ranktree_error error{};
  EXPECT_EQ(ranktree_preset_parse("hard", &preset, &error), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error.text, "preset: expected 'fast', 'default' or 'strong', found 'hard'");
  EXPECT_EQ(preset, RANKTREE_PRESET_STRONG);
  EXPECT_EQ(ranktree_cost_parse(nullptr, &cost, nullptr), RANKTREE_ERROR_INPUT);
}

TEST(Capi, StatusesHaveTexts) {
  EXPECT_STREQ(ranktree_status_text(RANKTREE_SUCCESS), "success");
  std::set<std::string> texts;
  for (int status = RANKTREE_SUCCESS; status <= RANKTREE_ERROR_MPI; ++status) {
    texts.insert(ranktree_status_text(static_cast<ranktree_status>(status)));
  }
  EXPECT_EQ(texts.size(), 8U);
  EXPECT_FALSE(texts.contains("unknown status"));
  EXPECT_EQ(ranktree_api_version(), RANKTREE_API_VERSION);
}

TEST(Capi, MachinesAreCutAtCoresUnlessPusAreRequested) {
  ranktree_topo_options options;
  ranktree_topo_options_init(&options);
  for (const auto& [unit, leaves] : {std::pair(RANKTREE_UNIT_CORE, 4), std::pair(RANKTREE_UNIT_PU, 8)}) {
    options.unit = unit;
    ranktree_topo* topo = nullptr;
    ASSERT_EQ(ranktree_topo_load("switch:2 node:1 core:2 pu:2", &options, &topo, nullptr), RANKTREE_SUCCESS);
    EXPECT_EQ(ranktree_topo_get_leaf_count(topo), leaves);
    EXPECT_STREQ(ranktree_topo_get_level_name(topo, 1), "Switch0");
    double cost = -1;
    EXPECT_EQ(ranktree_topo_get_level_cost(topo, ranktree_topo_get_level_count(topo) - 1, &cost, nullptr),
              RANKTREE_SUCCESS);
    EXPECT_EQ(cost, 0);
    EXPECT_EQ(ranktree_topo_get_level_cost(topo, 9, &cost, nullptr), RANKTREE_ERROR_INPUT);
    ranktree_topo_destroy(topo);
  }
  options.cost = RANKTREE_COST_LATENCY;  // a description has none
  ranktree_topo* topo = nullptr;
  EXPECT_EQ(ranktree_topo_load("node:2 core:2", &options, &topo, nullptr), RANKTREE_ERROR_UNSUPPORTED);
  EXPECT_EQ(topo, nullptr);
}

// Ranks 0 and 2 on the first node, 1 and 3 on the second one, a core each.
class Launch : public testing::Test {
 protected:
  void SetUp() override {
    const std::array<ranktree_pair, 2> pairs{{{0, 2, 1, 1000}, {1, 3, 1, 500}}};
    const std::string machine = testing::TempDir() + "launch_machine_" + std::to_string(::getpid()) + ".json";
    std::ofstream(machine) << R"({"format": "ranktree-machine", "version": 1, "shapes": {"two": "core:2"},
      "network": {"hosts": [{"names": "h[0-1]", "shape": "two"}]}})";
    ASSERT_EQ(ranktree_topo_load(machine.c_str(), nullptr, &topo_, nullptr), RANKTREE_SUCCESS);
    std::filesystem::remove(machine);
    ASSERT_EQ(ranktree_pattern_create(4, 2, pairs.data(), &pattern_, nullptr), RANKTREE_SUCCESS);
    ASSERT_EQ(ranktree_place(topo_, pattern_, nullptr, &plan_, nullptr), RANKTREE_SUCCESS);
    for (int rank = 0; rank < 4; ++rank) {
      ranktree_location& one = where_.at(static_cast<std::size_t>(rank));
      one.host = ranktree_plan_get_host(plan_, rank);
      one.pu_count = ranktree_plan_get_pus(plan_, rank, &one.pus);
    }
  }
  void TearDown() override {
    ranktree_plan_destroy(plan_);
    ranktree_pattern_destroy(pattern_);
    ranktree_topo_destroy(topo_);
  }

  [[nodiscard]] std::set<int> wrong(int compare_pus) const {
    std::array<int, 4> ranks{};
    int count = -1;
    EXPECT_EQ(ranktree_plan_verify(plan_, 4, where_.data(), compare_pus, ranks.data(), &count, nullptr),
              RANKTREE_SUCCESS);
    return {ranks.begin(), ranks.begin() + count};
  }

  ranktree_topo* topo_ = nullptr;
  ranktree_pattern* pattern_ = nullptr;
  ranktree_plan* plan_ = nullptr;
  std::array<ranktree_location, 4> where_{};
};

TEST_F(Launch, RanksAreVerifiedByHostAndPu) {
  EXPECT_TRUE(wrong(1).empty());
  std::swap(where_[0].host, where_[1].host);
  EXPECT_EQ(wrong(0), (std::set<int>{0, 1}));
  std::swap(where_[0].host, where_[1].host);
  std::swap(where_[0].pus, where_[2].pus);
  EXPECT_EQ(wrong(1), (std::set<int>{0, 2}));
  EXPECT_TRUE(wrong(0).empty());
  const std::string domain = std::string(where_[3].host) + ".cluster.org";
  where_[3].host = domain.c_str();
  EXPECT_TRUE(wrong(0).empty());
}

TEST_F(Launch, VerificationRefusesOtherNumbersOfRanks) {
  int count = -1;
  EXPECT_EQ(ranktree_plan_verify(plan_, 3, where_.data(), 1, nullptr, &count, nullptr), RANKTREE_ERROR_MISMATCH);
  EXPECT_EQ(ranktree_plan_verify(plan_, -1, where_.data(), 1, nullptr, &count, nullptr), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_plan_verify(plan_, 4, nullptr, 1, nullptr, &count, nullptr), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(count, -1);
  EXPECT_EQ(ranktree_plan_verify(plan_, 4, where_.data(), 1, nullptr, &count, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(count, 0);
}

TEST_F(Launch, EveryLauncherIsListedAndOthersAreRefused) {
  const char* const program = "app";
  int launchers = 0;
  for (; ranktree_launcher_name(launchers) != nullptr; ++launchers) {
    ranktree_launch* launch = nullptr;
    ASSERT_EQ(ranktree_launch_create(plan_, ranktree_launcher_name(launchers), "f", &program, 1, &launch, nullptr),
              RANKTREE_SUCCESS);
    // Options alone bind where a launcher has them.
    if (ranktree_launch_get_file_count(launch) > 0) {
      EXPECT_STRNE(ranktree_launch_get_file_text(launch, 0), "");
    }
    EXPECT_EQ(ranktree_launch_get_file_name(launch, 99), nullptr);
    EXPECT_STRNE(ranktree_launch_get_command(launch), "");
    ranktree_launch_destroy(launch);
  }
  EXPECT_EQ(launchers, 11);
  ranktree_launch* launch = nullptr;
  ranktree_error error{};
  EXPECT_EQ(ranktree_launch_create(plan_, "poe", "f", &program, 1, &launch, &error), RANKTREE_ERROR_INPUT);
  EXPECT_NE(std::string(error.text).find("openmpi5"), std::string::npos) << error.text;
  EXPECT_EQ(ranktree_launch_create(plan_, "intel", "f", nullptr, 0, &launch, &error), RANKTREE_ERROR_UNSUPPORTED);
  EXPECT_EQ(launch, nullptr);
}

TEST_F(Launch, APlanOfADescriptionIsMarkedAndHasNoHostsToLaunchOn) {
  EXPECT_FALSE(ranktree_plan_is_described(plan_));
  for (const auto& [machine, status] :
       {std::pair("node:2 core:2", RANKTREE_ERROR_UNSUPPORTED), std::pair("core:4", RANKTREE_SUCCESS)}) {
    ranktree_topo* topo = nullptr;
    ranktree_plan* plan = nullptr;
    ranktree_launch* launch = nullptr;
    ASSERT_EQ(ranktree_topo_load(machine, nullptr, &topo, nullptr), RANKTREE_SUCCESS);
    ASSERT_EQ(ranktree_place(topo, pattern_, nullptr, &plan, nullptr), RANKTREE_SUCCESS);
    EXPECT_TRUE(ranktree_plan_is_described(plan));
    EXPECT_EQ(ranktree_launch_create(plan, "generic", "f", nullptr, 0, &launch, nullptr), status) << machine;
    ranktree_launch_destroy(launch);
    ranktree_plan_destroy(plan);
    ranktree_topo_destroy(topo);
  }
}

}  // namespace
