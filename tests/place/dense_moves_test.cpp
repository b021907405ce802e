#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_pairs.h"
#include "core/place/dense/dense_ties.h"
#include "core/place/dense/dense_weights.h"

namespace {

using namespace ranktree::core::place::engine;
using ranktree::core::at;
using ranktree::core::Random;
using ranktree::core::pattern::Rank;

// Members in children of equal size, with whole numbers as weights.
struct Situation {
  Situation(Rank count, std::int32_t children, bool symmetric, std::uint64_t seed)
      : values(at(count) * at(count)), members(at(count)), weights{{count, values.data()}, symmetric, 1} {
    Random random(seed);
    for (Rank i = 0; i < count; ++i) {
      for (Rank j = 0; j < count; ++j) {
        double& value = values[at(i) * at(count) + at(j)];
        value = symmetric && j < i ? values[at(j) * at(count) + at(i)] : static_cast<double>(random.below(50));
      }
    }
    std::iota(members.begin(), members.end(), 0);
    division.members = members;
    division.capacity.assign(at(children), count / children);
    for (Rank i = 0; i < count; ++i) division.child_of.push_back(i % children);
  }
  Situation(const Situation&) = delete;
  Situation& operator=(const Situation&) = delete;

  // What all of a child exchange with a member.
  [[nodiscard]] double tie(std::int32_t child, Rank member) const {
    double sum = 0;
    for (const Rank other : members) {
      if (other != member && division.child_of[at(other)] == child) sum += weights.weight(member, other);
    }
    return sum;
  }
  [[nodiscard]] double kept() const {
    double sum = 0;
    for (const Rank member : members) sum += tie(division.child_of[at(member)], member);
    return sum / 2;
  }

  std::vector<double> values;
  std::vector<Rank> members;
  DenseWeights<double> weights;
  Division division;
};

void expect_ties(const Situation& given, const DenseTies<double>& ties) {
  for (std::int32_t child = 0; child < static_cast<std::int32_t>(given.division.capacity.size()); ++child) {
    for (const Rank member : given.members) ASSERT_EQ(ties.tie(child, member), given.tie(child, member));
  }
}

const Exchanged kIgnored = [](std::int32_t, std::int32_t, std::int32_t) {};

TEST(DenseTies, AreWhatTheyWouldBeAnewAfterEachExchange) {
  for (const bool symmetric : {true, false}) {
    Situation given(21, 3, symmetric, 1);
    ranktree::core::Workers workers(1);
    DenseTies<double> ties(given.weights, given.division, workers);
    expect_ties(given, ties);
    for (const auto& [one, other] : std::vector<std::pair<int, int>>{{0, 1}, {3, 5}, {20, 0}, {1, 0}}) {
      if (ties.child_of(one) != ties.child_of(other)) ties.exchange(one, other);
      expect_ties(given, ties);
    }
    ties.move(4, 0);
    expect_ties(given, ties);
    EXPECT_EQ(ties.held(0).size(), 8U);
  }
}

TEST(DensePairs, KeepMoreWithinChildrenAndTheirSizes) {
  Situation given(60, 5, true, 2);
  const double before = given.kept();
  ranktree::core::Workers workers(1);
  DenseTies<double> ties(given.weights, given.division, workers);
  Random random(3);
  DensePairs<double>(ties, {}, kIgnored).run({20, 4}, workers, random);
  EXPECT_GT(given.kept(), before);
  expect_ties(given, ties);
  for (std::int32_t child = 0; child < 5; ++child) EXPECT_EQ(ties.held(child).size(), 12U);
}

// Each partner is in the other child: one exchange is enough, and the one after it would undo it.
TEST(DensePairs, KeepTheBestStatePassed) {
  Situation given(4, 2, true, 4);
  given.values = {0, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0, 0, 0};  // 0 with 3, 1 with 2; children {0, 2}, {1, 3}
  given.weights.matrix.values = given.values.data();
  ranktree::core::Workers workers(1);
  DenseTies<double> ties(given.weights, given.division, workers);
  Random random(5);
  DensePairs<double>(ties, {}, kIgnored).run({3, 2}, workers, random);
  EXPECT_EQ(given.division.child_of[0], given.division.child_of[3]);
  EXPECT_EQ(given.division.child_of[1], given.division.child_of[2]);
}

TEST(DensePairs, LeaveThoseWhoStay) {
  Situation given(40, 4, true, 6);
  std::vector<std::uint8_t> fixed(40, 0);
  for (const std::size_t i : {0U, 7U, 22U}) fixed[i] = 1;
  const auto before = given.division.child_of;
  ranktree::core::Workers workers(1);
  DenseTies<double> ties(given.weights, given.division, workers);
  Random random(7);
  DensePairs<double>(ties, fixed, kIgnored).run({20, 4}, workers, random);
  for (const std::size_t i : {0U, 7U, 22U}) EXPECT_EQ(given.division.child_of[i], before[i]);
}

// All in one child; each two that talk would rather be apart from the others, where there is capacity.
TEST(DensePairs, TakeFreeSlots) {
  Situation given(4, 2, true, 4);
  given.values = {0, 9, 0, 0, 9, 0, 0, 0, 0, 0, 0, 9, 0, 0, 9, 0};
  given.weights.matrix.values = given.values.data();
  given.division.child_of = {0, 0, 0, 1};
  given.division.capacity = {4, 2};
  ranktree::core::Workers workers(1);
  DenseTies<double> ties(given.weights, given.division, workers);
  Random random(5);
  std::vector<std::int32_t> child_of = given.division.child_of;
  const Exchanged follow = [&](std::int32_t one, std::int32_t other, std::int32_t child) {
    if (other >= 0) std::swap(child_of[at(one)], child_of[at(other)]);
    if (other < 0) child_of[at(one)] = child;
  };
  DensePairs<double>(ties, {}, follow).run({3, 2}, workers, random);
  EXPECT_EQ(given.kept(), 2 * 18);
  EXPECT_EQ(child_of, given.division.child_of);
  expect_ties(given, ties);
}

}  // namespace
