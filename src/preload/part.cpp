#include "preload/part.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/pattern/pattern.h"
#include "io/trace_layout.h"
#include "io/trace_parts.h"
#include "io/trace_records.h"

namespace ranktree::preload {
namespace {

constexpr std::uint64_t kFirstPairs = 64;  // with its header just under a page
constexpr std::uint64_t kFirstCalls = 64;
constexpr std::uint64_t kFirstSends = 8;
constexpr std::uint64_t kMostSends = 1000;  // each takes 1 KiB, and no communicator gives it back; then
constexpr std::uint64_t kOthers = 0;        // is the communicator of all others
constexpr std::uint64_t kFirstLog = layout::kPageBytes - sizeof(layout::SectionHeader);
constexpr std::uint64_t kFirstPhases = 128;
constexpr std::uint64_t kFirstCuts = kFirstLog / sizeof(layout::Cut);

// Spreads keys over a table of 2^k cells; the multiplier is 2^64 / golden ratio.
std::uint64_t spread(std::uint64_t key) noexcept {
  const std::uint64_t mixed = key * 0x9E3779B97F4A7C15U;
  return mixed ^ mixed >> 32U;
}

// The phase is in the highest bits. A multiplication carries upwards only, so that after one spread() all phases of a
// pair would have the same low bits, by which cells are found.
std::uint64_t phase_hash(std::uint64_t key) noexcept { return spread(spread(key)); }

std::uint64_t whole_pages(std::uint64_t bytes, std::uint64_t page = layout::kPageBytes) noexcept {
  return (bytes + page - 1) / page * page;
}

template <std::size_t n>
void set_text(std::array<char, n>& field, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), n - 1);
  std::copy_n(text.begin(), length, field.begin());
  field[length] = '\0';
}

// Blocks are reserved before they are mapped: writing to a mapped hole of a full disk would kill the program.
bool reserve_blocks(int file, std::uint64_t offset, std::size_t bytes) noexcept {
  int failure = EINTR;
  for (int attempt = 0; failure == EINTR && attempt < 16; ++attempt) {
    failure = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  }
  return failure == 0;
}

// Bytes come with messages only.
bool counted_since_cut(const layout::PairCell& cell) noexcept { return cell.messages != cell.cut_messages; }

}  // namespace

Part::Part(std::string path) : path_(std::move(path)) {}

Part::Part(std::string path, const PartOwner& owner) : Part(std::move(path)) {  // from here on ~Part() runs
  open_file();
  std::uint64_t offset = 0;
  header_ = static_cast<layout::FileHeader*>(map(layout::kPageBytes, offset));
  if (header_ == nullptr) throw std::bad_alloc();
  Section section;
  const bool opened =
      open_section(layout::kPairs, sizeof(layout::PairCell), kFirstPairs, sections_[layout::kPairs]) &&
      open_section(layout::kCalls, sizeof(layout::CallCell), kFirstCalls, sections_[layout::kCalls]) &&
      open_section(layout::kLog, 1, kFirstLog, sections_[layout::kLog]) &&
      open_section(layout::kSends, sizeof(layout::SendCell), kFirstSends, sections_[layout::kSends]) &&
      open_section(layout::kPhases, sizeof(layout::PhaseCell), kFirstPhases, sections_[layout::kPhases]) &&
      open_section(layout::kCuts, sizeof(layout::Cut), kFirstCuts, sections_[layout::kCuts]);
  if (!opened) throw std::bad_alloc();
  header_->version = layout::kVersion;
  header_->rank = owner.rank;
  header_->ranks = owner.ranks;
  header_->thread = owner.thread;
  set_text(header_->host, owner.host);
  set_text(header_->mpi, owner.mpi);
  set_text(header_->program, owner.program);
  for (int kind = 0; kind < layout::kSectionCount; ++kind) {
    layout::section_offset(*header_, kind) = sections_[kind].offset;
  }
  header_->magic = layout::kMagic;  // last: a part without it is not read
}

Part::~Part() {
  for (const Section& section : sections_) {
    if (section.header != nullptr) munmap(section.header, section.bytes);
  }
  if (header_ != nullptr) munmap(header_, layout::kPageBytes);
  if (file_ >= 0) close(file_);
}

bool Part::on_disk() const noexcept {
  return file_ >= 0 && std::ranges::all_of(sections_, [](const Section& section) {
           return section.header == nullptr || section.offset != 0;
         });
}

