// What the preload library counts, as any program may make it: the part that it leaves after a crash is read as the
// same records as those that it would send at a clean end.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bytes.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "io/trace_layout.h"
#include "io/trace_parts.h"
#include "io/trace_records.h"
#include "preload/part.h"

namespace {

namespace io = ranktree::io;
namespace layout = ranktree::io::trace_layout;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::kBucketCount;
using ranktree::core::pattern::kOperationCount;
using ranktree::core::pattern::Operation;
using ranktree::core::pattern::SendCall;
using ranktree::preload::Part;

constexpr int kRanks = 255;

std::uint64_t some_byte(Bytes& bytes) { return static_cast<std::uint64_t>(bytes.next(256)); }

std::vector<int> some_members(Bytes& bytes) {
  std::vector<int> members(some_byte(bytes) % 8);
  for (int& each : members) each = bytes.next(kRanks);
  return members;
}

void some_step(Part& part, Bytes& bytes) {
  const std::uint64_t communicator = some_byte(bytes) % 4;
  const int rank = bytes.next(kRanks + 1) - 1;  // of a call: -1 is no root
  const int bucket = bytes.next(kBucketCount);
  switch (bytes.next(6)) {
    case 0: {
      const auto kind = static_cast<Class>(bytes.next(4));
      layout::PairCell* cell = part.pair(layout::pair_key(std::max(rank, 0), kind, false));
      cell->messages += 1;
      cell->bytes += some_byte(bytes) << static_cast<unsigned>(bucket % 32);
      break;
    }
    case 1: {
      const auto operation = static_cast<Operation>(bytes.next(kOperationCount));
      part.call(layout::call_key(operation, bucket, rank), communicator)->calls += 1;
      break;
    }
    case 2:
      part.sends(layout::send_key(SendCall::kSend), communicator)
          ->sizes.at(static_cast<std::size_t>(bucket))
          .messages += 1;
      break;
    case 3: {
      const std::vector<int> members = some_members(bytes);
      part.log_communicator(some_byte(bytes), members, some_members(bytes));
      break;
    }
    case 4:
      part.count_unattributed(std::string(some_byte(bytes) % 16, 'c'), static_cast<std::uint64_t>(bucket) + 1);
      break;
    default:
      part.cut(Operation::kBarrier);
  }
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string pattern_of(io::TraceRecords&& records) { return io::write_pattern_npz(io::to_pattern(std::move(records))); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = "/dev/shm/ranktree-fuzz-" + std::to_string(getpid()) + ".part";
  Bytes bytes(data, size);
  Part part(path, {.rank = bytes.next(kRanks), .ranks = kRanks, .thread = 0, .host = "n0", .mpi = "", .program = "p"});
  if (!part.on_disk()) return 0;
  while (bytes.any()) some_step(part, bytes);
  const std::string left = pattern_of(io::read_trace_part(text_of(path), "part").records);
  if (left != pattern_of(part.records())) std::abort();
  part.remove_file();
  return 0;
}
