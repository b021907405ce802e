// The proof itself: it finds each kind of flaw in a schedule.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "prove.h"

namespace ranktree::core::schedule {
namespace {

constexpr Range kOutput{Buffer::kOutput, 0, 2};
constexpr Range kInput{Buffer::kInput, 0, 2};
constexpr Range kScratch{Buffer::kScratch, 0, 2};

Step send(Rank to, const Range& from) { return {.action = Action::kSend, .peer = to, .from = from, .into = {}}; }
Step receive(Rank from, const Range& into) {
  return {.action = Action::kReceive, .peer = from, .from = {}, .into = into};
}

// Every step waits for the one before when `chained`.
Program program_of(Rank rank, std::vector<Step> steps, bool chained = true) {
  Program program{.rank = rank, .scratch = 2, .steps = std::move(steps), .dependencies = {}};
  for (std::size_t step = 1; chained && step < program.steps.size(); ++step) {
    program.steps[step].first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    program.steps[step].dependency_count = 1;
    program.dependencies.push_back(static_cast<std::int32_t>(step) - 1);
  }
  return program;
}

std::string flaw(const Request& request, const Schedule& schedule) {
  try {
    prove(request, schedule, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Request kToTheOther{.collective = Collective::kBroadcast, .ranks = 2, .count = 2};
const Request kSum{.collective = Collective::kReduce, .ranks = 2, .count = 2, .commutative = false};

TEST(Prove, AcceptsACorrectSchedule) {
  EXPECT_EQ(flaw(kToTheOther, {program_of(0, {send(1, kOutput)}), program_of(1, {receive(0, kOutput)})}), "");
}

TEST(Prove, FindsAMessageThatNoRankReceives) {
  EXPECT_EQ(
      flaw(kToTheOther, {program_of(0, {send(1, kOutput), send(1, kOutput)}), program_of(1, {receive(0, kOutput)})}),
      "schedule: rank 0: step 1: waits forever");
}

TEST(Prove, FindsRanksThatWaitForEachOther) {
  const Request exchange{.collective = Collective::kAlltoall, .ranks = 2, .count = 1};
  const auto block = [](Buffer buffer, std::int64_t first) { return Range{buffer, first, 1}; };
  const auto program = [&](Rank me, bool send_first) {
    const Step out = send(1 - me, block(Buffer::kInput, 1 - me));
    const Step in = receive(1 - me, block(Buffer::kOutput, 1 - me));
    const Step own{.action = Action::kCopy, .from = block(Buffer::kInput, me), .into = block(Buffer::kOutput, me)};
    return program_of(me, send_first ? std::vector{out, in, own} : std::vector{in, out, own});
  };
  EXPECT_EQ(flaw(exchange, {program(0, true), program(1, false)}), "");
  EXPECT_EQ(flaw(exchange, {program(0, true), program(1, true)}), "schedule: rank 0: step 0: waits forever");
}

TEST(Prove, FindsMessagesOfTwoLengths) {
  EXPECT_EQ(flaw(kToTheOther, {program_of(0, {send(1, kOutput)}), program_of(1, {receive(0, within(kOutput, 0, 1))})}),
            "schedule: rank 0: step 0: sends 2 elements where rank 1 expects 1");
}

TEST(Prove, FindsStepsThatShouldWait) {
  const Request copied{.collective = Collective::kReduce, .ranks = 1, .count = 2};
  const Step in{.action = Action::kCopy, .from = kInput, .into = kScratch};
  const Step out{.action = Action::kCopy, .from = kScratch, .into = kOutput};
  EXPECT_EQ(flaw(copied, {program_of(0, {in, out})}), "");
  EXPECT_EQ(flaw(copied, {program_of(0, {in, out}, false)}),
            "schedule: rank 0: step 1: expected to wait for step 0, which touches the same elements");
}

TEST(Prove, FindsOperandsTwiceMissingAndOutOfOrder) {
  const Step in{.action = Action::kCopy, .from = kInput, .into = kOutput};
  const Step arrived = receive(1, kScratch);
  const Step wrong_order{.action = Action::kReduce, .from = kScratch, .into = kOutput};
  const Program other = program_of(1, {send(0, kInput)});
  EXPECT_EQ(flaw(kSum, {program_of(0, {in, arrived, wrong_order}), other}),
            "schedule: rank 0: output element 0: expected element 0 of ranks 3, found 0 of 3 out of rank order");
  EXPECT_EQ(flaw(kSum, {program_of(0, {in, arrived}), other}),
            "schedule: rank 0: output element 0: expected element 0 of ranks 3, found 0 of 1");
  EXPECT_EQ(flaw(kSum, {program_of(0, {in, arrived, wrong_order, wrong_order}), other}),
            "schedule: rank 0: step 3: combines an operand twice");
}

TEST(Prove, FindsElementsInTheWrongPlace) {
  const Step crossed{.action = Action::kReduce, .from = {Buffer::kInput, 0, 1}, .into = {Buffer::kScratch, 1, 1}};
  EXPECT_EQ(flaw(kSum, {program_of(0, {receive(1, kScratch), crossed}), program_of(1, {send(0, kInput)})}),
            "schedule: rank 0: step 1: combines element 0 with 1");
  EXPECT_EQ(flaw(kToTheOther, {program_of(0, {}), program_of(1, {})}),
            "schedule: rank 1: output element 0: expected element 0 of ranks 1, found -2 of 0");
}

TEST(Prove, FindsUndefinedElementsAndForeignOnes) {
  EXPECT_EQ(flaw(kToTheOther, {program_of(0, {send(1, kScratch)}), program_of(1, {receive(0, kOutput)})}),
            "schedule: rank 0: step 0: reads an undefined element");
  EXPECT_EQ(
      flaw(kToTheOther, {program_of(0, {send(1, {Buffer::kOutput, 1, 2})}), program_of(1, {receive(0, kOutput)})}),
      "schedule: rank 0: step 0: is outside of its buffer");
  EXPECT_EQ(flaw(kSum, {program_of(0, {receive(1, kInput)}), program_of(1, {send(0, kInput)})}),
            "schedule: rank 0: step 0: writes to the input");
}

TEST(Prove, FindsABarrierThatLetsRanksLeaveEarly) {
  const Request barrier{.collective = Collective::kBarrier, .ranks = 2};
  const Range nothing{};
  EXPECT_EQ(flaw(barrier, {program_of(0, {send(1, nothing), receive(1, nothing)}),
                           program_of(1, {receive(0, nothing), send(0, nothing)})}),
            "");
  EXPECT_EQ(flaw(barrier, {program_of(0, {}), program_of(1, {})}),
            "schedule: rank 1: step 0: leaves the barrier without rank 0");
}

}  // namespace
}  // namespace ranktree::core::schedule