// In a folder that others may write to, a link could lead to any file of the user, and a file could belong to another
// user: the part is always a new file.
void Part::open_file() noexcept {
  if (path_.empty()) return;
  unlink(path_.c_str());
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
}

// `bytes` of zeros, at the end of the file as long as it can grow, at a multiple of the system's pages, which may be
// longer than kPageBytes. `offset` is where, 0 in plain memory (and for the file's first page).
void* Part::map(std::size_t bytes, std::uint64_t& offset) noexcept {
  static const auto system_page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  file_end_ = whole_pages(file_end_, system_page);
  offset = 0;
  if (file_ >= 0 && reserve_blocks(file_, file_end_, bytes)) {
    void* here = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(file_end_));
    if (here != MAP_FAILED) {
      offset = file_end_;
      file_end_ += bytes;
      return here;
    }
  }
  void* here = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return here == MAP_FAILED ? nullptr : here;
}

bool Part::open_section(layout::SectionKind kind, std::uint32_t cell_bytes, std::uint64_t capacity,
                        Section& section) noexcept {
  section.bytes = whole_pages(sizeof(layout::SectionHeader) + cell_bytes * capacity);
  section.header = static_cast<layout::SectionHeader*>(map(section.bytes, section.offset));
  if (section.header == nullptr) return false;
  *section.header = {kind, cell_bytes, capacity, 0, 0};
  return true;
}

// Switches to a filled copy of a section and gives the old one back. An old section that the file's header still needs,
// because the copy is in plain memory only, stays in the file.
void Part::adopt(layout::SectionKind kind, const Section& section) noexcept {
  const std::scoped_lock lock(moving_);
  Section& old = sections_[kind];
  if (section.offset != 0) {
    std::atomic_ref<std::uint64_t>(layout::section_offset(*header_, kind))
        .store(section.offset, std::memory_order_release);
    if (old.offset != 0) {
      fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(old.offset),
                static_cast<off_t>(old.bytes));
    }
  }
  munmap(old.header, old.bytes);
  old = section;
  ++moves_;
}

template <typename Cell>
std::uint64_t cell_hash(const Cell& cell) noexcept;
template <>
std::uint64_t cell_hash(const layout::PairCell& cell) noexcept {
  return spread(cell.key);
}
template <>
std::uint64_t cell_hash(const layout::PhaseCell& cell) noexcept {
  return phase_hash(cell.key);
}
template <>
std::uint64_t cell_hash(const layout::CallCell& cell) noexcept {
  return spread(cell.key ^ cell.communicator);
}
template <>
std::uint64_t cell_hash(const layout::SendCell& cell) noexcept {
  return spread(cell.key ^ cell.communicator);
}

template <typename Cell>
bool Part::grow_table(layout::SectionKind kind) noexcept {
  const Section& old = sections_[kind];
  Section wider;
  if (!open_section(kind, sizeof(Cell), old.header->capacity * 2, wider)) return false;
  const auto* from = reinterpret_cast<const Cell*>(old.body());
  auto* to = reinterpret_cast<Cell*>(wider.body());
  const std::uint64_t mask = wider.header->capacity - 1;
  for (std::uint64_t i = 0; i < old.header->capacity; ++i) {
    if (from[i].key == 0) continue;
    std::uint64_t at = cell_hash(from[i]) & mask;
    while (to[at].key != 0) at = (at + 1) & mask;
    to[at] = from[i];
  }
  wider.header->used = old.header->used;
  adopt(kind, wider);
  return true;
}

// Open addressing, linear probing, at most half full. `adds`: a cell that is not there is made.
template <typename Cell, typename Same>
Cell* Part::find(layout::SectionKind kind, std::uint64_t hash, const Same& same, const Cell& fresh,
                 bool adds) noexcept {
  while (true) {
    layout::SectionHeader* header = sections_[kind].header;
    auto* cells = reinterpret_cast<Cell*>(sections_[kind].body());
    const std::uint64_t mask = header->capacity - 1;
    std::uint64_t at = hash & mask;
    for (; cells[at].key != 0; at = (at + 1) & mask) {
      if (same(cells[at])) return &cells[at];
    }
    if (!adds) return nullptr;
    if (2 * header->used < header->capacity) {
      cells[at] = fresh;
      ++header->used;
      return &cells[at];
    }
    if (!grow_table<Cell>(kind)) return nullptr;
  }
}

