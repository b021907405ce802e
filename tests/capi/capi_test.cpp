// The C interface as a C program uses it, bad input first.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ranktree/base.h"
#include "ranktree/pattern.h"
#include "ranktree/place.h"
#include "ranktree/topo.h"

extern "C" const char* version_seen_by_c(void);

namespace {

ranktree_topo* load(const char* machine) {
  ranktree_topo* topo = nullptr;
  ranktree_error error;
  EXPECT_EQ(ranktree_topo_load(machine, nullptr, &topo, &error), RANKTREE_SUCCESS);
  return topo;
}

// Four ranks, 0 sends to 2 and 1 to 3: on two nodes of two cores the order 0,1,2,3 sends everything between nodes.
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
  EXPECT_EQ(ranktree_pattern_load("no/such/file.npz", RANKTREE_METRIC_SIZE, &pattern, &error), RANKTREE_ERROR_SYSTEM);
  EXPECT_EQ(pattern, nullptr);
  EXPECT_EQ(error.status, RANKTREE_ERROR_SYSTEM);
  EXPECT_NE(std::string(error.text).find("no/such/file.npz"), std::string::npos);
}

TEST(Capi, NullParametersAreNamed) {
  ranktree_error error{};
  EXPECT_EQ(ranktree_topo_load("4", nullptr, nullptr, &error), RANKTREE_ERROR_INPUT);
  EXPECT_NE(std::string(error.text).find("'topo'"), std::string::npos);
}

