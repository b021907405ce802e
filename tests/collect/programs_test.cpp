// What a communicator keeps of the programs that were made for it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "mpi/collect/execute/programs.h"

namespace ranktree::mpi::collect {
namespace {

using core::schedule::Algorithm;
using core::schedule::Collective;
using core::schedule::Form;
using core::schedule::Program;
using core::schedule::Request;

// What a shape refers to.
struct Wanted {
  Request request{.collective = Collective::kGather, .ranks = 4, .root = 1, .count = 7};
  std::vector<Algorithm> algorithms{Algorithm::kBinomial};
  Form form = Form::kLeaders;
  std::int64_t segment = 2;
  core::schedule::Rank groups = 3;
  std::int64_t element = 8;
  core::schedule::Rank leading = -1;

  [[nodiscard]] Shape shape() const { return {request, algorithms, form, segment, groups, element, leading}; }
};

Wanted of_count(std::int64_t count) {
  Wanted wanted;
  wanted.request.count = count;
  return wanted;
}

std::shared_ptr<const Prepared> program_of(std::size_t steps) {
  return std::make_shared<const Prepared>(Program{.steps = std::vector<core::schedule::Step>(steps)});
}

TEST(Programs, AreFoundByAllThatTheyAreMadeFrom) {
  Programs programs;
  const auto kept = program_of(1);
  programs.keep(Wanted{}.shape(), kept);
  EXPECT_EQ(programs.find(Wanted{}.shape()), kept);
  const std::vector<std::function<void(Wanted&)>> changes{
      [](Wanted& w) { w.request.collective = Collective::kScatter; },
      [](Wanted& w) { w.request.count = 8; },
      [](Wanted& w) { w.request.root = 2; },
      [](Wanted& w) { w.request.commutative = false; },
      [](Wanted& w) { w.request.in_place = true; },
      [](Wanted& w) { w.request.counts = {1, 2, 3, 4}; },
      [](Wanted& w) { w.request.displacements = {0, 1, 3, 6}; },
      [](Wanted& w) { w.algorithms = {Algorithm::kFlat}; },
      [](Wanted& w) { w.algorithms.push_back(Algorithm::kBinomial); },
      [](Wanted& w) { w.form = Form::kLanes; },
      [](Wanted& w) { w.segment = 3; },
      [](Wanted& w) { w.groups = 2; },
      [](Wanted& w) { w.element = 4; },
      [](Wanted& w) { w.leading = 0; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Wanted other;
    changes[i](other);
    EXPECT_EQ(programs.find(other.shape()), nullptr) << "change " << i;
    const auto own = program_of(1);
    programs.keep(other.shape(), own);
    EXPECT_EQ(programs.find(other.shape()), own) << "change " << i;
  }
  EXPECT_EQ(programs.find(Wanted{}.shape()), kept);
}

TEST(Programs, OfTooManyTheLastUsedStay) {
  constexpr auto kMost = static_cast<std::int64_t>(Programs::kMostEntries);
  Programs programs;
  for (std::int64_t count = 0; count < kMost; ++count) programs.keep(of_count(count).shape(), program_of(1));
  ASSERT_NE(programs.find(of_count(0).shape()), nullptr);
  programs.keep(of_count(kMost).shape(), program_of(1));
  EXPECT_EQ(programs.find(of_count(1).shape()), nullptr);
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{2}, kMost - 1, kMost}) {
    EXPECT_NE(programs.find(of_count(count).shape()), nullptr) << count;
  }
}

TEST(Programs, TakeNoMoreMemoryThanTheyMay) {
  const std::size_t steps = Programs::kMostBytes / 3 / program_of(1000)->bytes() * 1000;
  const auto third = program_of(steps);
  ASSERT_GT(third->bytes(), Programs::kMostBytes / 4);
  ASSERT_LT(third->bytes(), Programs::kMostBytes / 3);
  Programs programs;
  for (std::int64_t count = 0; count < 4; ++count) programs.keep(of_count(count).shape(), third);
  EXPECT_EQ(programs.find(of_count(0).shape()), nullptr);
  EXPECT_EQ(programs.find(of_count(3).shape()), third);
  programs.keep(of_count(4).shape(), program_of(4 * steps));
  EXPECT_EQ(programs.find(of_count(4).shape()), nullptr);
  for (const std::int64_t count : {1, 2, 3}) EXPECT_EQ(programs.find(of_count(count).shape()), third) << count;
}

}  // namespace
}  // namespace ranktree::mpi::collect
