// Files of parameters and of rules, and the errors for bad ones; rules in Open MPI's formats.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/predict/parameters.h"
#include "core/predict/rules.h"
#include "core/schedule/makers.h"
#include "io/decisions_file.h"
#include "io/open_mpi_rules.h"
#include "io/parameters_file.h"
#include "io/rules_file.h"

namespace ranktree::io {
namespace {

using core::predict::Rule;
using core::predict::Rules;
using core::schedule::Collective;

constexpr std::string_view kParameters = R"({"format": "ranktree-parameters", "version": 1, "machine": "n0",
 "mpi": "Open MPI v4.1.4", "ranks": 16, "nodes": 4, "ranks_of_node": 4, "pus_of_rank": 2,
 "reduce_s_per_byte": 1e-10, "copy_s_per_byte": 5e-11, "node_port": false, "shared_latency_s": 2e-7,
 "shared_s_per_byte": 1e-10,
 "levels": [{"name": "node", "latency_s": 1.5e-5, "s_per_byte": 4e-9, "overhead_send_s": 1e-6,
             "overhead_receive_s": 2e-6, "gap_s": 5e-7},
            {"name": "core", "latency_s": 5e-7, "s_per_byte": 1e-10}]})";

template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "none";
}
std::string parameters_refusal(const std::string& text) {
  return refusal([&] { read_parameters(text, "p.json"); });
}
std::string rules_refusal(const std::string& text) {
  return refusal([&] { read_rules(text, "r.json"); });
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParametersFile, IsRead) {
  const MeasuredParameters found = read_parameters(kParameters, "p.json");
  EXPECT_EQ(found.machine, "n0");
  EXPECT_EQ(found.mpi, "Open MPI v4.1.4");
  EXPECT_EQ(found.ranks, 16);
  EXPECT_EQ(found.nodes, 4);
  EXPECT_EQ(found.ranks_of_node, 4);
  EXPECT_EQ(found.pus_of_rank, 2);
  ASSERT_EQ(found.parameters.levels.size(), 2U);
  EXPECT_EQ(found.parameters.levels[0].name, "node");
  EXPECT_DOUBLE_EQ(found.parameters.levels[0].latency, 1.5e-5);
  EXPECT_DOUBLE_EQ(found.parameters.levels[0].per_byte, 4e-9);
  EXPECT_DOUBLE_EQ(found.parameters.levels[0].overhead_receive, 2e-6);
  EXPECT_DOUBLE_EQ(found.parameters.levels[1].gap, 0);
  EXPECT_FALSE(found.parameters.node_port);
  EXPECT_DOUBLE_EQ(found.parameters.shared_latency, 2e-7);
  EXPECT_EQ(levels_across_nodes(found.parameters), 1);
}

TEST(ParametersFile, IsWrittenAsItIsRead) {
  const std::string text = write_parameters(read_parameters(kParameters, "p.json"));
  EXPECT_EQ(write_parameters(read_parameters(text, "again")), text);
}

TEST(ParametersFile, NamesTheInvalidField) {
  const std::string good(kParameters);
  EXPECT_EQ(parameters_refusal("{}"), "p.json: format: expected this field, found none");
  EXPECT_EQ(parameters_refusal(""), "p.json: line 1: expected JSON, found the end of the file at byte 1");
  EXPECT_EQ(parameters_refusal(with(good, "ranktree-parameters", "x")),
            "p.json: format: expected \"ranktree-parameters\", found \"x\"");
  EXPECT_EQ(parameters_refusal(with(good, "\"version\": 1", "\"version\": 2")), "p.json: version: expected 1, found 2");
  EXPECT_EQ(parameters_refusal(with(good, "1.5e-5", "-1")),
            "p.json: levels[0].latency_s: expected a number that is not negative, found -1");
  EXPECT_NE(parameters_refusal(with(good, "1.5e-5", "1e999")).find("p.json"), std::string::npos);
  EXPECT_EQ(parameters_refusal(with(good, "\"core\"", "\"node\"")),
            "p.json: levels[1].name: expected a name of its own, found \"node\"");
  EXPECT_EQ(parameters_refusal(with(good, "\"core\"", "\"\"")), "p.json: levels[1].name: expected a name, found \"\"");
  EXPECT_NE(parameters_refusal(with(good, "\"ranks\": 16", "\"ranks\": 0")).find("ranks: expected a whole number"),
            std::string::npos);
  EXPECT_NE(parameters_refusal(with(good, "\"levels\": [", "\"levels\": [], \"l\": [")).find("expected 1 to 64 levels"),
            std::string::npos);
  EXPECT_EQ(parameters_refusal(with(good, "\"n0\"", "\"n0\", \"machine\": \"n1\"")),
            "p.json: field \"machine\" is given twice in one object");
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(parameters_refusal(good.substr(0, length)), "none") << length;
  }
}

