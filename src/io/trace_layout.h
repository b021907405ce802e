// The bytes of a part: what one thread of one rank has recorded so far, in a memory-mapped file that outlives the
// process (docs/reference/formats/trace-parts.md). Written by the preload library, read by io/trace_parts.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/pattern/pattern.h"

namespace ranktree::io::trace_layout {

// All numbers are in the byte order of the machine that wrote them; readers with the other order see a wrong version.
inline constexpr std::array<char, 8> kMagic{'R', 'T', 'P', 'A', 'R', 'T', '\r', '\n'};
// Version 1 has no section of sends, versions 1 and 2 have none of phases and cuts and a pair's cell without counts at
// the last cut.
inline constexpr std::uint32_t kVersion = 3;
inline constexpr std::uint64_t kPageBytes = 4096;  // every section starts at a multiple

// A larger world in a part counts as damage: the memory for it would not be justified by the files' size.
inline constexpr std::int32_t kMaxRanks = 16 * 1024 * 1024;

// The sections of a part; FileHeader::section holds their offsets.
enum SectionKind : std::uint32_t {  // NOLINT(performance-enum-size): its width in the file
  kPairs,
  kCalls,
  kLog,
  kSends,
  kPhases,
  kCuts
};
inline constexpr int kSectionCount = 6;

// Bounds of what a thread keeps of phases: 64 KiB x 2 of cuts, 1.5 MiB of cells in a table that is half full.
inline constexpr std::uint64_t kMostCuts = 65536;
inline constexpr std::uint64_t kMostPhaseCells = 32768;

// The first page. A growing section is first copied to the end of the file and then switched to by one 8-byte store, so
// a reader after a crash always finds a complete section.
struct FileHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::int32_t rank;
  std::int32_t ranks;
  std::int32_t thread;
  std::uint32_t finished;  // 1 once the rank has completed MPI_Finalize, or closed its last session
  std::uint32_t reserved;
  std::array<std::uint64_t, 3> section;  // offsets of pairs, calls and log in the file
  std::array<char, 256> host;            // texts end with a zero byte
  std::array<char, 256> mpi;
  std::array<char, 2048> program;
  std::array<std::uint64_t, 3> further;  // offsets of sends, phases and cuts
};
static_assert(sizeof(FileHeader) <= kPageBytes);

inline std::uint64_t& section_offset(FileHeader& header, int kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < header.section.size() ? header.section.at(at) : header.further.at(at - header.section.size());
}

// In front of each section's cells, or bytes (kLog).
struct SectionHeader {
  std::uint32_t kind;
  std::uint32_t cell_bytes;
  std::uint64_t capacity;  // cells, or bytes of the log
  std::uint64_t used;      // occupied cells, or bytes of whole records in the log
  std::uint64_t reserved;
};

// Traffic with one peer. An empty cell has key 0.
struct PairCell {
  std::uint64_t key;
  std::uint64_t messages;
  std::uint64_t bytes;
  std::uint64_t cut_messages;  // messages and bytes at the last cut
  std::uint64_t cut_bytes;
};

// Traffic with one peer in one phase, summed over its occurrences; also how a pair's cell begins.
struct PhaseCell {
  std::uint64_t key;  // phase_key; 0 when empty
  std::uint64_t messages;
  std::uint64_t bytes;
};

// The program's ranks synchronised: what was counted since the cut before belongs to this phase.
struct Cut {
  std::uint8_t phase;      // from 1; 0: not separated, its traffic is in no cell
  std::uint8_t operation;  // core::pattern::Operation
};

// Calls of one collective operation on one communicator.
struct CallCell {
  std::uint64_t key;           // 0 when empty
  std::uint64_t communicator;  // identity: hash of the ordered world ranks
  std::uint64_t calls;
  std::uint64_t bytes;
};

// Messages of one size bucket.
struct SizeCount {
  std::uint64_t messages;
  std::uint64_t bytes;
};

// Point-to-point messages of one call on one communicator, by bucket.
struct SendCell {
  std::uint64_t key;  // send_key; 0 when empty
  std::uint64_t communicator;
  std::array<SizeCount, core::pattern::kBucketCount> sizes;
};

// A record of the log: this header, a body, zero bytes up to a multiple of 8.
enum RecordKind : std::uint32_t {  // NOLINT(performance-enum-size): its width in the file
  kCommunicatorRecord = 1,
  kUnattributedRecord = 2
};
struct RecordHeader {
  std::uint32_t kind;
  std::uint32_t bytes;  // of the whole record, a multiple of 8
};
// Body of kCommunicatorRecord: this, then members and remote as int32 world ranks.
struct CommunicatorBody {
  std::uint64_t identity;
  std::uint32_t members;
  std::uint32_t remote;
};
// Body of kUnattributedRecord: this, then the name.
struct UnattributedBody {
  std::uint64_t count;
  std::uint64_t name_bytes;
};

// A pair's key: peer, class, and whether the data came from the peer (a Get) or went to it.
constexpr std::uint64_t pair_key(std::int32_t peer, core::pattern::Class kind, bool pulled) {
  const auto from_peer = static_cast<std::uint64_t>(pulled ? 1U : 0U);
  return (static_cast<std::uint64_t>(peer) << 3U | static_cast<std::uint64_t>(kind) << 1U | from_peer) + 1;
}
constexpr std::uint64_t key_peer(std::uint64_t key) { return (key - 1) >> 3U; }
constexpr core::pattern::Class key_class(std::uint64_t key) {
  return static_cast<core::pattern::Class>((key - 1) >> 1U & 3U);
}
constexpr std::uint64_t phase_key(std::uint64_t phase, std::uint64_t pair) { return phase << 56U | pair; }
constexpr std::uint64_t key_phase(std::uint64_t key) { return key >> 56U; }
constexpr std::uint64_t key_pair(std::uint64_t key) { return key & ((std::uint64_t{1} << 56U) - 1); }
constexpr bool key_pulled(std::uint64_t key) { return ((key - 1) & 1U) != 0; }

// A call's key: operation, size bucket and root (-1: none), never 0.
constexpr std::uint64_t call_key(core::pattern::Operation operation, int bucket, std::int32_t root) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(root + 1)) << 32U |
         static_cast<std::uint64_t>(bucket) << 8U | (static_cast<std::uint64_t>(operation) + 1);
}
constexpr std::uint64_t send_key(core::pattern::SendCall call) { return static_cast<std::uint64_t>(call) + 1; }

constexpr std::uint64_t key_operation(std::uint64_t key) { return (key & 0xffU) - 1; }
constexpr std::uint64_t key_bucket(std::uint64_t key) { return key >> 8U & 0xffffffU; }
constexpr std::int64_t key_root(std::uint64_t key) { return static_cast<std::int64_t>(key >> 32U) - 1; }

}  // namespace ranktree::io::trace_layout