layout::PairCell* Part::pair(std::uint64_t key) noexcept {
  return find<layout::PairCell>(layout::kPairs, spread(key),
                                [key](const layout::PairCell& cell) { return cell.key == key; }, {key, 0, 0, 0, 0});
}

layout::CallCell* Part::call(std::uint64_t key, std::uint64_t communicator) noexcept {
  const auto same = [key, communicator](const layout::CallCell& cell) {
    return cell.key == key && cell.communicator == communicator;
  };
  return find<layout::CallCell>(layout::kCalls, spread(key ^ communicator), same, {key, communicator, 0, 0});
}

layout::SendCell* Part::sends(std::uint64_t key, std::uint64_t communicator) noexcept {
  const auto same = [key, communicator](const layout::SendCell& cell) {
    return cell.key == key && cell.communicator == communicator;
  };
  const bool adds = communicator == kOthers || sections_[layout::kSends].header->used < kMostSends;
  const layout::SendCell fresh{key, communicator, {}};
  layout::SendCell* found = find<layout::SendCell>(layout::kSends, spread(key ^ communicator), same, fresh, adds);
  return found != nullptr || adds ? found : sends(key, kOthers);
}

// In a section whose cells follow one another.
bool Part::reserve(layout::SectionKind kind, std::size_t cells) noexcept {
  const layout::SectionHeader& old = *sections_[kind].header;
  if (old.used + cells <= old.capacity) return true;
  Section wider;
  const std::size_t whole = whole_pages(sizeof(layout::SectionHeader) + (2 * old.capacity + cells) * old.cell_bytes);
  if (!open_section(kind, old.cell_bytes, (whole - sizeof(layout::SectionHeader)) / old.cell_bytes, wider)) {
    return false;
  }
  std::memcpy(wider.body(), sections_[kind].body(), old.used * old.cell_bytes);
  wider.header->used = old.used;
  adopt(kind, wider);
  return true;
}

// The body of a new last record; the caller fills it and then commits it by raising `used`.
char* Part::append_record(layout::RecordKind kind, std::size_t body_bytes) noexcept {
  const std::size_t bytes = (sizeof(layout::RecordHeader) + body_bytes + 7) / 8 * 8;
  if (bytes > UINT32_MAX || !reserve(layout::kLog, bytes)) return nullptr;
  const Section& log = sections_[layout::kLog];
  char* record = log.body() + log.header->used;
  const layout::RecordHeader header{kind, static_cast<std::uint32_t>(bytes)};
  std::memcpy(record, &header, sizeof header);
  return record + sizeof header;
}

bool Part::log_communicator(std::uint64_t identity, std::span<const int> members,
                            std::span<const int> remote) noexcept {
  const layout::CommunicatorBody body{identity, static_cast<std::uint32_t>(members.size()),
                                      static_cast<std::uint32_t>(remote.size())};
  char* to = append_record(layout::kCommunicatorRecord, sizeof body + members.size_bytes() + remote.size_bytes());
  if (to == nullptr) return false;
  std::memcpy(to, &body, sizeof body);
  to += sizeof body;
  if (!members.empty()) std::memcpy(to, members.data(), members.size_bytes());
  if (!remote.empty()) std::memcpy(to + members.size_bytes(), remote.data(), remote.size_bytes());
  commit_record();
  return true;
}

void Part::count_unattributed(std::string_view name, std::uint64_t count) {
  const Section& log = sections_[layout::kLog];
  for (const std::uint64_t at : unattributed_) {
    auto* body = reinterpret_cast<layout::UnattributedBody*>(log.body() + at);
    if (name == std::string_view(reinterpret_cast<char*>(body + 1), body->name_bytes)) {
      body->count += count;
      return;
    }
  }
  const layout::UnattributedBody body{count, name.size()};
  char* to = append_record(layout::kUnattributedRecord, sizeof body + name.size());
  if (to == nullptr) return;
  std::memcpy(to, &body, sizeof body);
  std::memcpy(to + sizeof body, name.data(), name.size());
  unattributed_.push_back(static_cast<std::uint64_t>(to - sections_[layout::kLog].body()));
  commit_record();
}

