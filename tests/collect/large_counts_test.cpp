#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "capi/large_counts.h"

namespace ranktree::capi {
namespace {

TEST(CommonFactor, IsOneWhereAllNumbersFit) {
  EXPECT_EQ(common_factor(std::array<std::int64_t, 3>{5, 0, -7}, 7), 1);
  EXPECT_EQ(common_factor({}, 7), 1);
}

TEST(CommonFactor, IsTheLeastDivisorThatBringsAllBelowTheLimit) {
  EXPECT_EQ(common_factor(std::array<std::int64_t, 2>{12, 8}, 7), 2);
  EXPECT_EQ(common_factor(std::array<std::int64_t, 2>{12, 8}, 5), 4);
  EXPECT_EQ(common_factor(std::array<std::int64_t, 3>{-24, 0, 6}, 7), 6);
  EXPECT_EQ(common_factor(std::array<std::int64_t, 1>{3000000000}, 2147483647), 2);
  EXPECT_EQ(common_factor(std::array<std::int64_t, 1>{2147483648}, 2147483647), 2);
}

TEST(CommonFactor, IsZeroWhereThereIsNone) {
  EXPECT_EQ(common_factor(std::array<std::int64_t, 2>{12, 7}, 7), 0);
  // A prime, and a product of two that are both beyond 65,536.
  EXPECT_EQ(common_factor(std::array<std::int64_t, 1>{2147483659}, 2147483647), 0);
  EXPECT_EQ(common_factor(std::array<std::int64_t, 1>{std::int64_t{65537} * 65539}, 2147483647), 0);
}

}  // namespace
}  // namespace ranktree::capi