TEST(ParametersFile, IsNotWrittenWithNumbersThatCannotBeRead) {
  MeasuredParameters measured = read_parameters(kParameters, "p.json");
  measured.parameters.levels[0].latency = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(write_parameters(measured), core::Error);
  EXPECT_THROW(load_parameters("/nowhere/p.json"), core::Error);
}

constexpr std::string_view kRules =
    R"({"format": "ranktree-rules", "version": 1, "mpi": "M", "machine": "n0", "rules": [
 {"collective": "broadcast", "ranks": [16, 16], "nodes": [4, 4], "bytes": [0, 1024], "choice": "native"},
 {"collective": "broadcast", "bytes": [1025], "choice": "messages:binomial/flat:form=lanes:segment=32K"},
 {"collective": "allreduce", "ranks": [2], "choice": "shared:ring:segment=128K"}]})";

// Measurements with one rank per node have no value for shared memory; it must not count as free.
TEST(Parameters, WithoutSharedMemoryHaveUsualOne) {
  core::predict::Parameters measured = core::predict::usual_parameters(1);
  measured.shared_latency = measured.shared_per_byte = 0;
  const core::predict::Parameters usual = core::predict::usual_parameters(2);
  const core::predict::Parameters fitted = core::predict::matched(measured, 2, 1);
  EXPECT_GT(usual.shared_latency, 0);
  EXPECT_EQ(fitted.shared_latency, usual.shared_latency);
  EXPECT_EQ(fitted.shared_per_byte, usual.shared_per_byte);
  measured.shared_latency = 1e-6;
  EXPECT_EQ(core::predict::matched(measured, 2, 1).shared_latency, 1e-6);
  EXPECT_EQ(core::predict::matched(measured, 2, 1).shared_per_byte, 0);
}

TEST(RulesFile, IsReadAndTheFirstRuleThatFitsIsFound) {
  const Rules rules = read_rules(kRules, "r.json");
  ASSERT_EQ(rules.rules.size(), 3U);
  EXPECT_EQ(rules.mpi, "M");
  const auto found = [&](Collective collective, int ranks, int nodes, std::int64_t bytes) {
    for (const Rule& rule : rules.rules) {
      if (rule.collective != collective || !rule.ranks.has(ranks) || !rule.nodes.has(nodes)) continue;
      if (rule.bytes.has(bytes)) return to_text(rule.choice);
    }
    return std::string("none");
  };
  EXPECT_EQ(found(Collective::kBroadcast, 16, 4, 1024), "native");
  EXPECT_EQ(found(Collective::kBroadcast, 16, 4, 1025), "messages:binomial/flat:form=lanes:segment=32K");
  EXPECT_EQ(found(Collective::kBroadcast, 15, 4, 1024), "none");
  EXPECT_EQ(found(Collective::kBroadcast, 16, 3, 1024), "none");
  EXPECT_EQ(found(Collective::kAllreduce, 2, 1, 1LL << 40), "shared:ring:segment=128K");
  EXPECT_EQ(found(Collective::kAllreduce, 1, 1, 0), "none");
  EXPECT_EQ(found(Collective::kReduce, 16, 4, 0), "none");
}

TEST(RulesFile, IsWrittenAsItIsRead) {
  const Rules rules = read_rules(kRules, "r.json");
  const std::string text = write_rules(rules);
  EXPECT_EQ(read_rules(text, "again").rules, rules.rules);
  EXPECT_EQ(write_rules(read_rules(text, "again")), text);
  EXPECT_TRUE(read_rules(write_rules({}), "none").rules.empty());
}