TEST(Capi, ABundleOfMoreLeavesThanThereAreIsAMismatch) {
  ranktree_topo* topo = load("core:6");
  ranktree_topo* bundled = nullptr;
  ranktree_error error{};
  EXPECT_EQ(ranktree_topo_bundle(topo, 7, &bundled, &error), RANKTREE_ERROR_MISMATCH);
  EXPECT_NE(std::string(error.text).find("found 7"), std::string::npos);
  EXPECT_EQ(ranktree_topo_bundle(topo, 0, &bundled, nullptr), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(bundled, nullptr);
  ASSERT_EQ(ranktree_topo_bundle(topo, 6, &bundled, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(ranktree_topo_get_leaf_count(bundled), 1);
  ranktree_topo_destroy(bundled);
  ranktree_topo_destroy(topo);
}

TEST(Capi, MorePairsThanMemoryHasAreAnInputError) {
  const ranktree_pair pair{0, 1, 1, 1};
  ranktree_pattern* pattern = nullptr;
  ranktree_error error{};
  EXPECT_EQ(ranktree_pattern_create(2, std::numeric_limits<std::uint64_t>::max(), &pair, &pattern, &error),
            RANKTREE_ERROR_INPUT);
  EXPECT_NE(std::string(error.text).find("count: expected at most"), std::string::npos);
}

TEST(Capi, ABadMachineLeavesTheOutputUntouched) {
  ranktree_topo* topo = nullptr;
  EXPECT_NE(ranktree_topo_load("switch:0", nullptr, &topo, nullptr), RANKTREE_SUCCESS);
  EXPECT_EQ(topo, nullptr);
}

TEST(Capi, APairOutOfRangeIsAnInputError) {
  const ranktree_pair pair{7, 0, 1, 1};
  ranktree_pattern* pattern = nullptr;
  EXPECT_EQ(ranktree_pattern_create(4, 1, &pair, &pattern, nullptr), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_pattern_create(4, 1, nullptr, &pattern, nullptr), RANKTREE_ERROR_INPUT);
  const ranktree_pair huge{1, 0, 1, (std::uint64_t{1} << 53) + 1};
  EXPECT_EQ(ranktree_pattern_create(4, 1, &huge, &pattern, nullptr), RANKTREE_ERROR_INPUT);
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

TEST(Capi, APlanBringsCommunicatingRanksTogetherAndSurvivesItsFile) {
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

// Options for a search that lasts until it is stopped, on a pattern that takes some time.
class Place : public testing::Test {
 protected:
  void SetUp() override {
    topo_ = load("node:4 core:4");
    std::vector<ranktree_pair> pairs;
    for (int from = 0; from < 16; ++from) {
      for (int to = 0; to < from; ++to) pairs.push_back({from, to, 1, std::uint64_t(1 + (7 * from + 5 * to) % 31)});
    }
    EXPECT_EQ(ranktree_pattern_create(16, pairs.size(), pairs.data(), &pattern_, nullptr), RANKTREE_SUCCESS);
    ranktree_place_options_init(&options_);
  }

  void TearDown() override {
    ranktree_plan_destroy(plan_);
    ranktree_pattern_destroy(pattern_);
    ranktree_topo_destroy(topo_);
  }

  ranktree_status place() {
    ranktree_plan_destroy(plan_);
    plan_ = nullptr;
    return ranktree_place(topo_, pattern_, &options_, &plan_, &error_);
  }

  [[nodiscard]] double cost(const char* row) const {
    double cost = -1;
    EXPECT_EQ(ranktree_plan_get_cost(plan_, row, &cost, nullptr), RANKTREE_SUCCESS);
    return cost;
  }

  [[nodiscard]] double bound() const {
    double bound = -1;
    EXPECT_EQ(ranktree_plan_get_bound(plan_, &bound, nullptr), RANKTREE_SUCCESS);
    return bound;
  }

  ranktree_topo* topo_ = nullptr;
  ranktree_pattern* pattern_ = nullptr;
  ranktree_plan* plan_ = nullptr;
  ranktree_place_options options_{};
  ranktree_error error_{};
};

TEST_F(Place, PinsAndForbiddenPusAreRespected) {
  const std::array<int, 2> everywhere{3, 1};
  const int here = 0;
  ranktree_topo* less = nullptr;
  ranktree_topo* least = nullptr;
  ranktree_topo_destroy(topo_);
  topo_ = load("node:6 core:5");
  ASSERT_EQ(ranktree_topo_forbid(topo_, nullptr, everywhere.data(), 2, &less, nullptr), RANKTREE_SUCCESS);
  ASSERT_EQ(ranktree_topo_forbid(less, "n2", &here, 1, &least, nullptr), RANKTREE_SUCCESS);
  ranktree_topo_destroy(less);
  ranktree_topo_destroy(topo_);
  topo_ = least;
  const std::array<ranktree_pin, 2> pins{{{7, "n5", 4}, {0, "n2", 2}}};
  options_.pins = pins.data();
  options_.pin_count = 2;
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  std::set<std::pair<std::string, int>> used;
  for (int rank = 0; rank < 16; ++rank) {
    const int* pus = nullptr;
    ASSERT_EQ(ranktree_plan_get_pus(plan_, rank, &pus), 1);
    used.insert({ranktree_plan_get_host(plan_, rank), *pus});
  }
  EXPECT_EQ(used.size(), 16U);
  for (const auto& [host, pu] : used) EXPECT_TRUE(pu == 2 || pu == 4 || (pu == 0 && host != "n2")) << host << ':' << pu;
  for (const ranktree_pin& pin : pins) {
    const int* pus = nullptr;
    EXPECT_STREQ(ranktree_plan_get_host(plan_, pin.rank), pin.host);
    EXPECT_EQ(ranktree_plan_get_pus(plan_, pin.rank, &pus), 1);
    EXPECT_EQ(*pus, pin.pu);
  }
}

TEST_F(Place, InvalidPinsAreNamed) {
  struct Case {
    ranktree_pin pin;
    int count;
    const char* expected;
  };
  for (const Case& one :
       {Case{{3, "n0", 9}, 1, "options.pins of rank 3: expected a PU of the machine, found 9"},
        Case{{3, "n9", 0}, 1, "options.pins of rank 3: expected a PU of the machine, found 0"},
        Case{{3, nullptr, 0}, 1, "options.pins of rank 3: expected a host, found none, and several have PU 0"},
        Case{{3, "n0", 0}, -1, "options.pin_count: expected at least 0, found -1"}}) {
    options_.pins = &one.pin;
    options_.pin_count = one.count;
    EXPECT_EQ(place(), RANKTREE_ERROR_INPUT);
    EXPECT_STREQ(error_.text, one.expected);
  }
  options_.pins = nullptr;
  options_.pin_count = 1;
  EXPECT_EQ(place(), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(plan_, nullptr);
}

TEST(Capi, InvalidForbiddenPusAreNamed) {
  ranktree_topo* topo = load("node:2 core:2");
  ranktree_topo* rest = nullptr;
  ranktree_error error{};
  const std::array<int, 2> pus{1, 2};
  EXPECT_EQ(ranktree_topo_forbid(topo, nullptr, pus.data(), 2, &rest, &error), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error.text, "the machine has no such PU: 2");
  EXPECT_EQ(ranktree_topo_forbid(topo, "n2", pus.data(), 1, &rest, &error), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error.text, "the machine has no such PU: n2:1");
  EXPECT_EQ(ranktree_topo_forbid(topo, nullptr, pus.data(), -1, &rest, &error), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error.text, "pu_count: expected at least 0, found -1");
  EXPECT_EQ(ranktree_topo_forbid(topo, nullptr, nullptr, 1, &rest, &error), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_topo_forbid(topo, nullptr, pus.data(), 1, nullptr, &error), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(rest, nullptr);
  ranktree_topo_destroy(topo);
}

TEST_F(Place, LevelsAddUpToTheCost) {
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  ASSERT_EQ(ranktree_plan_get_level_count(plan_), 3);
  const std::array<const char*, 3> names{"Cluster", "Node", "Core"};
  const std::array<double, 3> hops{4, 2, 0};
  double total = 0;
  double all = 0;
  for (int level = 0; level < 3; ++level) {
    EXPECT_STREQ(ranktree_plan_get_level_name(plan_, level), names.at(static_cast<std::size_t>(level)));
    double weight = -1;
    double cost = -1;
    EXPECT_EQ(ranktree_plan_get_level_weight(plan_, "plan", level, &weight, nullptr), RANKTREE_SUCCESS);
    EXPECT_EQ(ranktree_plan_get_level_cost(plan_, level, &cost, nullptr), RANKTREE_SUCCESS);
    EXPECT_EQ(cost, weight * hops.at(static_cast<std::size_t>(level)));
    total += cost;
    EXPECT_EQ(ranktree_plan_get_level_weight(plan_, "identity", level, &weight, nullptr), RANKTREE_SUCCESS);
    all += weight * hops.at(static_cast<std::size_t>(level));
  }
  EXPECT_EQ(total, cost("plan"));
  EXPECT_EQ(all, cost("identity"));
}

TEST_F(Place, UnknownLevelsAndRowsAreNamed) {
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  double value = -1;
  EXPECT_EQ(ranktree_plan_get_level_name(plan_, -1), nullptr);
  EXPECT_EQ(ranktree_plan_get_level_name(plan_, 3), nullptr);
  EXPECT_EQ(ranktree_plan_get_level_cost(plan_, 3, &value, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error_.text, "level: expected 0..2, found 3");
  EXPECT_EQ(ranktree_plan_get_level_weight(plan_, "plan", -1, &value, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error_.text, "level: expected 0..2, found -1");
  EXPECT_EQ(ranktree_plan_get_level_weight(plan_, "traced", 0, &value, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error_.text, "plan: expected a row 'traced' in its costs, found none");
  EXPECT_EQ(ranktree_plan_get_cost(plan_, "best", &value, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_plan_get_level_cost(plan_, 0, nullptr, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(value, -1);
}

class Presets : public Place, public testing::WithParamInterface<ranktree_preset> {};

TEST_P(Presets, StayBetweenTheBoundAndIdentity) {
  options_.preset = GetParam();
  options_.threads = 2;
  options_.algorithm = RANKTREE_ALGORITHM_ENGINE;
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  EXPECT_GT(bound(), 0);
  EXPECT_LE(bound(), cost("plan"));
  EXPECT_LE(cost("plan"), cost("identity"));
  double gap = -1;
  ASSERT_EQ(ranktree_plan_get_gap(plan_, &gap, nullptr), RANKTREE_SUCCESS);
  EXPECT_DOUBLE_EQ(bound() * (1 + gap), cost("plan"));
}

INSTANTIATE_TEST_SUITE_P(Place, Presets,
                         testing::Values(RANKTREE_PRESET_FAST, RANKTREE_PRESET_DEFAULT, RANKTREE_PRESET_STRONG));

TEST_F(Place, BadOptionsAreNamed) {
  struct Case {
    int preset;
    int threads;
    std::int64_t time_limit_ms;
    const char* expected;
  };
  for (const Case& one : {Case{7, 1, 0, "options.preset: expected a choice of its enumeration, found 7"},
                          Case{RANKTREE_PRESET_FAST, 0, 0, "options.threads: expected at least 1, found 0"},
                          Case{RANKTREE_PRESET_FAST, 1, -5, "options.time_limit_ms: expected at least 0, found -5"}}) {
    std::memcpy(&options_.preset, &one.preset, sizeof one.preset);  // C lets it be any number
    options_.threads = one.threads;
    options_.time_limit_ms = one.time_limit_ms;
    EXPECT_EQ(place(), RANKTREE_ERROR_INPUT);
    EXPECT_STREQ(error_.text, one.expected);
  }
}

TEST_F(Place, OptionsThatWereNotInitialisedAreRefused) {
  options_.size = 0;
  EXPECT_EQ(place(), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error_.text, "options.size: expected the size that the init function sets, found 0");
}

// A program with an older header has shorter options, one with a newer header longer ones.
TEST_F(Place, OptionsOfOtherVersionsKeepWhatBothKnow) {
  struct Newer {
    ranktree_place_options known;
    std::array<int, 4> more;
  };
  Newer newer;
  ranktree_place_options_init_sized(&newer.known, sizeof newer);
  EXPECT_EQ(newer.known.size, sizeof newer);
  EXPECT_EQ(newer.known.threads, 1);
  newer.known.threads = -3;
  EXPECT_EQ(ranktree_place(topo_, pattern_, &newer.known, &plan_, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error_.text, "options.threads: expected at least 1, found -3");
  newer.known.threads = 1;
  newer.more[3] = 1;
  EXPECT_EQ(ranktree_place(topo_, pattern_, &newer.known, &plan_, &error_), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error_.text, "options: expected members that this version has, found one of a newer version");
  newer.more[3] = 0;
  EXPECT_EQ(ranktree_place(topo_, pattern_, &newer.known, &plan_, &error_), RANKTREE_SUCCESS) << error_.text;

  ranktree_place_options older;
  older.threads = -3;  // beyond the older end: neither written nor read
  ranktree_place_options_init_sized(&older, offsetof(ranktree_place_options, threads));
  EXPECT_EQ(older.threads, -3);
  ranktree_plan* plan = nullptr;
  EXPECT_EQ(ranktree_place(topo_, pattern_, &older, &plan, &error_), RANKTREE_SUCCESS) << error_.text;
  EXPECT_EQ(ranktree_plan_get_rank_count(plan), 16);
  ranktree_plan_destroy(plan);
}

TEST_F(Place, KeepGoingMayStopTheSearchAndThereIsAPlan) {
  int calls = 0;
  options_.user = &calls;
  options_.keep_going = [](void* user) { return ++*static_cast<int*>(user) < 2 ? 1 : 0; };
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  EXPECT_GE(calls, 1);
  EXPECT_EQ(ranktree_plan_get_rank_count(plan_), 16);
  EXPECT_LE(cost("plan"), cost("identity"));
  EXPECT_TRUE(ranktree_plan_was_stopped(plan_));
}

TEST_F(Place, ASearchThatRanToItsEndWasNotStopped) {
  const auto never = [](void*) { return 0; };
  options_.algorithm = RANKTREE_ALGORITHM_GREEDY;
  options_.keep_going = never;
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  EXPECT_FALSE(ranktree_plan_was_stopped(plan_));
  options_.algorithm = RANKTREE_ALGORITHM_BEST;
  options_.keep_going = nullptr;
  ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
  EXPECT_FALSE(ranktree_plan_was_stopped(plan_));
}

TEST_F(Place, ATimeLimitOfAnyLengthGivesAPlan) {
  for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{60000}, std::numeric_limits<std::int64_t>::max()}) {
    options_.time_limit_ms = limit;
    ASSERT_EQ(place(), RANKTREE_SUCCESS) << error_.text;
    EXPECT_LE(cost("plan"), cost("identity"));
  }
}

TEST(Capi, APlanOfAnOlderFileHasNoBound) {
  const auto path = std::filesystem::temp_directory_path() / ("capi_old_" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << R"({"format": "ranktree-plan", "version": 1, "ranks": 1, "algorithm": "identity",
    "metric": "size", "seed": 1, "gain": false, "levels": [{"kind": "PU", "cost": 0}], "hosts": [],
    "slots": [{"host": "", "pus": [0]}], "costs": []})";
  ranktree_plan* plan = nullptr;
  ASSERT_EQ(ranktree_plan_load(path.c_str(), &plan, nullptr), RANKTREE_SUCCESS);
  double bound = -1;
  EXPECT_EQ(ranktree_plan_get_bound(plan, &bound, nullptr), RANKTREE_ERROR_UNSUPPORTED);
  EXPECT_EQ(ranktree_plan_get_gap(plan, &bound, nullptr), RANKTREE_ERROR_UNSUPPORTED);
  EXPECT_EQ(bound, -1);
  std::filesystem::remove(path);
  ranktree_plan_destroy(plan);
}

// Sixteen groups of sixteen ranks, spread: rank i is in group i mod 16, whose members exchange 10, other pairs 1.
std::vector<double> groups_of_sixteen() {
  std::vector<double> matrix(std::size_t{256} * 256, 1);
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t j = i % 16; j < 256; j += 16) matrix[i * 256 + j] = 10;
  }
  return matrix;
}

TEST(Capi, AWholeMatrixIsCopiedOrBorrowed) {
  ranktree_topo* topo = load("node:16 core:16");
  for (const ranktree_ownership ownership : {RANKTREE_COPY, RANKTREE_BORROW}) {
    std::vector<double> matrix = groups_of_sixteen();
    ranktree_pattern* pattern = nullptr;
    ASSERT_EQ(ranktree_pattern_create_dense(256, matrix.data(), ownership, &pattern, nullptr), RANKTREE_SUCCESS);
    EXPECT_EQ(ranktree_pattern_get_rank_count(pattern), 256);
    EXPECT_EQ(ranktree_pattern_get_pair_count(pattern), 256U * 255);
    ranktree_pattern* expanded = nullptr;
    ASSERT_EQ(ranktree_pattern_expand(pattern, RANKTREE_MODEL_FLAT, &expanded, nullptr), RANKTREE_SUCCESS);
    if (ownership == RANKTREE_COPY) matrix.assign(matrix.size(), 1);
    for (const ranktree_pattern* each : {pattern, expanded}) {
      ranktree_plan* plan = nullptr;
      ranktree_error error{};
      ASSERT_EQ(ranktree_place(topo, each, nullptr, &plan, &error), RANKTREE_SUCCESS) << error.text;
      double cost = 0;
      EXPECT_EQ(ranktree_plan_get_cost(plan, "plan", &cost, nullptr), RANKTREE_SUCCESS);
      // 16 x 120 pairs of both directions inside nodes at 2 hops, the other pairs at 4.
      EXPECT_EQ(cost, 16 * 120 * 20.0 * 2 + (256 * 255 / 2 - 16 * 120) * 2.0 * 4);
      double gap = -1;
      EXPECT_EQ(ranktree_plan_get_gap(plan, &gap, nullptr), RANKTREE_SUCCESS);
      EXPECT_EQ(gap, 0);
      ranktree_plan_destroy(plan);
    }
    ranktree_pattern_destroy(expanded);
    ranktree_pattern_destroy(pattern);
  }
  ranktree_topo_destroy(topo);
}

TEST(Capi, ABadMatrixIsRefusedByEntry) {
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  ranktree_pattern* pattern = nullptr;
  ranktree_error error{};
  std::vector<double> matrix{0, 1, -2, 0};
  EXPECT_EQ(ranktree_pattern_create_dense(2, matrix.data(), RANKTREE_COPY, &pattern, &error), RANKTREE_ERROR_INPUT);
  EXPECT_STREQ(error.text, "pattern[1, 0]: expected a finite number, at least 0, found -2");
  matrix = {not_a_number, not_a_number, 0, 0};
  EXPECT_EQ(ranktree_pattern_create_dense(2, matrix.data(), RANKTREE_BORROW, &pattern, &error), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(std::string(error.text).substr(0, 13), "pattern[0, 1]");
  EXPECT_EQ(ranktree_pattern_create_dense(0, matrix.data(), RANKTREE_COPY, &pattern, &error), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_pattern_create_dense(2, nullptr, RANKTREE_COPY, &pattern, &error), RANKTREE_ERROR_INPUT);
  EXPECT_EQ(ranktree_pattern_create_dense(1, matrix.data(), static_cast<ranktree_ownership>(2), &pattern, &error),
            RANKTREE_ERROR_INPUT);
  EXPECT_EQ(pattern, nullptr);
}

TEST(Capi, AWholeMatrixIsSavedAsPairs) {
  const std::vector<double> matrix{7, 2, 0, 0, 0, 3, 0, 0, 0};
  ranktree_pattern* pattern = nullptr;
  ASSERT_EQ(ranktree_pattern_create_dense(3, matrix.data(), RANKTREE_COPY, &pattern, nullptr), RANKTREE_SUCCESS);
  const std::string path = testing::TempDir() + "whole_matrix.mat";
  ASSERT_EQ(ranktree_pattern_save(pattern, path.c_str(), nullptr), RANKTREE_SUCCESS);
  std::ifstream file(path);
  std::vector<double> read;
  for (double value = 0; file >> value;) read.push_back(value);
  EXPECT_EQ(read, (std::vector<double>{0, 2, 0, 0, 0, 3, 0, 0, 0}));
  ranktree_pattern_destroy(pattern);
  std::filesystem::remove(path);
}

}  // namespace
