#include "io/plan_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/place/plan.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::place::Plan;

// Three ranks on two hosts of two PUs, as the format's specification shows it.
constexpr std::string_view kDocument = R"({
 "format": "ranktree-plan", "version": 1, "ranks": 3,
 "algorithm": "treematch", "metric": "size", "seed": 7, "gain": true,
 "levels": [{"kind": "Cluster", "cost": 4}, {"kind": "Node", "cost": 2.5}, {"kind": "PU", "cost": 0}],
 "hosts": [{"name": "n0", "pus": 2}, {"name": "n1.cluster", "pus": 2}],
 "slots": [
  {"host": "n1.cluster", "pus": [0]},
  {"host": "n0", "pus": [1, 5]},
  {"host": "n1.cluster", "pus": [3]}
 ],
 "costs": [{"placement": "identity", "weight": [10, 0.5, 0], "total": 41.25}]
}
)";

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kDocument);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  try {
    read_plan(text, "p.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ReadPlan, TakesEveryField) {
  const Plan plan = read_plan(kDocument, "p.json");
  ASSERT_EQ(plan.slots.size(), 3U);
  EXPECT_EQ(plan.slots[0].host, "n1.cluster");
  EXPECT_EQ(plan.slots[1].pus, (std::vector<int>{1, 5}));
  EXPECT_EQ(plan.levels, (std::vector<std::string>{"Cluster", "Node", "PU"}));
  EXPECT_EQ(plan.level_costs, (std::vector<double>{4, 2.5, 0}));
  EXPECT_EQ(plan.hosts, (std::vector<std::string>{"n0", "n1.cluster"}));
  EXPECT_EQ(plan.pus_per_host, (std::vector<int>{2, 2}));
  EXPECT_EQ(plan.algorithm, "treematch");
  EXPECT_EQ(plan.metric, "size");
  EXPECT_EQ(plan.seed, 7U);
  EXPECT_TRUE(plan.gain);
  ASSERT_EQ(plan.costs.size(), 1U);
  EXPECT_EQ(plan.costs[0].placement, "identity");
  EXPECT_EQ(plan.costs[0].weight, (std::vector<double>{10, 0.5, 0}));
  EXPECT_EQ(plan.costs[0].total, 41.25);
}

TEST(WritePlan, WritesWhatReadPlanReads) {
  Plan plan = read_plan(kDocument, "p.json");
  plan.seed = std::numeric_limits<std::uint64_t>::max();
  plan.costs[0].total = 0.1 + 0.2;
  const Plan again = read_plan(write_plan(plan), "again");
  EXPECT_EQ(again.seed, plan.seed);
  EXPECT_EQ(again.costs[0].total, plan.costs[0].total) << "doubles survive to the last bit";
  EXPECT_EQ(again.slots[1].host, plan.slots[1].host);
  EXPECT_EQ(again.slots[1].pus, plan.slots[1].pus);
  EXPECT_EQ(write_plan(again), write_plan(plan));
}

TEST(PlanFile, KnowsABoundAndReadsOlderFilesWithoutOne) {
  Plan plan = read_plan(kDocument, "p.json");
  EXPECT_FALSE(plan.bound.has_value());
  EXPECT_EQ(write_plan(plan).find("bound"), std::string::npos);
  EXPECT_EQ(read_plan(replaced("\"gain\": true", "\"gain\": true, \"bound\": 30.5"), "p.json").bound, 30.5);
  plan.bound = 0.1 + 0.2;
  EXPECT_EQ(read_plan(write_plan(plan), "again").bound, 0.1 + 0.2);
}

TEST(WritePlan, RefusesWhatCouldNotBeRead) {
  Plan plan = read_plan(kDocument, "p.json");
  plan.costs[0].total = std::numeric_limits<double>::infinity();
  EXPECT_THROW(write_plan(plan), Error);
  plan = read_plan(kDocument, "p.json");
  plan.slots[0].host = "n7";
  EXPECT_THROW(write_plan(plan), Error);
  plan = read_plan(kDocument, "p.json");
  plan.level_costs.pop_back();
  EXPECT_THROW(write_plan(plan), Error);
  EXPECT_THROW(write_plan(Plan{}), Error);
}

TEST(ReadPlan, TakesAMachineWithoutHosts) {
  std::string text = replaced(R"([{"name": "n0", "pus": 2}, {"name": "n1.cluster", "pus": 2}])", "[]");
  for (const std::string_view host : {"\"n0\"", "\"n1.cluster\"", "\"n1.cluster\""}) {
    text.replace(text.find(host), host.size(), "\"\"");
  }
  EXPECT_EQ(read_plan(text, "p.json").slots[2].host, "");
}

TEST(ReadPlan, NamesTheEndOfATruncatedFile) {
  for (std::size_t length = 0; length + 2 < kDocument.size(); ++length) {
    EXPECT_NE(refusal(std::string(kDocument.substr(0, length))), "accepted") << length;
  }
  EXPECT_EQ(refusal(std::string(kDocument.substr(0, kDocument.find("\"ranks\"")))),
            "p.json: line 2: expected JSON, found the end of the file at byte 45");
}

// What is wrong, and the text that names file, place, expected and found.
struct BadInput {
  std::string_view from;
  std::string_view to;
  std::string_view text;
};

class BadPlan : public testing::TestWithParam<BadInput> {};

TEST_P(BadPlan, IsRefusedInOneLineThatNamesThePlace) {
  const std::string text = refusal(replaced(GetParam().from, GetParam().to));
  EXPECT_EQ(text, "p.json: " + std::string(GetParam().text));
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    ReadPlan, BadPlan,
    testing::Values(
        BadInput{"ranktree-plan", "ranktree-pattern", R"(format: expected "ranktree-plan", found "ranktree-pattern")"},
        BadInput{"\"version\": 1", "\"version\": 2", "version: expected 1, found 2"},
        BadInput{"\"format\": \"ranktree-plan\", ", "", "format: expected this field, found none"},
        BadInput{"\"ranks\": 3", "\"ranks\": 0", "ranks: expected a whole number from 1 to 2147483647, found 0"},
        BadInput{"\"ranks\": 3", "\"ranks\": 2147483648",
                 "ranks: expected a whole number from 1 to 2147483647, found 2147483648"},
        BadInput{"\"ranks\": 3", "\"ranks\": 18446744073709551615",
                 "ranks: expected a whole number from 1 to 2147483647, found 18446744073709551615"},
        BadInput{"\"ranks\": 3", "\"ranks\": 2147483647",
                 "ranks: expected as many as there are slots (3), found 2147483647"},
        BadInput{"\"ranks\": 3", "\"ranks\": 2", "ranks: expected as many as there are slots (3), found 2"},
        BadInput{"\"ranks\": 3", "\"ranks\": 3.5", "ranks: expected a whole number from 1 to 2147483647, found 3.5"},
        BadInput{"\"cost\": 4", "\"cost\": -4", "levels[0].cost: expected a number that is not negative, found -4"},
        BadInput{"\"cost\": 4", "\"cost\": null", "levels[0].cost: expected a number that is not negative, found null"},
        BadInput{"\"cost\": 4", "\"cost\": NaN", "line 4: expected JSON, found something else at byte 167"},
        BadInput{"\"cost\": 4", "\"cost\": 1e999", "expected numbers a double can hold, found a larger one"},
        BadInput{"[0]", "[]", "slots[0].pus: expected at least one PU, found []"},
        BadInput{"[0]", "[-1]", "slots[0].pus[0]: expected a whole number from 0 to 1048575, found -1"},
        BadInput{"[0]", "[1048576]", "slots[0].pus[0]: expected a whole number from 0 to 1048575, found 1048576"},
        BadInput{"[1, 5]", "[5, 1]", "slots[1].pus[1]: expected PUs in ascending order, each once, found 1"},
        BadInput{"[1, 5]", "[1, 1]", "slots[1].pus[1]: expected PUs in ascending order, each once, found 1"},
        BadInput{"[1, 5]", "[1, 5, 6]", "slots[1]: host 'n0' has 2 PUs, the slots up to this one use 3"},
        BadInput{"\"host\": \"n0\"", "\"host\": \"n2\"", "slots[1].host: host 'n2' is not one of the machine's hosts"},
        BadInput{"\"name\": \"n0\"", "\"name\": \"n0; rm -rf\"",
                 "hosts[0].name: expected a host name, found \"n0; rm -rf\""},
        BadInput{"\"name\": \"n0\"", "\"name\": \"n1.cluster\"", "hosts[1].name: host 'n1.cluster' is listed twice"},
        BadInput{"\"gain\": true", "\"gain\": true, \"gain\": false", "field \"gain\" is given twice in one object"},
        BadInput{"\"gain\": true", "\"gain\": true, \"bound\": -1",
                 "bound: expected a number that is not negative, found -1"},
        BadInput{"\"gain\": true", "\"gain\": true, \"bound\": \"low\"",
                 "bound: expected a number that is not negative, found \"low\""},
        BadInput{"[10, 0.5, 0]", "[10, 0.5]", "costs[0].weight: expected one number for each level (3), found 2"},
        BadInput{"\"total\": 41.25", "\"total\": -1",
                 "costs[0].total: expected a number that is not negative, found -1"},
        BadInput{"[0]", "[[[[[]]]]]", "expected at most 4 levels of nesting, found more"},
        BadInput{"[10, 0.5, 0]", "{}", "costs[0].weight: expected a list, found {}"}));

TEST(ReadPlan, RefusesOtherDocuments) {
  EXPECT_EQ(refusal("[]"), "p.json: expected an object, found []");
  EXPECT_EQ(refusal("PK\x03\x04"), "p.json: line 1: expected JSON, found something else at byte 1");
}

TEST(PlanFile, KeepsTheOldFileWhenTheNewOneIsRefused) {
  const std::string path = testing::TempDir() + "plan_file_test." + std::to_string(::getpid()) + ".json";
  save_plan(path, read_plan(kDocument, "p.json"));
  const auto size = std::filesystem::file_size(path);
  EXPECT_THROW(save_plan(path, Plan{}), Error);
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_EQ(load_plan(path).slots.size(), 3U);
  std::filesystem::remove(path);
}

TEST(PlanFile, NamesAFolderAndAMissingFile) {
  try {
    load_plan(testing::TempDir());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("expected a regular file, found a folder"), std::string::npos);
  }
  EXPECT_THROW(load_plan("/nonexistent/plan.json"), Error);
}

}  // namespace
}  // namespace ranktree::io
