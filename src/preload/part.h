// One thread's records in a memory-mapped file, so that what was counted outlives a crash, SIGKILL or MPI_Abort without
// any handler (layout: io/trace_layout.h). O(partners) bytes. Not thread-safe: each thread has its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/trace_layout.h"
#include "io/trace_records.h"

namespace ranktree::preload {

namespace layout = io::trace_layout;

// The description of a part's rank.
struct PartOwner {
  std::int32_t rank = 0;
  std::int32_t ranks = 1;
  std::int32_t thread = 0;
  std::string host;
  std::string mpi;
  std::string program;
};

class Part {
 public:
  // Records go to `path`; to plain memory when that file cannot be made or grown (full disk): then a crash loses them,
  // a clean end does not. Throws std::bad_alloc when there is no memory either.
  Part(std::string path, const PartOwner& owner);
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part(Part&&) = delete;
  Part& operator=(Part&&) = delete;
  ~Part();

  // The cell of a key, made when new. nullptr when memory has run out. Cells move when the table grows: `moves` counts
  // it.
  layout::PairCell* pair(std::uint64_t key) noexcept;
  layout::CallCell* call(std::uint64_t key, std::uint64_t communicator) noexcept;
  layout::SendCell* sends(std::uint64_t key, std::uint64_t communicator) noexcept;
  [[nodiscard]] int ranks() const noexcept { return header_->ranks; }
  [[nodiscard]] std::uint64_t moves() const noexcept { return moves_; }

  // All ranks synchronise by this operation: what was counted since the last cut is added to its phase. Such a segment
  // is of the phase of an earlier one where the operation, the pairs, and the magnitudes (powers of two) of their
  // messages and bytes are the same. O(pairs).
  void cut(core::pattern::Operation operation) noexcept;

  // False when memory has run out.
  bool log_communicator(std::uint64_t identity, std::span<const int> members, std::span<const int> remote) noexcept;
  void count_unattributed(std::string_view name, std::uint64_t count);

  // Calls `visit` with every pair cell as it is now. Other threads may do so while the owner goes on counting.
  void visit_pairs(const std::function<void(const layout::PairCell&)>& visit) const;

  // Everything in this part, as values.
  [[nodiscard]] io::TraceRecords records() const;

  void mark_finished(bool finished) noexcept { header_->finished = finished ? 1 : 0; }
  void remove_file() noexcept;
  // False where a section is in plain memory.
  [[nodiscard]] bool on_disk() const noexcept;

 private:
  explicit Part(std::string path);

  // A mapped section: its header, then cells or bytes.
  struct Section {
    layout::SectionHeader* header = nullptr;
    std::size_t bytes = 0;
    std::uint64_t offset = 0;  // in the file; 0 when in plain memory
    [[nodiscard]] char* body() const noexcept { return reinterpret_cast<char*>(header + 1); }
  };

  void open_file() noexcept;
  void* map(std::size_t bytes, std::uint64_t& offset) noexcept;
  bool open_section(layout::SectionKind kind, std::uint32_t cell_bytes, std::uint64_t capacity,
                    Section& section) noexcept;
  void adopt(layout::SectionKind kind, const Section& section) noexcept;
  bool reserve(layout::SectionKind kind, std::size_t cells) noexcept;
  char* append_record(layout::RecordKind kind, std::size_t body_bytes) noexcept;
  void commit_record() noexcept;
  std::uint64_t phase_of(std::uint64_t shape, std::uint64_t pairs) noexcept;
  void add_to_phase(std::uint64_t phase, layout::PairCell& pair) noexcept;
  template <typename Cell>
  bool grow_table(layout::SectionKind kind) noexcept;
  template <typename Cell, typename Same>
  Cell* find(layout::SectionKind kind, std::uint64_t hash, const Same& same, const Cell& fresh,
             bool adds = true) noexcept;

  std::string path_;
  int file_ = -1;
  std::uint64_t file_end_ = 0;
  std::uint64_t moves_ = 0;
  layout::FileHeader* header_ = nullptr;
  Section sections_[layout::kSectionCount];
  mutable std::mutex moving_;                                       // held while a section gives way to a wider one
  std::vector<std::uint64_t> unattributed_;                         // where in the log the count of each name is
  std::array<std::uint64_t, core::pattern::kMostPhases> shapes_{};  // of the segments of each phase
  std::uint64_t phases_ = 0;
};

}  // namespace ranktree::preload
