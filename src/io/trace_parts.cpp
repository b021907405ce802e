#include "io/trace_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/file.h"
#include "io/trace_layout.h"
#include "io/trace_phases.h"
#include "io/trace_records.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;
using core::pattern::Communicator;
using core::pattern::Entry;
using core::pattern::Rank;
namespace layout = trace_layout;

class PartReader {
 public:
  PartReader(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  TracePart read() {
    read_header();
    read_pairs();
    read_calls();
    read_log();
    if (header_.version > 1) read_sends();
    if (header_.version > 2) read_phases();
    return std::move(part_);
  }

 private:
  [[noreturn]] void refuse(std::uint64_t at, const std::string& text) const {
    throw Error(Fault::kInput, origin_ + ": byte " + std::to_string(at) + ": " + text);
  }

  template <typename Value>
  [[nodiscard]] Value value_at(std::uint64_t at) const {
    if (at > bytes_.size() || sizeof(Value) > bytes_.size() - at) refuse(at, "the file ends too early");
    Value item;
    std::memcpy(&item, bytes_.data() + at, sizeof item);
    return item;
  }

  template <std::size_t n>
  static std::string text(const std::array<char, n>& words) {
    return {words.begin(), std::find(words.begin(), words.end(), '\0')};
  }

  void read_header() {
    header_ = value_at<layout::FileHeader>(0);
    if (header_.magic != layout::kMagic) refuse(0, "not a part of a trace (wrong magic)");
    if (header_.version < 1 || header_.version > layout::kVersion) {
      refuse(8, "version " + std::to_string(header_.version) + ", expected 1 to " + std::to_string(layout::kVersion));
    }
    if (header_.ranks < 1 || header_.ranks > layout::kMaxRanks || header_.rank < 0 || header_.rank >= header_.ranks) {
      refuse(12, "rank " + std::to_string(header_.rank) + " of " + std::to_string(header_.ranks) + " ranks");
    }
    part_.rank = header_.rank;
    part_.finished = header_.finished == 1;
    part_.records.ranks = header_.ranks;
    part_.records.hosts[header_.rank] = text(header_.host);
    part_.records.mpi = text(header_.mpi);
    part_.records.program = text(header_.program);
  }

  // The section of a kind, which is checked to lie within the file, and where its cells begin.
  [[nodiscard]] std::pair<layout::SectionHeader, std::uint64_t> section(layout::SectionKind kind,
                                                                        std::uint32_t cell_bytes) const {
    layout::FileHeader header = header_;
    const std::uint64_t offset = layout::section_offset(header, kind);
    const auto section = value_at<layout::SectionHeader>(offset);
    if (section.kind != kind || section.cell_bytes != cell_bytes) refuse(offset, "not the section expected here");
    const std::uint64_t begin = offset + sizeof section;
    if (section.capacity > (bytes_.size() - begin) / cell_bytes) refuse(offset, "the section ends after the file");
    return {section, begin};
  }

  // Calls visit(at, cell) for each cell with traffic.
  template <typename Visit>
  void for_each_traffic(layout::SectionKind kind, std::uint32_t cell_bytes, Visit visit) const {
    const auto [section, begin] = this->section(kind, cell_bytes);
    for (std::uint64_t i = 0; i < section.capacity; ++i) {
      const std::uint64_t at = begin + i * cell_bytes;
      const auto cell = value_at<layout::PhaseCell>(at);
      if (cell.key != 0 && (cell.messages != 0 || cell.bytes != 0)) visit(at, cell);
    }
  }

  [[nodiscard]] Entry entry_of(std::uint64_t at, std::uint64_t pair, const layout::PhaseCell& cell) const {
    if (layout::key_peer(pair) >= static_cast<std::uint64_t>(header_.ranks)) {
      refuse(at, "peer " + std::to_string(layout::key_peer(pair)) + " of " + std::to_string(header_.ranks));
    }
    const Rank peer = static_cast<Rank>(layout::key_peer(pair));
    const bool pulled = layout::key_pulled(pair);
    return {pulled ? peer : header_.rank, pulled ? header_.rank : peer, layout::key_class(pair),
            static_cast<double>(cell.messages), static_cast<double>(cell.bytes)};
  }

  void read_pairs() {
    const bool with_cuts = header_.version > 2;
    for_each_traffic(layout::kPairs, with_cuts ? sizeof(layout::PairCell) : sizeof(layout::PhaseCell),
                     [&](std::uint64_t at, const layout::PhaseCell& cell) {
                       part_.records.entries.push_back(entry_of(at, cell.key, cell));
                     });
  }

  void read_phases() {
    TracePhases& phases = part_.records.phases;
    part_.records.phased = true;
    for_each_traffic(layout::kPhases, sizeof(layout::PhaseCell), [&](std::uint64_t at, const layout::PhaseCell& cell) {
      const std::uint64_t phase = layout::key_phase(cell.key);
      if (phase < 1 || phase > phases.entries.size()) refuse(at, "phase " + std::to_string(phase));
      phases.entries.at(phase - 1).push_back(entry_of(at, layout::key_pair(cell.key), cell));
    });
    const auto [section, begin] = this->section(layout::kCuts, sizeof(layout::Cut));
    for (std::uint64_t i = 0; i < std::min(section.used, section.capacity); ++i) {
      const std::uint64_t at = begin + i * sizeof(layout::Cut);
      phases.cuts.push_back(value_at<layout::Cut>(at));
      const auto [phase, operation] = phases.cuts.back();
      if (phase > phases.entries.size()) refuse(at, "phase " + std::to_string(phase));
      if (operation >= core::pattern::kOperationCount) refuse(at, "operation " + std::to_string(operation));
    }
  }

  void read_calls() {
    const auto [section, begin] = this->section(layout::kCalls, sizeof(layout::CallCell));
    for (std::uint64_t i = 0; i < section.capacity; ++i) {
      const std::uint64_t at = begin + i * sizeof(layout::CallCell);
      const auto cell = value_at<layout::CallCell>(at);
      if (cell.key == 0 || cell.calls == 0) continue;
      const std::uint64_t operation = layout::key_operation(cell.key);
      if (operation >= core::pattern::kOperationCount) refuse(at, "operation " + std::to_string(operation));
      if (layout::key_bucket(cell.key) > 64) refuse(at, "bucket " + std::to_string(layout::key_bucket(cell.key)));
      // Communicators with spawned processes may have more ranks than MPI_COMM_WORLD.
      if (layout::key_root(cell.key) >= layout::kMaxRanks) {
        refuse(at, "root " + std::to_string(layout::key_root(cell.key)));
      }
      TraceRecords::CallSum& sum = part_.records.calls[{
          cell.communicator, static_cast<core::pattern::Operation>(operation),
          static_cast<Rank>(layout::key_root(cell.key)), static_cast<std::int32_t>(layout::key_bucket(cell.key))}];
      sum.calls += static_cast<double>(cell.calls);
      sum.bytes += static_cast<double>(cell.bytes);
    }
  }

  void read_sends() {
    const auto [section, begin] = this->section(layout::kSends, sizeof(layout::SendCell));
    for (std::uint64_t i = 0; i < section.capacity; ++i) {
      const std::uint64_t at = begin + i * sizeof(layout::SendCell);
      const auto cell = value_at<layout::SendCell>(at);
      if (cell.key == 0) continue;
      if (cell.key > core::pattern::kSendCallCount) refuse(at, "send call " + std::to_string(cell.key - 1));
      add_sends(cell);
    }
  }

  void add_sends(const layout::SendCell& cell) {
    const auto call = static_cast<core::pattern::SendCall>(cell.key - 1);
    for (std::size_t bucket = 0; bucket < cell.sizes.size(); ++bucket) {
      const layout::SizeCount& count = cell.sizes.at(bucket);
      if (count.messages == 0) continue;
      TraceRecords::SendSum& sum = part_.records.sends[{cell.communicator, call, static_cast<std::int32_t>(bucket)}];
      sum.messages += static_cast<double>(count.messages);
      sum.bytes += static_cast<double>(count.bytes);
    }
  }

  void read_log() {
    const auto [section, begin] = this->section(layout::kLog, 1);
    const std::uint64_t end = begin + std::min(section.used, section.capacity);
    for (std::uint64_t at = begin; end - at >= sizeof(layout::RecordHeader);) {
      const auto record = value_at<layout::RecordHeader>(at);
      if (record.bytes < sizeof record || record.bytes > end - at) return;  // incomplete
      const std::uint64_t body = at + sizeof record;
      const std::uint64_t body_bytes = record.bytes - sizeof record;
      if (record.kind == layout::kCommunicatorRecord) read_communicator(body, body_bytes);
      if (record.kind == layout::kUnattributedRecord) read_unattributed(body, body_bytes);
      at += record.bytes;
    }
  }

  void read_communicator(std::uint64_t at, std::uint64_t body_bytes) {
    const auto body = value_at<layout::CommunicatorBody>(at);
    if (body_bytes < sizeof body || std::uint64_t{body.members} + body.remote > (body_bytes - sizeof body) / 4) {
      refuse(at, "a communicator of " + std::to_string(body.members) + " members in too short a record");
    }
    Communicator communicator;
    communicator.members = read_ranks(at + sizeof body, body.members);
    communicator.remote = read_ranks(at + sizeof body + std::uint64_t{4} * body.members, body.remote);
    part_.records.communicators.emplace(body.identity, std::move(communicator));
  }

  [[nodiscard]] std::vector<Rank> read_ranks(std::uint64_t at, std::uint32_t count) const {
    std::vector<Rank> ranks(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      ranks[i] = value_at<Rank>(at + std::uint64_t{4} * i);
      if (ranks[i] < 0 || ranks[i] >= header_.ranks) {
        refuse(at + std::uint64_t{4} * i,
               "member " + std::to_string(ranks[i]) + " of " + std::to_string(header_.ranks));
      }
    }
    return ranks;
  }

  void read_unattributed(std::uint64_t at, std::uint64_t body_bytes) {
    const auto body = value_at<layout::UnattributedBody>(at);
    if (body_bytes < sizeof body || body.name_bytes > body_bytes - sizeof body)
      refuse(at, "a name longer than its record");
    const std::string name(bytes_.substr(at + sizeof body, body.name_bytes));
    part_.records.unattributed[name] += static_cast<double>(body.count);
  }

  std::string_view bytes_;
  const std::string& origin_;
  layout::FileHeader header_{};
  TracePart part_;
};

std::vector<std::filesystem::path> part_files(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    if (at->path().extension() == ".part") files.push_back(at->path());
  }
  if (failure) throw Error(Fault::kSystem, folder.string() + ": " + failure.message());
  std::sort(files.begin(), files.end());
  return files;
}

