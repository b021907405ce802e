// The parts of the emulated cluster's switch: links with rate and latency, a queue in order of time, the size of frames
// on the cable, counters in a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "counters.h"
#include "fabric.h"
#include "frame_queue.h"
#include "link.h"
#include "tap.h"
}

namespace {

// struct virtio_net_hdr; the kernel's own header is not C++.
struct OffloadHeader {
  std::uint8_t flags;
  std::uint8_t gso_type;  // 0: none, 1: TCP over IPv4
  std::uint16_t hdr_len;
  std::uint16_t gso_size;
  std::uint16_t csum_start;
  std::uint16_t csum_offset;
};

Burst one_frame(std::int64_t time, std::uint32_t bytes) { return {time, time, bytes, bytes}; }

TEST(Link, TakesTheTimeOfTheBytesAndTheLatency) {
  Link link = link_make(25, 1000);
  Burst burst = one_frame(1000, 1250);  // 1250 bytes at 1000 Mbit/s: 10 microseconds
  link_cross(&link, &burst);
  EXPECT_EQ(burst.tail, 1000 + 10'000 + 25'000);
  EXPECT_EQ(burst.head, burst.tail);
}

TEST(Link, MakesASecondFrameWait) {
  Link link = link_make(25, 1000);
  Burst first = one_frame(0, 1250);
  Burst second = one_frame(4'000, 1250);
  link_cross(&link, &first);
  link_cross(&link, &second);
  EXPECT_EQ(second.tail, 20'000 + 25'000);
}

TEST(Link, IsFreeAgainAfterAPause) {
  Link link = link_make(0, 1000);
  Burst first = one_frame(0, 1250);
  Burst second = one_frame(1'000'000, 1250);
  link_cross(&link, &first);
  link_cross(&link, &second);
  EXPECT_EQ(second.tail, 1'010'000);
}

TEST(Link, WithoutARateCostsLatencyOnly) {
  Link link = link_make(7, 0);
  Burst burst = one_frame(0, 1'000'000);
  link_cross(&link, &burst);
  EXPECT_EQ(burst.tail, 7'000);
}

TEST(Link, PassesABurstOnAsAPipeline) {
  // Ten frames over two links: the second link starts when the first frame is through, not the last.
  Link first = link_make(5, 1000);
  Link second = link_make(5, 1000);
  Burst burst = {0, 0, 10 * 1250, 1250};
  link_cross(&first, &burst);
  link_cross(&second, &burst);
  EXPECT_EQ(burst.tail, 11 * 10'000 + 2 * 5'000);
}

TEST(Link, IsDelayedByASlowerLinkBefore) {
  Link slow = link_make(0, 100);
  Link fast = link_make(0, 1000);
  Burst burst = {0, 0, 10 * 1250, 1250};
  link_cross(&slow, &burst);
  EXPECT_EQ(burst.tail, 10 * 100'000);
  link_cross(&fast, &burst);
  EXPECT_GE(burst.tail, 10 * 100'000);
}

Frame* make_frame(std::int64_t due, int destination) {
  auto* const frame = static_cast<Frame*>(std::calloc(1, sizeof(Frame)));
  frame->due = due;
  frame->destination = destination;
  return frame;
}

TEST(FrameQueue, GivesFramesInOrderOfTimeAndEqualOnesInOrderOfArrival) {
  FrameQueue queue = {};
  std::vector<std::int64_t> times;
  for (int i = 0; i < 5000; ++i) {
    times.push_back((i * 7919LL) % 97);
    ASSERT_TRUE(frame_queue_push(&queue, make_frame(times.back(), i)));
  }
  std::vector<int> expected(times.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<int>(i);
  }
  std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) {
    return times[static_cast<std::size_t>(a)] < times[static_cast<std::size_t>(b)];
  });
  for (const int destination : expected) {
    ASSERT_EQ(frame_queue_first(&queue)->destination, destination);
    std::free(frame_queue_pop(&queue));
  }
  EXPECT_EQ(frame_queue_first(&queue), nullptr);
  std::free(queue.heap);
}

// Four nodes on two switches; links of 1000 Mbit/s and 5 microseconds within a switch, of 100 Mbit/s between switches.
class FabricTest : public testing::Test {
 protected:
  FabricTest() { fabric_init(fabric_.get(), 2, link_make(5, 1000), link_make(5, 100)); }

  ~FabricTest() override {
    while (Frame* const frame = fabric_receive(fabric_.get(), INT64_MAX - 1)) std::free(frame);
    std::free(fabric_->queue.heap);
  }

  void send(int source, int destination, std::int64_t time, std::uint32_t bytes) {
    Frame* const frame = make_frame(0, destination);
    frame->source = source;
    frame->burst = {time, time, bytes, std::min(bytes, 1250U)};
    fabric_send(fabric_.get(), frame);
  }

  // Of all frames from `source` to `destination`, in order.
  std::vector<std::int64_t> arrivals(int source, int destination) {
    std::vector<std::int64_t> times;
    while (Frame* const frame = fabric_receive(fabric_.get(), INT64_MAX - 1)) {
      if (frame->source == source && frame->destination == destination) times.push_back(frame->due);
      std::free(frame);
    }
    return times;
  }

  std::unique_ptr<Fabric> fabric_ = std::make_unique<Fabric>();
};

TEST_F(FabricTest, DeliversAfterEachLinkOfThePath) {
  send(0, 1, 0, 1250);
  EXPECT_EQ(fabric_receive(fabric_.get(), 2 * 15'000 - 1), nullptr);
  EXPECT_EQ(fabric_next(fabric_.get()), 2 * 15'000);
  EXPECT_EQ(arrivals(0, 1), std::vector<std::int64_t>{2 * 15'000});
  EXPECT_EQ(fabric_next(fabric_.get()), INT64_MAX);
}

TEST_F(FabricTest, CrossesTheRootBetweenSwitches) {
  send(0, 3, 0, 1250);
  EXPECT_EQ(arrivals(0, 3), std::vector<std::int64_t>{2 * 15'000 + 2 * 105'000});
}

TEST_F(FabricTest, SendsFramesInOrderOfTheirArrivalAtALink) {
  // Node 0's burst to node 1 keeps its link busy for a millisecond, and its frame to node 2 waits behind it. That does
  // not delay a frame from node 3 to node 2 that is sent later.
  send(0, 1, 0, 100 * 1250);
  send(0, 2, 1'000, 1250);
  send(3, 2, 2'000, 1250);
  EXPECT_EQ(arrivals(3, 2), std::vector<std::int64_t>{2'000 + 2 * 15'000});
}

TEST_F(FabricTest, SharesALinkInTheOrderOfArrival) {
  send(0, 1, 0, 1250);
  send(0, 1, 0, 1250);
  EXPECT_EQ(arrivals(0, 1), (std::vector<std::int64_t>{30'000, 40'000}));
}

TEST_F(FabricTest, SharesALinkBetweenFramesFromDifferentSwitches) {
  send(2, 1, 0, 1250);        // from the other switch: reaches node 1's link after 225 us
  send(0, 1, 205'000, 1250);  // reaches it after 220 us, occupies it for 10 us
  EXPECT_EQ(arrivals(2, 1), std::vector<std::int64_t>{230'000 + 15'000});
}

// A frame as the kernel passes it: offload header, then Ethernet from port 1 to the given last byte of the address.
std::vector<unsigned char> frame_bytes(std::size_t length, unsigned char port, OffloadHeader offload = {}) {
  std::vector<unsigned char> bytes(sizeof offload + length);
  std::memcpy(bytes.data(), &offload, sizeof offload);
  const unsigned char address[] = {0x02, 0x77, 0, 0, 0, port};
  std::memcpy(bytes.data() + sizeof offload, address, sizeof address);
  return bytes;
}

TEST(Tap, CountsTheCableOverheadOfAFrame) {
  const auto bytes = frame_bytes(60, 2);
  CableView view;
  ASSERT_TRUE(tap_inspect(bytes.data(), bytes.size(), 4, &view));
  EXPECT_EQ(view.destination, 2);
  EXPECT_EQ(view.frames, 1U);
  EXPECT_EQ(view.bytes, 84U);
  EXPECT_EQ(view.segment, 84U);
}

TEST(Tap, CountsEverySegmentOfABurstWithItsHeaders) {
  OffloadHeader offload = {};
  offload.gso_type = 1;
  offload.gso_size = 1448;
  offload.hdr_len = 66;
  const auto bytes = frame_bytes(66 + 3 * 1448 + 100, 0, offload);  // three full segments and one of 100 bytes
  CableView view;
  ASSERT_TRUE(tap_inspect(bytes.data(), bytes.size(), 4, &view));
  EXPECT_EQ(view.frames, 4U);
  EXPECT_EQ(view.bytes, 3U * 1538 + 66 + 100 + 24);
  EXPECT_EQ(view.segment, 1538U);
}

TEST(Tap, AcceptsOnlyFramesForItsPorts) {
  CableView view;
  const auto beyond = frame_bytes(60, 4);
  EXPECT_FALSE(tap_inspect(beyond.data(), beyond.size(), 4, &view));
  auto broadcast = frame_bytes(60, 1);
  std::fill_n(broadcast.begin() + sizeof(OffloadHeader), 6, static_cast<unsigned char>(0xff));
  EXPECT_FALSE(tap_inspect(broadcast.data(), broadcast.size(), 4, &view));
  const auto whole = frame_bytes(14, 1);
  EXPECT_TRUE(tap_inspect(whole.data(), whole.size(), 4, &view));
  EXPECT_FALSE(tap_inspect(whole.data(), whole.size() - 1, 4, &view));
}

TEST(Counters, AreWrittenToTheFile) {
  const std::string path = testing::TempDir() + "ranktree_counters";
  CounterPair* const pairs = counters_map(path.c_str(), 3);
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(std::filesystem::file_size(path), 3U * 3 * 16);
  pairs[1 * 3 + 2].bytes = 77;
  std::uint64_t found = 0;
  std::ifstream file(path, std::ios::binary);
  file.seekg(16 * (1 * 3 + 2));
  file.read(reinterpret_cast<char*>(&found), sizeof found);
  EXPECT_EQ(found, 77U);
  std::filesystem::remove(path);
}

TEST(Counters, ReportWhyThereIsNoFile) {
  EXPECT_EQ(counters_map("/nonexistent/folder/counters", 3), nullptr);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
