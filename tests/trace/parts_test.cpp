// Parts as bytes written by hand after docs/reference/formats/trace-parts.md, and as the preload library writes them.
#include "io/trace_parts.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/file.h"
#include "io/trace_layout.h"
#include "io/trace_phases.h"
#include "io/trace_records.h"
#include "preload/part.h"

namespace {

using ranktree::core::Error;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::Operation;
using ranktree::core::pattern::SendCall;
using ranktree::io::read_trace_part;
using ranktree::io::recover_trace;
using ranktree::io::to_pattern;
using ranktree::io::TracePart;
using ranktree::preload::Part;
using ranktree::preload::PartOwner;
namespace layout = ranktree::io::trace_layout;

template <typename Value>
void put(std::string& bytes, std::size_t at, Value value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

constexpr std::size_t kPairs = 2624;  // after the header of 2616 bytes, which anything may follow
constexpr std::size_t kCalls = kPairs + 32 + 2 * 24;
constexpr std::size_t kLog = kCalls + 32 + 32;

// Rank 2 of 3, which sent 5 messages with 40 bytes in all to rank 0, got 8 bytes from rank 1, and took part in one
// Bcast of 16 bytes (bucket 5) from rank 1 on the communicator 77 = {1, 2}.
std::string part_by_hand() {
  std::string bytes = "RTPART\r\n";
  put<std::uint32_t>(bytes, 8, 1);   // version, of parts without sends
  put<std::int32_t>(bytes, 12, 2);   // rank
  put<std::int32_t>(bytes, 16, 3);   // ranks
  put<std::int32_t>(bytes, 20, 0);   // thread
  put<std::uint32_t>(bytes, 24, 1);  // finished
  put<std::uint64_t>(bytes, 32, kPairs);
  put<std::uint64_t>(bytes, 40, kCalls);
  put<std::uint64_t>(bytes, 48, kLog);
  bytes.resize(kPairs);
  bytes.replace(56, 5, "node7");
  const auto section = [&](std::size_t at, std::uint32_t kind, std::uint32_t cell, std::uint64_t cells,
                           std::uint64_t used) {
    put<std::uint32_t>(bytes, at, kind);
    put<std::uint32_t>(bytes, at + 4, cell);
    put<std::uint64_t>(bytes, at + 8, cells);
    put<std::uint64_t>(bytes, at + 16, used);
    put<std::uint64_t>(bytes, at + 24, 0);
  };
  section(kPairs, 0, 24, 2, 2);
  const std::vector<std::uint64_t> cells{(0U << 3 | 0U << 1 | 0U) + 1, 5, 40, (1U << 3 | 3U << 1 | 1U) + 1, 1, 8};
  for (std::size_t i = 0; i < cells.size(); ++i) put<std::uint64_t>(bytes, kPairs + 32 + 8 * i, cells[i]);
  section(kCalls, 1, 32, 1, 1);
  const std::vector<std::uint64_t> call{std::uint64_t{2} << 32 | 5U << 8 | 2U, 77, 1, 16};  // root 1, bucket 5, Bcast
  for (std::size_t i = 0; i < call.size(); ++i) put<std::uint64_t>(bytes, kCalls + 32 + 8 * i, call[i]);
  section(kLog, 2, 1, 72, 64);
  put<std::uint32_t>(bytes, kLog + 32, 1);  // a communicator, 32 bytes
  put<std::uint32_t>(bytes, kLog + 36, 32);
  put<std::uint64_t>(bytes, kLog + 40, 77);
  put<std::uint32_t>(bytes, kLog + 48, 2);
  put<std::uint32_t>(bytes, kLog + 52, 0);
  put<std::int32_t>(bytes, kLog + 56, 1);
  put<std::int32_t>(bytes, kLog + 60, 2);
  put<std::uint32_t>(bytes, kLog + 64, 2);  // an unattributed name, 32 bytes
  put<std::uint32_t>(bytes, kLog + 68, 32);
  put<std::uint64_t>(bytes, kLog + 72, 9);
  put<std::uint64_t>(bytes, kLog + 80, 5);
  bytes.resize(kLog + 32 + 72);
  bytes.replace(kLog + 88, 5, "MPI_X");
  return bytes;
}

std::string refusal(const std::string& bytes) {
  try {
    read_trace_part(bytes, "p.part");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// A folder of its own that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ranktree-parts-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

PartOwner owner(int rank, int ranks) {
  return {rank, ranks, 0, "host" + std::to_string(rank), "Some MPI", "./program"};
}

TEST(TracePart, IsReadAsTheFormatSpecifies) {
  const TracePart part = read_trace_part(part_by_hand(), "p.part");
  EXPECT_EQ(part.rank, 2);
  EXPECT_TRUE(part.finished);
  EXPECT_EQ(part.records.ranks, 3);
  EXPECT_EQ(part.records.hosts.at(2), "node7");
  ASSERT_EQ(part.records.entries.size(), 2U);
  const auto& sent = part.records.entries[0];
  EXPECT_EQ(sent.from, 2);
  EXPECT_EQ(sent.to, 0);
  EXPECT_EQ(sent.kind, Class::kPointToPoint);
  EXPECT_EQ(sent.messages, 5);
  EXPECT_EQ(sent.bytes, 40);
  const auto& pulled = part.records.entries[1];
  EXPECT_EQ(pulled.from, 1);
  EXPECT_EQ(pulled.to, 2);
  EXPECT_EQ(pulled.kind, Class::kRma);
  ASSERT_EQ(part.records.calls.size(), 1U);
  const auto& [kind, sum] = *part.records.calls.begin();
  EXPECT_EQ(kind.communicator, 77U);
  EXPECT_EQ(kind.operation, Operation::kBcast);
  EXPECT_EQ(kind.root, 1);
  EXPECT_EQ(kind.bucket, 5);
  EXPECT_EQ(sum.bytes, 16);
  EXPECT_EQ(part.records.communicators.at(77).members, (std::vector<int>{1, 2}));
  EXPECT_EQ(part.records.unattributed.at("MPI_X"), 9);
}

TEST(TracePart, IsRefusedInOneLineNamingTheByte) {
  const std::string good = part_by_hand();
  const auto with = [&good](std::size_t at, auto value) {
    std::string bytes = good;
    put(bytes, at, value);
    return refusal(bytes);
  };
  EXPECT_EQ(refusal(""), "p.part: byte 0: the file ends too early");
  EXPECT_EQ(refusal(good.substr(0, 1000)), "p.part: byte 0: the file ends too early");
  EXPECT_EQ(refusal(good.substr(0, kCalls + 40)), "p.part: byte 2704: the section ends after the file");
  EXPECT_EQ(with(0, 'X'), "p.part: byte 0: not a part of a trace (wrong magic)");
  EXPECT_EQ(with(8, std::uint32_t{9}), "p.part: byte 8: version 9, expected 1 to 3");
  EXPECT_EQ(with(16, std::int32_t{0}), "p.part: byte 12: rank 2 of 0 ranks");
  EXPECT_EQ(with(12, std::int32_t{-1}), "p.part: byte 12: rank -1 of 3 ranks");
  EXPECT_EQ(with(kPairs + 8, std::uint64_t{1} << 62), "p.part: byte 2624: the section ends after the file");
  EXPECT_EQ(with(kPairs + 32, std::uint64_t{3 << 3 | 1}), "p.part: byte 2656: peer 3 of 3");
  EXPECT_EQ(with(kCalls + 32, std::uint64_t{200}), "p.part: byte 2736: operation 199");
  EXPECT_EQ(with(kLog + 56, std::int32_t{3}), "p.part: byte 2824: member 3 of 3");
}

// The part by hand with the section of version 2: three Isends of 4 bytes (bucket 3), 12 bytes in all, on 77.
std::string part_with_sends() {
  std::string bytes = part_by_hand();
  const std::size_t sends = bytes.size() + 8 - bytes.size() % 8;
  put<std::uint32_t>(bytes, 8, 2);
  put<std::uint64_t>(bytes, 2616, sends);
  const std::vector<std::uint64_t> head{std::uint64_t{1056} << 32 | 3U, 1, 1, 0, 5, 77};  // the header, then key and 77
  for (std::size_t i = 0; i < head.size(); ++i) put<std::uint64_t>(bytes, sends + 8 * i, head[i]);
  bytes.resize(sends + 32 + 1056);
  put<std::uint64_t>(bytes, sends + 48 + 3 * 16, 3);
  put<std::uint64_t>(bytes, sends + 56 + 3 * 16, 12);
  return bytes;
}

TEST(TracePart, HasMessagesByCallAndSizeSinceVersion2) {
  EXPECT_TRUE(read_trace_part(part_by_hand(), "p.part").records.sends.empty());
  const TracePart part = read_trace_part(part_with_sends(), "p.part");
  ASSERT_EQ(part.records.sends.size(), 1U);
  const auto& [kind, sum] = *part.records.sends.begin();
  EXPECT_EQ(kind.communicator, 77U);
  EXPECT_EQ(kind.call, SendCall::kIsend);
  EXPECT_EQ(kind.bucket, 3);
  EXPECT_EQ(sum.messages, 3);
  EXPECT_EQ(sum.bytes, 12);
  std::string bytes = part_with_sends();
  const std::size_t sends = bytes.size() - 1056 - 32;
  put<std::uint64_t>(bytes, sends + 32, 18);
  EXPECT_EQ(refusal(bytes), "p.part: byte " + std::to_string(sends + 32) + ": send call 17");
  EXPECT_EQ(refusal(part_with_sends().substr(0, sends + 40)),
            "p.part: byte " + std::to_string(sends) + ": the section ends after the file");
}

TEST(TracePart, LeavesOutALastRecordThatWasCutOff) {
  std::string bytes = part_by_hand();
  put<std::uint32_t>(bytes, kLog + 68, 400);  // the second record claims more than was committed
  const TracePart part = read_trace_part(bytes, "p.part");
  EXPECT_EQ(part.records.communicators.size(), 1U);
  EXPECT_TRUE(part.records.unattributed.empty());
}

TEST(Part, SurvivesItsProcessAfterGrowingManyTimes) {
  const Folder folder;
  const int peers = 5000;
  {
    Part part(folder / "rank-1-0.part", owner(1, peers));
    ASSERT_TRUE(part.on_disk());
    for (int i = 0; i < 3 * peers; ++i) {
      layout::PairCell* cell = part.pair(layout::pair_key(i % peers, Class::kPointToPoint, false));
      cell->messages += 1;
      cell->bytes += static_cast<std::uint64_t>(i % peers);
    }
    for (int i = 0; i < 1000; ++i) {
      part.call(layout::call_key(Operation::kBcast, 3, i % 7), static_cast<std::uint64_t>(i))->calls += 2;
      part.sends(layout::send_key(SendCall::kSend), static_cast<std::uint64_t>(i % 100))->sizes[7].messages += 1;
      const std::vector<int> members(static_cast<std::size_t>(i % 50 + 1), i);
      EXPECT_TRUE(part.log_communicator(static_cast<std::uint64_t>(i), members, {}));
      part.count_unattributed(i % 2 == 0 ? "MPI_Even" : "MPI_Odd", 1);
    }
    EXPECT_GT(part.moves(), 10U);
  }  // without mark_finished, as after a crash
  const TracePart part = read_trace_part(ranktree::io::read_file(folder / "rank-1-0.part"), "part");
  EXPECT_FALSE(part.finished);
  ASSERT_EQ(part.records.entries.size(), static_cast<std::size_t>(peers));
  double total = 0;
  for (const auto& entry : part.records.entries) {
    EXPECT_EQ(entry.messages, 3);
    EXPECT_EQ(entry.bytes, 3 * entry.to);
    total += entry.bytes;
  }
  EXPECT_EQ(total, 3.0 * peers * (peers - 1) / 2);
  EXPECT_EQ(std::pair(part.records.calls.size(), part.records.communicators.size()), std::pair(1000UL, 1000UL));
  EXPECT_EQ(part.records.sends.size(), 100U);
  EXPECT_EQ((part.records.sends.at({99, SendCall::kSend, 7}).messages), 10);
  EXPECT_EQ(part.records.communicators.at(149).members, std::vector<int>(50, 149));
  EXPECT_EQ(part.records.unattributed.at("MPI_Odd"), 500);
}

// 1 KiB each: programs that make ever new communicators would fill memory and disk.
TEST(Part, CountsSendsOnCommunicatorsBeyondTheFirstTogether) {
  const Folder folder;
  constexpr int kMessages = 6000;
  {
    Part part(folder / "rank-0-0.part", owner(0, 4));
    for (unsigned i = 0; i < kMessages; ++i)
      ++part.sends(layout::send_key(SendCall::kSend), 1 + i % 3000)->sizes[3].messages;
  }
  EXPECT_LT(std::filesystem::file_size(folder / "rank-0-0.part"), 5'000'000U);
  double messages = 0;
  const TracePart found = read_trace_part(ranktree::io::read_file(folder / "rank-0-0.part"), "part");
  for (const auto& [key, sent] : found.records.sends) messages += sent.messages;
  EXPECT_EQ(messages, kMessages);
}

TEST(Part, IsNotOnDiskOnceItsFileCannotGrow) {
  const Folder folder;
  Part part(folder / "rank-0-0.part", owner(0, 300));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{std::filesystem::file_size(folder / "rank-0-0.part"), before.rlim_max};
  auto* const handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  for (int peer = 0; peer < 300; ++peer) part.pair(layout::pair_key(peer, Class::kPointToPoint, false))->messages = 4;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_FALSE(part.on_disk());
  EXPECT_EQ(part.records().entries.size(), 300U);
}

TEST(Part, RecordsInMemoryWhereNoFileCanBeMade) {
  Part part("/nonexistent/folder/rank-0-0.part", owner(0, 300));
  EXPECT_FALSE(part.on_disk());
  for (int peer = 0; peer < 300; ++peer) part.pair(layout::pair_key(peer, Class::kNeighbor, false))->messages = 4;
  EXPECT_EQ(part.records().entries.size(), 300U);
}

void send(Part& part, int peer, std::uint64_t messages, std::uint64_t bytes) {
  layout::PairCell* cell = part.pair(layout::pair_key(peer, Class::kPointToPoint, false));
  cell->messages += messages;
  cell->bytes += bytes;
}

std::vector<int> phases_of(const std::vector<layout::Cut>& cuts) {
  std::vector<int> phases;
  for (const layout::Cut& cut : cuts) phases.push_back(cut.phase);
  return phases;
}

TEST(Part, RecognisesSegmentsThatRepeat) {
  Part part("", owner(0, 9));
  for (int round = 0; round < 3; ++round) {
    send(part, 1, 1, 100 + static_cast<std::uint64_t>(round));  // of one magnitude
    part.cut(Operation::kBarrier);
    send(part, 2, 1, 100);
    part.cut(Operation::kBarrier);
    send(part, 2, 1, 100);
    part.cut(Operation::kAllreduce);
  }
  part.cut(Operation::kBarrier);
  send(part, 2, 7, 7);
  const auto records = part.records();
  EXPECT_TRUE(records.phased);
  EXPECT_EQ(phases_of(records.phases.cuts), (std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3, 4}));
  ASSERT_EQ(records.phases.entries[0].size(), 1U);
  EXPECT_EQ(records.phases.entries[0][0].to, 1);
  EXPECT_EQ(records.phases.entries[0][0].messages, 3);
  EXPECT_EQ(records.phases.entries[0][0].bytes, 303);
  EXPECT_EQ(records.phases.entries[1][0].bytes, 300);
  EXPECT_EQ(records.phases.entries[2][0].bytes, 300);
  EXPECT_TRUE(records.phases.entries[3].empty());
}

TEST(Part, BoundsItsPhasesAndCuts) {
  const Folder folder;
  Part part(folder / "rank-0-0.part", owner(0, 100));
  for (int peer = 1; peer < 80; ++peer) {
    send(part, peer, 1, 8);
    part.cut(Operation::kBarrier);
  }
  for (int i = 0; i < 70'000; ++i) part.cut(Operation::kAllreduce);
  const auto records = part.records();
  ASSERT_EQ(records.phases.cuts.size(), layout::kMostCuts);
  EXPECT_EQ(records.phases.cuts[62].phase, 63);
  EXPECT_EQ(records.phases.cuts[63].phase, 0);
  EXPECT_EQ(records.phases.cuts.back().phase, 0);
  EXPECT_EQ(records.phases.entries[62].at(0).to, 63);
}

TEST(Part, MakesNoPhasesOfTooManyPairs) {
  constexpr int kPeers = layout::kMostPhaseCells / 2 + 1;
  Part part("", owner(0, kPeers + 1));
  for (const std::uint64_t bytes : {1, 100, 10'000}) {
    for (int peer = 1; peer <= kPeers; ++peer) send(part, peer, 1, bytes);
    part.cut(Operation::kBarrier);
  }
  EXPECT_EQ(phases_of(part.records().phases.cuts), (std::vector<int>{1, 0, 0}));
}

// Rank 0 does the same in each segment, rank 1 alternates, rank 2 died early, and rank 3 makes no calls at all.
TEST(RecoverTrace, DividesAPhaseByWhatOtherRanksDo) {
  const Folder folder;
  {
    Part zero(folder / "rank-0-0.part", owner(0, 4));
    Part one(folder / "rank-1-0.part", owner(1, 4));
    Part two(folder / "rank-2-0.part", owner(2, 4));
    Part three(folder / "rank-3-0.part", owner(3, 4));
    send(three, 0, 1, 1);
    for (int i = 0; i < 6; ++i) {
      send(zero, 1, 1, 60);
      zero.cut(Operation::kAllreduce);
      send(one, i % 2 == 0 ? 2 : 3, 1, 10);
      one.cut(Operation::kAllreduce);
      if (i < 4) two.cut(Operation::kAllreduce);
    }
  }
  const auto pattern = recover_trace(folder.path()).pattern;
  EXPECT_TRUE(pattern.phased);
  ASSERT_EQ(pattern.phases.size(), 2U);
  for (const auto& phase : pattern.phases) {
    EXPECT_EQ(phase.name, "before MPI_Allreduce");
    EXPECT_EQ(phase.count, 2);
    ASSERT_EQ(phase.pairs.size(), 2U);
    EXPECT_EQ(pattern.indices[static_cast<std::size_t>(phase.pairs[0])], 1);
    EXPECT_EQ(phase.traffic.bytes, (std::vector<double>{120, 20}));
  }
  EXPECT_EQ(pattern.indices[static_cast<std::size_t>(pattern.phases[0].pairs[1])], 2);
  EXPECT_EQ(pattern.indices[static_cast<std::size_t>(pattern.phases[1].pairs[1])], 3);
}

TEST(TracePhases, OfSidesThatDisagreeStopThere) {
  ranktree::io::TracePhases a;
  a.cuts = {{1, 0}, {1, 3}, {1, 0}};
  a.entries[0] = {{0, 1, Class::kPointToPoint, 3, 30}};
  ranktree::io::TracePhases b;
  b.cuts = {{2, 0}, {0, 3}, {1, 3}};
  b.entries[1] = {{1, 0, Class::kPointToPoint, 1, 5}};
  ranktree::io::merge(a, std::move(b));
  EXPECT_EQ(phases_of(a.cuts), (std::vector<int>{1, 2}));
  ASSERT_EQ(a.entries[0].size(), 2U);
  EXPECT_EQ(a.entries[0][0].bytes, 10);
  EXPECT_EQ(a.entries[0][1].bytes, 5);
  EXPECT_EQ(a.entries[1].at(0).bytes, 10);
}

// A thread that synchronises once leaves the phases of the one that makes them.
TEST(TracePhases, AreThoseOfTheThreadWithTheMostCuts) {
  using ranktree::io::TraceRecords;
  TraceRecords main;
  main.phases.cuts = {{1, 0}, {1, 0}};
  main.phases.entries[0] = {{0, 1, Class::kPointToPoint, 2, 20}};
  TraceRecords other;
  other.phases.cuts = {{1, 5}};
  TraceRecords all;
  for (TraceRecords* const thread : {&other, &main}) ranktree::io::merge_thread(all, TraceRecords(*thread));
  EXPECT_EQ(phases_of(all.phases.cuts), (std::vector<int>{1, 1}));
  EXPECT_EQ(all.phases.entries[0].at(0).bytes, 20);
}

TEST(TracePhases, KeepTheMostFrequentOfTooMany) {
  ranktree::io::TracePhases a;
  ranktree::io::TracePhases b;
  for (std::uint8_t i = 0; i < 200; ++i) {
    a.cuts.push_back({static_cast<std::uint8_t>(i < 100 ? 1 : 1 + i % 20), 0});
    b.cuts.push_back({static_cast<std::uint8_t>(i < 100 ? 1 : 1 + i % 9), 0});
  }
  ranktree::io::merge(a, std::move(b));
  EXPECT_EQ(a.cuts[0].phase, 1);
  EXPECT_EQ(a.cuts[99].phase, 1);
  int lost = 0;
  for (const layout::Cut& cut : a.cuts) lost += cut.phase == 0 ? 1 : 0;
  EXPECT_EQ(lost, 99 - 62);  // the pair (1, 1) is there once more, each of the others once
}

TEST(TracePhases, GoOnAsTheyBeganBehindTheLastCut) {
  ranktree::io::TraceRecords records;
  records.ranks = 2;
  records.phased = true;
  records.entries = {{0, 1, Class::kPointToPoint, 300, 3000}, {1, 0, Class::kPointToPoint, 8, 80}};
  records.phases.cuts.assign(layout::kMostCuts, {1, 0});
  records.phases.cuts[0].phase = 2;
  records.phases.entries[0] = {{0, 1, Class::kPointToPoint, 90, 900}};
  records.phases.entries[1] = {{0, 1, Class::kPointToPoint, 10, 100}};
  const auto pattern = to_pattern(std::move(records));
  ASSERT_EQ(pattern.phases.size(), 2U);
  EXPECT_EQ(pattern.phases[0].traffic.bytes, std::vector<double>{2700});
  EXPECT_EQ(pattern.phases[1].traffic.messages, std::vector<double>{30});
}

TEST(RecoverTrace, CombinesExistingPartsAndNamesMissingOnes) {
  const Folder folder;
  {
    Part zero(folder / "rank-0-0.part", owner(0, 4));
    zero.pair(layout::pair_key(2, Class::kPointToPoint, false))->messages = 7;
    zero.mark_finished(true);
    Part second_thread(folder / "rank-0-1.part", owner(0, 4));
    second_thread.pair(layout::pair_key(2, Class::kPointToPoint, false))->messages = 3;
    Part two(folder / "rank-2-0.part", owner(2, 4));
    two.call(layout::call_key(Operation::kBarrier, 0, -1), 5)->calls = 6;  // the communicator's list is missing
  }
  std::ofstream(folder / "rank-3-0.part") << "torn";
  const auto pattern = recover_trace(folder.path()).pattern;
  EXPECT_EQ(pattern.ranks, 4);
  ASSERT_EQ(pattern.indices, (std::vector<int>{2}));
  EXPECT_EQ(pattern.of(Class::kPointToPoint).messages[0], 10);
  EXPECT_FALSE(pattern.metadata.complete);
  EXPECT_EQ(pattern.metadata.missing, (std::vector<int>{1, 3}));
  EXPECT_EQ(pattern.metadata.hosts, (std::vector<std::string>{"host0", "", "host2", ""}));
  EXPECT_EQ(pattern.metadata.unattributed.at("MPI_Barrier (communicator lost)"), 6);
  EXPECT_TRUE(pattern.collectives.empty());
}

TEST(RecoverTrace, IsCompleteWhenEveryRankFinished) {
  const Folder folder;
  for (int rank = 0; rank < 3; ++rank) {
    Part part(folder / ("rank-" + std::to_string(rank) + "-0.part"), owner(rank, 3));
    part.mark_finished(true);
  }
  EXPECT_TRUE(recover_trace(folder.path()).pattern.metadata.complete);
}

TEST(RecoverTrace, RefusesFoldersWithoutATrace) {
  const Folder folder;
  EXPECT_THROW(recover_trace(folder.path()), Error);
  EXPECT_THROW(recover_trace(folder / "nowhere"), Error);
  {
    Part(folder / "rank-0-0.part", owner(0, 2));
  }
  {
    Part(folder / "rank-1-0.part", owner(1, 3));
  }
  EXPECT_THROW(recover_trace(folder.path()), Error);
}

TEST(TraceRecords, ComeBackFromTheirPackedForm) {
  TracePart part = read_trace_part(part_by_hand(), "p.part");
  EXPECT_FALSE(part.records.phased);
  part.records.phases.cuts = {{1, 3}, {2, 0}};
  part.records.phases.entries[1] = {{0, 1, Class::kPointToPoint, 3, 30}};
  const std::string bytes = ranktree::io::pack(part.records);
  const auto back = ranktree::io::unpack(bytes, "message");
  EXPECT_EQ(ranktree::io::pack(back), bytes);
  EXPECT_EQ(back.communicators.at(77).members, (std::vector<int>{1, 2}));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(ranktree::io::unpack(std::string_view(bytes).substr(0, length), "message"), Error) << length;
  }
}

}  // namespace
