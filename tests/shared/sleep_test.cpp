// Ranks that sleep until another one counts.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/shared/moving.h"
#include "core/shared/team.h"
#include "mpi/collect/shared/segment.h"
#include "sleeping.h"
#include "thread_ranks.h"

namespace {

using ranktree::core::shared::Awaited;
using ranktree::core::shared::Barrier;
using ranktree::core::shared::Broadcast;
using ranktree::core::shared::Counter;
using ranktree::core::shared::kSmallCell;
using ranktree::core::shared::Memory;
using ranktree::core::shared::Team;
using ranktree::mpi::collect::wake;
using ranktree::tests::sleep;

class Sleep : public testing::Test {
 protected:
  Sleep() {
    for (Team* team : {&first_, &second_}) team->let_sleep(wake);
  }
  static constexpr std::chrono::seconds kLong{60};
  Memory memory_{Team::bytes_for(2, kSmallCell)};
  Team first_{memory_.span(), 0, 2, kSmallCell};
  Team second_{memory_.span(), 1, 2, kSmallCell};
};

TEST_F(Sleep, IsUntilTheOtherRankHasCounted) {
  Barrier one(first_);
  Barrier other(second_);
  ASSERT_FALSE(one.progress());
  ASSERT_TRUE(first_.awaited());
  const Awaited awaited = *first_.awaited();
  EXPECT_EQ(awaited.rank, 1);
  EXPECT_EQ(awaited.counter, Counter::kPut);
  const auto start = std::chrono::steady_clock::now();
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(other.progress());
  });
  while (!one.progress()) EXPECT_TRUE(sleep(first_, awaited, kLong));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
  EXPECT_FALSE(first_.awaited());
  // It has been counted meanwhile.
  EXPECT_TRUE(sleep(first_, awaited, kLong));
}

TEST_F(Sleep, EndsWhenItsTimeIsOver) {
  Barrier one(first_);
  ASSERT_FALSE(one.progress());
  while (sleep(first_, *first_.awaited(), std::chrono::microseconds(100))) {  // a signal
  }
  Barrier other(second_);
  EXPECT_TRUE(other.progress());
  EXPECT_TRUE(one.progress());
}

// What its caller has not given yet no other rank counts.
TEST_F(Sleep, IsNotForARankThatWaitsForItsCaller) {
  std::vector<std::byte> data(16);
  Broadcast root(first_, 0, data);
  Broadcast other(second_, 0, data);
  root.make_available(0);
  EXPECT_FALSE(root.progress());
  EXPECT_FALSE(first_.awaited());
  EXPECT_FALSE(other.progress());
  ASSERT_TRUE(second_.awaited());
  EXPECT_EQ(second_.awaited()->rank, 0);
  root.make_available(data.size());
  EXPECT_TRUE(root.progress());
}

}  // namespace
