// The pattern itself, and the graph that placement works on.
#include "core/pattern/pattern.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "formats.h"

namespace ranktree::core::pattern {
namespace {

using test::refusal;

TEST(FromEntries, SortsAndAddsEqualPairsOfAClass) {
  const std::vector<Entry> entries{{.from = 2, .to = 0, .messages = 1, .bytes = 10},
                                   {.from = 0, .to = 2, .messages = 2, .bytes = 20},
                                   {.from = 0, .to = 1, .kind = Class::kRma, .messages = 3, .bytes = 30},
                                   {.from = 0, .to = 2, .messages = 4, .bytes = 40}};
  const Pattern pattern = from_entries(3, entries);
  EXPECT_EQ(pattern.indptr, (std::vector<std::int64_t>{0, 2, 2, 3}));
  EXPECT_EQ(pattern.indices, (std::vector<Rank>{1, 2, 0}));
  EXPECT_EQ(pattern.of(Class::kPointToPoint).messages, (std::vector<double>{0, 6, 1}));
  EXPECT_EQ(pattern.of(Class::kPointToPoint).bytes, (std::vector<double>{0, 60, 10}));
  EXPECT_EQ(pattern.of(Class::kRma).bytes, (std::vector<double>{30, 0, 0}));
  EXPECT_EQ(total(pattern).messages, (std::vector<double>{3, 6, 1}));
  EXPECT_NO_THROW(validate(pattern, "test"));
}

TEST(FromEntries, RefusesRanksAndAmountsOutOfRange) {
  const auto with = [](const Entry& entry) {
    return refusal([&] { from_entries(3, std::vector<Entry>{Entry{}, entry}); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with({.from = 0, .to = 3}), "pattern: entry 1: expected a rank in 0..2, found 3");
  EXPECT_EQ(with({.from = -1, .to = 0}), "pattern: entry 1: expected a rank in 0..2, found -1");
  EXPECT_NE(with({.messages = -1}).find("entry 1, messages"), std::string::npos);
  EXPECT_NE(with({.bytes = nan}).find("entry 1, bytes"), std::string::npos);
  EXPECT_NE(with({.bytes = 9007199254740994.0}).find("2^53"), std::string::npos);
  EXPECT_NE(refusal([] { from_entries(0, {}); }).find("at least 1"), std::string::npos);
  const Entry most{.from = 0, .to = 1, .messages = 1, .bytes = 9007199254740992.0};
  EXPECT_NE(refusal([&] { from_entries(2, std::vector<Entry>{most, most}); }).find("bytes[0]"), std::string::npos);
}

TEST(Validate, NamesTheFirstBrokenRule) {
  const auto broken = [](const std::function<void(Pattern&)>& change) {
    Pattern pattern = test::full_pattern();
    change(pattern);
    return refusal([&] { validate(pattern, "f.npz"); });
  };
  EXPECT_EQ(broken([](Pattern&) {}), "accepted");
  EXPECT_EQ(broken([](Pattern& p) { p.ranks = 0; }), "f.npz: ranks: expected at least 1, found 0");
  EXPECT_NE(broken([](Pattern& p) { p.ranks = 8; }).find("indptr: expected 9 entries, found 8"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.indptr[1] = p.indptr[2] + 1; }).find("indptr[2]"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.indices[0] = 7; }).find("indices[0]: expected a rank in 0..6, found 7"),
            std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.indices[1] = p.indices[0]; }).find("without duplicates"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.of(Class::kRma).bytes[2] = -1; }).find("bytes[2]"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.communicators[1].members[0] = 9; }).find("communicator 1"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.communicators[0].members.clear(); }).find("communicator 0"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.collectives[0].communicator = 3; }).find("collective 0"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.collectives[0].root = 7; }).find("root"), std::string::npos);
  EXPECT_NE(broken([](Pattern& p) { p.metadata.hosts.pop_back(); }).find("hosts"), std::string::npos);
}

TEST(Affinity, AddsBothDirectionsWithoutSelfMessagesAndZeros) {
  const std::vector<Entry> entries{{.from = 0, .to = 0, .messages = 9, .bytes = 9},
                                   {.from = 0, .to = 1, .messages = 2, .bytes = 10},
                                   {.from = 1, .to = 0, .messages = 3, .bytes = 12},
                                   {.from = 2, .to = 0, .messages = 1, .bytes = 0},
                                   {.from = 2, .to = 1, .kind = Class::kRma, .messages = 1, .bytes = 5}};
  const Pattern pattern = from_entries(3, entries);
  const Affinity size = affinity(pattern, Metric::kSize);
  EXPECT_EQ(size.indptr, (std::vector<std::int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(size.indices, (std::vector<Rank>{1, 0, 2, 1}));
  EXPECT_EQ(size.weights, (std::vector<double>{22, 22, 5, 5}));
  const Affinity messages = affinity(pattern, Metric::kMessages);
  EXPECT_EQ(messages.weights, (std::vector<double>{5, 1, 5, 1, 1, 1}));
  const Affinity average = affinity(pattern, Metric::kAverage);
  EXPECT_EQ(average.weights, (std::vector<double>{9, 9, 5, 5}));  // 10 / 2 + 12 / 3
}

}  // namespace
}  // namespace ranktree::core::pattern
