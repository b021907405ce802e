#include "core/predict/fit.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/predict/closed_forms.h"

namespace ranktree::core::predict {
namespace {

TEST(FitLine, FindsTheLineThatSamplesAreOn) {
  const std::vector<Sample> samples = {{1, 2e-6 + 1e-10}, {1024, 2e-6 + 1024e-10}, {1 << 20, 2e-6 + (1 << 20) * 1e-10}};
  const Line line = fit_line(samples);
  EXPECT_NEAR(line.latency, 2e-6, 1e-15);
  EXPECT_NEAR(line.per_byte, 1e-10, 1e-19);
}

// Long messages that take 10x their expected time must not change the latency of short ones.
TEST(FitLine, WeighsShortMessagesAsMuchAsLongOnes) {
  const std::vector<Sample> samples = {{1, 1e-6}, {2, 1e-6}, {4, 1e-6}, {1e6, 1e-3}, {2e6, 2.2e-3}};
  const Line line = fit_line(samples);
  EXPECT_NEAR(line.latency, 1e-6, 1e-8);
  EXPECT_NEAR(line.per_byte, 1.05e-9, 0.05e-9);
}

TEST(FitLine, HasNoNegativeNumbers) {
  const Line falling = fit_line(std::vector<Sample>{{1, 2e-6}, {1000, 1e-6}});
  EXPECT_EQ(falling.per_byte, 0);
  EXPECT_GT(falling.latency, 0);
  const Line steep = fit_line(std::vector<Sample>{{1000, 1e-9}, {2000, 1e-6}});
  EXPECT_EQ(steep.latency, 0);
  EXPECT_GT(steep.per_byte, 0);
  const Line one = fit_line(std::vector<Sample>{{8, 3e-6}});
  EXPECT_DOUBLE_EQ(one.latency, 3e-6);
  EXPECT_EQ(one.per_byte, 0);
}

}  // namespace
}  // namespace ranktree::core::predict