// Whether the process came to write its header.
bool is_begun(std::string_view bytes) {
  return bytes.starts_with(std::string_view(layout::kMagic.data(), layout::kMagic.size()));
}

}  // namespace

TracePart read_trace_part(std::string_view bytes, const std::string& origin) {
  return PartReader(bytes, origin).read();
}

RecoveredTrace recover_trace(const std::filesystem::path& folder) {
  TraceRecords all;
  std::map<Rank, TraceRecords> by_rank;
  std::set<Rank> readable;
  bool finished = true;
  std::string reason = "no *.part file in it";
  RecoveredTrace found;
  for (const auto& path : part_files(folder)) {
    TracePart part;
    std::string bytes;
    try {
      bytes = read_file(path.string());
      part = read_trace_part(bytes, path.string());
    } catch (const Error& error) {
      reason = error.what();
      // What is a part, of a later version or damaged, another program may read.
      if (error.fault() == Fault::kSystem || is_begun(bytes)) found.unread.push_back(reason);
      finished = false;
      continue;
    }
    if (all.ranks != 0 && part.records.ranks != all.ranks) {
      throw Error(Fault::kInput, path.string() + ": belongs to a run of " + std::to_string(part.records.ranks) +
                                     " ranks, the parts before it to one of " + std::to_string(all.ranks));
    }
    finished = finished && part.finished;
    readable.insert(part.rank);
    all.ranks = part.records.ranks;
    merge_thread(by_rank[part.rank], std::move(part.records));
  }
  for (auto& [rank, records] : by_rank) merge(all, std::move(records));
  if (readable.empty()) throw Error(Fault::kInput, folder.string() + ": nothing to recover: " + reason);
  core::pattern::Pattern& pattern = found.pattern;
  pattern = to_pattern(std::move(all));
  for (Rank rank = 0; rank < pattern.ranks; ++rank) {
    if (!readable.contains(rank)) pattern.metadata.missing.push_back(rank);
  }
  pattern.metadata.complete = finished && pattern.metadata.missing.empty();
  return found;
}

}  // namespace ranktree::io