// 0 where there are too many.
std::uint64_t Part::phase_of(std::uint64_t shape, std::uint64_t pairs) noexcept {
  const auto end = shapes_.begin() + static_cast<std::ptrdiff_t>(phases_);
  const auto found = std::find(shapes_.begin(), end, shape);
  if (found != end) return static_cast<std::uint64_t>(found - shapes_.begin()) + 1;
  const bool fits = sections_[layout::kPhases].header->used + pairs <= layout::kMostPhaseCells;
  if (!fits || phases_ == shapes_.size()) return 0;
  shapes_[phases_] = shape;
  return ++phases_;
}

void Part::cut(core::pattern::Operation operation) noexcept {
  const std::uint64_t cuts = sections_[layout::kCuts].header->used;
  if (cuts == layout::kMostCuts || !reserve(layout::kCuts, 1)) return;
  const std::span cells(reinterpret_cast<layout::PairCell*>(sections_[layout::kPairs].body()),
                        sections_[layout::kPairs].header->capacity);
  std::uint64_t shape = static_cast<std::uint64_t>(operation) + 1;
  std::uint64_t pairs = 0;
  for (const layout::PairCell& cell : cells) {
    if (!counted_since_cut(cell)) continue;
    const auto magnitudes = static_cast<std::uint64_t>(256 * std::bit_width(cell.messages - cell.cut_messages) +
                                                       std::bit_width(cell.bytes - cell.cut_bytes));
    shape += spread(spread(cell.key) + magnitudes);  // a sum: the order of the cells may change
    ++pairs;
  }
  const std::uint64_t phase = phase_of(shape, pairs);
  for (auto cell = cells.begin(); pairs > 0; ++cell) {
    if (!counted_since_cut(*cell)) continue;
    add_to_phase(phase, *cell);
    --pairs;
  }
  reinterpret_cast<layout::Cut*>(sections_[layout::kCuts].body())[cuts] = {static_cast<std::uint8_t>(phase),
                                                                           static_cast<std::uint8_t>(operation)};
  std::atomic_ref<std::uint64_t>(sections_[layout::kCuts].header->used).store(cuts + 1, std::memory_order_release);
}

// What the pair exchanged since the last cut.
void Part::add_to_phase(std::uint64_t phase, layout::PairCell& pair) noexcept {
  const std::uint64_t messages = pair.messages - std::exchange(pair.cut_messages, pair.messages);
  const std::uint64_t bytes = pair.bytes - std::exchange(pair.cut_bytes, pair.bytes);
  if (phase == 0) return;
  const std::uint64_t key = layout::phase_key(phase, pair.key);
  auto* cell = find<layout::PhaseCell>(layout::kPhases, phase_hash(key),
                                       [key](const layout::PhaseCell& each) { return each.key == key; }, {key, 0, 0});
  if (cell == nullptr) return;
  cell->messages += messages;
  cell->bytes += bytes;
}

void Part::commit_record() noexcept {
  const Section& log = sections_[layout::kLog];
  layout::RecordHeader header;
  std::memcpy(&header, log.body() + log.header->used, sizeof header);
  std::atomic_ref<std::uint64_t>(log.header->used).fetch_add(header.bytes, std::memory_order_release);
}

void Part::remove_file() noexcept {
  if (file_ >= 0) unlink(path_.c_str());
}

void Part::visit_pairs(const std::function<void(const layout::PairCell&)>& visit) const {
  const std::scoped_lock lock(moving_);
  auto* cells = reinterpret_cast<layout::PairCell*>(sections_[layout::kPairs].body());
  const auto now = [](std::uint64_t& number) {
    return std::atomic_ref<std::uint64_t>(number).load(std::memory_order_relaxed);
  };
  for (std::uint64_t i = 0; i < sections_[layout::kPairs].header->capacity; ++i) {
    const layout::PairCell cell{now(cells[i].key), now(cells[i].messages), now(cells[i].bytes), 0, 0};
    if (cell.key != 0) visit(cell);
  }
}

// Read by the reader of files, from a copy in which the sections stand one after another: one truth about the layout.
io::TraceRecords Part::records() const {
  layout::FileHeader header = *header_;
  std::string bytes(layout::kPageBytes, '\0');
  for (int kind = 0; kind < layout::kSectionCount; ++kind) {
    layout::section_offset(header, kind) = bytes.size();
    bytes.append(reinterpret_cast<const char*>(sections_[kind].header), sections_[kind].bytes);
  }
  std::memcpy(bytes.data(), &header, sizeof header);
  return io::read_trace_part(bytes, path_).records;
}

}  // namespace ranktree::preload
