// The records of a set of ranks: parts are read into it, ranks send it up the tree at the end of a run, and rank 0
// turns it into a pattern.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/trace_phases.h"

namespace ranktree::io {

struct TraceRecords {
  // One kind of collective call on one communicator.
  struct CallKind {
    std::uint64_t communicator = 0;  // identity, see communicators
    core::pattern::Operation operation = core::pattern::Operation::kBarrier;
    core::pattern::Rank root = -1;
    std::int32_t bucket = 0;
    auto operator<=>(const CallKind&) const = default;
  };
  struct CallSum {
    double calls = 0;
    double bytes = 0;
  };

  // Messages of one call and size bucket on one communicator.
  struct SendKind {
    std::uint64_t communicator = 0;  // identity
    core::pattern::SendCall call = core::pattern::SendCall::kSend;
    std::int32_t bucket = 0;
    auto operator<=>(const SendKind&) const = default;
  };
  struct SendSum {
    double messages = 0;
    double bytes = 0;
  };

  core::pattern::Rank ranks = 0;
  std::vector<core::pattern::Entry> entries;  // any order, duplicates allowed
  std::map<CallKind, CallSum> calls;
  std::map<SendKind, SendSum> sends;
  std::map<std::uint64_t, core::pattern::Communicator> communicators;  // by identity
  core::pattern::Unattributed unattributed;
  bool phased = false;  // phases were recorded
  TracePhases phases;
  std::map<core::pattern::Rank, std::string> hosts;
  std::string program;
  std::string mpi;
};

// Adds the records of `from` to `into`; texts of `into` are kept where both have one.
void merge(TraceRecords& into, TraceRecords&& from);

// The same for another thread of one rank. Of the phases those of the thread with the most cuts are kept: what the
// others exchange is other traffic.
void merge_thread(TraceRecords& into, TraceRecords&& from);

// Converts to bytes for another rank of the same run, and back. The reader throws Error(kInput) for truncated bytes.
std::string pack(const TraceRecords& records);
TraceRecords unpack(std::string_view bytes, const std::string& origin);

// The pattern of the run. Calls on a communicator whose members are not recorded (its rank 0 died before it could) move
// to `unattributed`, messages on one get communicator -1. Communicators are ordered by size, largest first, then by
// members. O(records log records).
core::pattern::Pattern to_pattern(TraceRecords&& records);

}  // namespace ranktree::io