TEST(RulesFile, NamesTheInvalidField) {
  const std::string good(kRules);
  EXPECT_EQ(rules_refusal(with(good, "ranktree-rules", "x")),
            "r.json: format: expected \"ranktree-rules\", found \"x\"");
  EXPECT_EQ(rules_refusal(with(good, "\"broadcast\"", "\"bcast\"")),
            "r.json: rules[0].collective: expected the name of a collective, found \"bcast\"");
  EXPECT_EQ(rules_refusal(with(good, "[0, 1024]", "[1024, 0]")),
            "r.json: rules[0].bytes: expected the smaller number first, found [1024,0]");
  EXPECT_EQ(rules_refusal(with(good, "[0, 1024]", "[1, 2, 3]")),
            "r.json: rules[0].bytes: expected one number or two, found [1,2,3]");
  EXPECT_NE(
      rules_refusal(with(good, "[16, 16]", "[16, 2147483648]")).find("rules[0].ranks[1]: expected a whole number"),
      std::string::npos);
  EXPECT_NE(
      rules_refusal(with(good, "\"native\"", "\"nativ\"")).find("rules[0].choice: expected a choice (choice 'nativ'"),
      std::string::npos);
  EXPECT_EQ(rules_refusal(with(good, ", \"choice\": \"native\"", "")),
            "r.json: rules[0].choice: expected this field, found none");
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(rules_refusal(good.substr(0, length)), "none") << length;
  }
}

Rule rule_of(Collective collective, int ranks, std::int64_t first, std::int64_t last, std::string_view choice) {
  Rule rule{.collective = collective, .choice = core::predict::choice_from_text(choice, collective)};
  rule.ranks = {ranks, ranks};
  rule.bytes = {first, last};
  return rule;
}

// The numbers are those that `ompi_info --param coll tuned --level 9` of 4.1.4 prints.
TEST(OpenMpiRules, UseOpenMpisAlgorithmNumbers) {
  const auto number = [](Collective collective, std::string_view choice) {
    const auto found = open_mpi_algorithm(collective, core::predict::choice_from_text(choice, collective));
    return found ? found->number : 0;
  };
  EXPECT_EQ(number(Collective::kBroadcast, "messages:binomial:groups=1"), 6);
  EXPECT_EQ(number(Collective::kBroadcast, "messages:scatter-ring-allgather:groups=1"), 9);
  EXPECT_EQ(number(Collective::kBroadcast, "messages:k-nomial:groups=1"), 7);
  EXPECT_EQ(number(Collective::kReduce, "messages:in-order-binary:groups=1"), 6);
  EXPECT_EQ(number(Collective::kAllreduce, "messages:rabenseifner:groups=1"), 6);
  EXPECT_EQ(number(Collective::kBarrier, "messages:dissemination:groups=1"), 4);
  EXPECT_EQ(number(Collective::kAlltoall, "messages:bruck:groups=1"), 3);
  EXPECT_EQ(number(Collective::kBroadcast, "messages:binomial"), 0);
  EXPECT_EQ(number(Collective::kBroadcast, "shared:binomial"), 0);
  EXPECT_EQ(number(Collective::kBroadcast, "native"), 0);
  EXPECT_EQ(number(Collective::kAllgather, "messages:flat:groups=1"), 0);
}

Rules two_rules() {
  return {.rules = {rule_of(Collective::kBroadcast, 16, 1024, 65535, "messages:pipeline:segment=4K:groups=1"),
                    rule_of(Collective::kBroadcast, 16, 65536, 99999, "shared:binomial"),
                    rule_of(Collective::kAllgather, 4, 10, 19, "messages:ring:groups=1"),
                    rule_of(Collective::kReduce, 4, 0, 9, "native")}};
}

TEST(OpenMpiRules, AreWrittenInTheClassicFormat) {
  std::string text;  // without comments
  bool comment = false;
  for (const char letter : write_open_mpi_rules(two_rules())) {
    if (letter == '#') comment = true;
    if (letter == '\n') comment = false;
    if (!comment) text += letter;
  }
  // Allgather's size is that of all four blocks. Each communicator size begins with a message of 0 bytes, and Open MPI
  // itself decides for sizes beyond the rule's.
  EXPECT_EQ(text,
            "2 \n"
            "0 \n3 \n"
            "0 \n1 \n0 0 0 0\n"
            "4 \n3 \n0 0 0 0\n40 4 0 0\n80 0 0 0\n"
            "5 \n1 \n0 0 0 0\n"
            "7 \n3 \n"
            "0 \n1 \n0 0 0 0\n"
            "16 \n4 \n0 0 0 0\n1024 3 0 4096\n65536 0 0 0\n100000 0 0 0\n"
            "17 \n1 \n0 0 0 0\n");
}

