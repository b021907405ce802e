// treematch-2013 §4.2.1: Table 2, every entry, and the tree of the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/place/grouping.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::place::Division;  // topo has one, too

std::map<int, Division> paper_table() {
  std::map<int, Division> table;
  std::ifstream file(std::string(RANKTREE_TEST_DATA) + "/table2.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream fields(line);
    int arity = 0;
    Division division;
    fields >> arity >> division.threshold >> division.divisor;
    table[arity] = division;
  }
  return table;
}

// A whole number of any size, as digits to the base 2^32, lowest first; times small numbers only.
class Whole {
 public:
  void multiply(std::uint64_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& digit : digits_) {
      carry += digit * factor;  // factor < 2^31, so this stays below 2^64
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
    if (carry > 0) digits_.push_back(static_cast<std::uint32_t>(carry));
  }
  [[nodiscard]] bool exceeds(const Whole& other) const {
    if (digits_.size() != other.digits_.size()) return digits_.size() > other.digits_.size();
    return std::lexicographical_compare(other.digits_.rbegin(), other.digits_.rend(), digits_.rbegin(), digits_.rend());
  }

 private:
  std::vector<std::uint32_t> digits_{1};
};

// The definition without rounding: (p choose k) > d (p choose k/d), multiplied out.
bool division_gains(int p, int k, int d) {
  Whole undivided;
  Whole divided;
  divided.multiply(static_cast<std::uint64_t>(d));
  for (int i = k / d; i < k; ++i) {
    undivided.multiply(static_cast<std::uint64_t>(p - i));
    divided.multiply(static_cast<std::uint64_t>(i + 1));
  }
  return undivided.exceeds(divided);
}

TEST(Table2, ThresholdsAreExactInWholeNumbers) {
  for (int arity = 4; arity <= 256; ++arity) {
    const auto [threshold, divisor] = best_division(arity);
    if (divisor == 1) continue;
    int exact = arity;
    while (!division_gains(exact, arity, divisor)) ++exact;
    EXPECT_EQ(threshold, exact) << "arity " << arity;
  }
}

TEST(Table2, ThresholdsOfHugeAritiesDoNotOverflow) {
  // (p choose p) is 1: a node is never worth dividing for its own children alone.
  for (const int arity : {20000, 32768, 65536}) {
    const auto [threshold, divisor] = best_division(arity);
    EXPECT_EQ(divisor, arity / 2);
    EXPECT_GT(threshold, arity);
    EXPECT_LT(threshold, 2 * arity);
  }
  EXPECT_EQ(divide_arities(std::vector<int>{32768}), (std::vector<int>{32768}));
}

TEST(Table2, EveryEntryOfThePaperIsComputed) {
  const auto table = paper_table();
  ASSERT_EQ(table.size(), 95U);
  for (const auto& [arity, expected] : table) {
    const Division computed = best_division(arity);
    EXPECT_EQ(computed.threshold, expected.threshold) << "arity " << arity;
    EXPECT_EQ(computed.divisor, expected.divisor) << "arity " << arity;
  }
}

// The table has "all k up to 128 that are not prime" but leaves 121 out.
TEST(Table2, TheOnlyCompositeArityItLacksIs121) {
  const auto table = paper_table();
  for (int arity = 4; arity <= 128; ++arity) {
    const bool composite = best_division(arity).divisor > 1;
    EXPECT_EQ(composite, table.contains(arity) || arity == 121) << "arity " << arity;
  }
  EXPECT_EQ(best_division(121).divisor, 11);
  EXPECT_EQ(best_division(121).threshold, 134);
}

TEST(Table2, ThresholdsSeparateGainFromLoss) {
  for (const int arity : {4, 6, 9, 12, 16}) {
    const auto [threshold, divisor] = best_division(arity);
    const auto divided = [&, d = divisor](int p) { return d * group_count(p, arity / d); };
    EXPECT_GT(group_count(static_cast<int>(threshold), arity), divided(static_cast<int>(threshold)));
    EXPECT_LE(group_count(static_cast<int>(threshold) - 1, arity), divided(static_cast<int>(threshold) - 1));
  }
}

TEST(DivideArities, TheTreeOfTheTextBecomesFourTwoTwoOne) {
  EXPECT_EQ(divide_arities(std::vector<int>{4, 4, 1}), (std::vector<int>{4, 2, 2, 1}));
}

TEST(DivideArities, LargeAritiesAreDividedAgainAndAgainAndKeepTheirProduct) {
  // 12 below 64: 6 x 2, then 6 as 3 x 2; the smallest parts end lowest, where most items are.
  EXPECT_EQ(divide_arities(std::vector<int>{64, 12}), (std::vector<int>{64, 3, 2, 2}));
  EXPECT_EQ(divide_arities(std::vector<int>{7, 5}), (std::vector<int>{7, 5}));
}

}  // namespace