TEST(OpenMpiRules, AreWrittenAsJson) {
  Rules rules = two_rules();
  rules.rules[0].nodes = {1, 1};
  rules.rules[1].nodes = {1, 1};
  EXPECT_EQ(write_open_mpi_json(rules), R"({
 "collectives": {
  "allgather": [
   {
    "comm_size_max": 4,
    "comm_size_min": 4,
    "rules": [
     {
      "alg": "ring",
      "msg_size_max": 79,
      "msg_size_min": 40
     }
    ]
   }
  ],
  "bcast": [
   {
    "comm_rank_distribution": "single-node",
    "comm_size_max": 16,
    "comm_size_min": 16,
    "rules": [
     {
      "alg": "pipeline",
      "msg_size_max": 65535,
      "msg_size_min": 1024,
      "seg_size": 4096
     }
    ]
   }
  ]
 },
 "module": "tuned",
 "rule_file_version": 3
}
)");
  EXPECT_EQ(write_open_mpi_rules({}), "0 # collectives\n");
}

TEST(DecisionsFile, ReadsWhatItWrites) {
  const Decisions newer{{"4 ranks|bcast 8-16", "native"}, {"4 ranks|bcast 1K-2K", "shared:flat"}};
  const Decisions older{{"4 ranks|bcast 8-16", "shared:flat"}, {"8 ranks|barrier", "native"}};
  const std::string text = write_decisions(newer, older);
  Decisions both = newer;
  both.emplace("8 ranks|barrier", "native");
  EXPECT_EQ(read_decisions(text, "f"), both);
  EXPECT_EQ(read_decisions("ranktree decisions 1\n", "f"), Decisions{});
}

TEST(DecisionsFile, IsBounded) {
  Decisions many;
  for (std::size_t i = 0; i < 2 * kMostDecisions; ++i) many.emplace("place|" + std::to_string(i), "native");
  const Decisions last{{"z|z", "shared:flat"}};
  const Decisions read = read_decisions(write_decisions(last, many), "f");
  EXPECT_EQ(read.size(), kMostDecisions);
  EXPECT_EQ(read.at("z|z"), "shared:flat");
  Decisions large;
  for (std::size_t i = 0; i < kMostDecisions; ++i)
    large.emplace(std::string(1000, 'a') + "|" + std::to_string(i), "native");
  EXPECT_LE(write_decisions(large, {}).size(), kMostDecisionBytes);
}

TEST(DecisionsFile, RefusesWhatIsNone) {
  const auto refused = [](std::string_view bytes) { return refusal([&] { read_decisions(bytes, "f"); }); };
  EXPECT_EQ(refused(""), "f:1: expected 'ranktree decisions 1'");
  EXPECT_EQ(refused("ranktree decisions 2\n"), "f:1: expected 'ranktree decisions 1'");
  for (const char* const line : {"a|b\n", "a|b|c|d\n", "a|b|\n", "\n", "a|b|c"}) {
    EXPECT_EQ(refused("ranktree decisions 1\n" + std::string(line)), "f:2: expected PLACE|KIND|VARIANT") << line;
  }
  EXPECT_EQ(refused(std::string(kMostDecisionBytes + 1, 'a')), "f: expected at most 1 MiB");
}

// What cannot be read for now is not lost; what is no file of decisions is replaced.
TEST(DecisionsFile, IsReplacedOnlyWhereItHoldsNone) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "decisions";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_NE(refusal([&] { save_decisions((folder / "loop").string(), {{"4 ranks|barrier", "native"}}); }), "");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "loop"));
  std::ofstream(folder / "other") << "something else";
  save_decisions((folder / "other").string(), {{"4 ranks|barrier", "native"}});
  EXPECT_EQ(load_decisions((folder / "other").string()), (Decisions{{"4 ranks|barrier", "native"}}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ranktree::io
