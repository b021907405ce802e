// Ranks that share memory, as a collective operation among them sees it: cells to pass data in, and each rank's
// counters of its progress.
//
// Operations (moving.h, combining.h) are divided into rounds, counted over all operations of a team. In each round a
// rank puts its data into cells, then may merge its share of what all have put, then takes what it needs; it counts
// each of these steps in its own line of counters, which it alone writes. A round uses the cells of the round `depth`
// before it, so a rank puts only when all ranks have finished that one: cells are used in turn from call to call, and a
// rank that has left a call early cannot be overtaken. The end of a small operation is published with the first step of
// the next one: others read the same line by then, and each change makes them fetch it again.
//
// There are two sets of cells: small ones, deep, so that a root can be several small calls ahead of the others; and
// large ones, double-buffered, for all other data.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ranktree::core::shared {

// The size of the small cells: what fits into one is moved in one round, and combined without a merge.
constexpr std::size_t kSmallCell = 4096;
// Rounds until a cell is used again, of small and of large ones.
constexpr std::uint64_t kSmallDepth = 8;
constexpr std::uint64_t kLargeDepth = 2;
// The low bits of a counter, which count parts of the current round.
constexpr unsigned kPartBits = 16;
// Bytes of a rank's counters, on a pair of cache lines of their own: processors fetch pairs.
constexpr std::size_t kLine = 128;

// How one rank's progress is counted.
enum class Counter : std::uint8_t { kPut, kMerged, kEnded };

// A counter as it was when it was not yet far enough.
struct Awaited {
  int rank = 0;
  Counter counter = Counter::kPut;
  std::uint64_t value = 0;
};

class Team {
 public:
  // Nothing here waits: a caller that must wait tries again. `memory` is the same for all ranks, was zero in the
  // beginning, has bytes_for(ranks, cell) bytes and begins at a multiple of kAlignment. `cell` is one that
  // cell_within() gives.
  Team(std::span<std::byte> memory, int rank, int ranks, std::size_t cell);

  static constexpr std::size_t kAlignment = 128;

  // The largest cell, 128 KiB at most, that lets a team's memory stay within `budget` bytes; at least kSmallCell. A
  // multiple of the latter.
  static std::size_t cell_within(std::size_t budget, int ranks);
  // About 2 (ranks + 1) cells: two for each rank and two for what has been merged, and the small ones.
  static std::size_t bytes_for(int ranks, std::size_t cell);

  // A root publishes a large vector in parts of so many bytes, the same on all ranks. Small ones overlap better, where
  // ranks run at the same time; where they take turns on a processor each part is another turn.
  void set_part(std::size_t bytes) { part_ = bytes; }
  [[nodiscard]] std::size_t part() const { return part_; }

  // Ranks may sleep: a rank that counts calls `wake` of the word that others sleep on until then. To be called before
  // the first operation, on all ranks; without it counting needs no check for sleepers.
  void let_sleep(void (*wake)(const std::uint32_t* word)) { wake_ = wake; }
  [[nodiscard]] bool may_sleep() const { return wake_ != nullptr; }
  // The counter that an operation waits for when it could not go on. Empty where it waits for its caller.
  [[nodiscard]] const std::optional<Awaited>& awaited() const { return awaited_; }
  // Announces that this rank is going to sleep for as long as a word has a value: the rank that changes it then calls
  // `wake` of it. To be called again before each sleep.
  struct Word {
    const std::uint32_t* word = nullptr;
    std::uint32_t value = 0;
  };
  Word announce_sleep(const Awaited& awaited);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] std::size_t cell() const { return cell_; }

 private:
  friend class Call;

  static std::size_t stride(std::size_t cell) { return cell + kAlignment; }
  [[nodiscard]] std::uint64_t read(int rank, Counter counter);
  void count(Counter counter, std::uint64_t value);
  void count_and_wake(Counter counter, std::uint64_t value);
  void read_finished_rounds();
  void publish_finished();
  [[nodiscard]] std::uint64_t* line_of(int rank) const;
  [[nodiscard]] std::uint32_t* sleepers_of(int rank, Counter counter) const;
  [[nodiscard]] std::uint16_t* small_size(int rank) const;
  [[nodiscard]] std::uint64_t* large_size(int rank) const;

  std::byte* lines_;
  std::byte* small_;
  std::byte* large_;
  int rank_;
  int ranks_;
  std::size_t cell_;
  std::size_t part_ = std::size_t{64} << 10U;
  void (*wake_)(const std::uint32_t* word) = nullptr;
  std::optional<Awaited> awaited_;
  std::uint64_t round_ = 0;             // the next one
  std::uint64_t published_rounds_ = 0;  // rounds that others can see this rank to have finished
  std::uint64_t ended_ = 0;             // rounds that all others are known to have finished
};

// One operation as one rank does it. All ranks of a team make the same operations in the same order; a rank makes one
// only when the one before is done. Memory passed to an operation must stay until then.
class Call {
 public:
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  Call(Call&&) = delete;
  Call& operator=(Call&&) = delete;

  // Does what can be done without waiting; true once all is done on this rank, and from then on.
  virtual bool progress() = 0;
  // Once it is done: ranks have called with different sizes, so that something was lost on this one.
  [[nodiscard]] bool truncated() const { return truncated_; }

 protected:
  // `bytes` is what a rank has at most to put into a cell of its own, the same on all ranks of a correct program.
  Call(Team& team, std::size_t bytes);

  // progress() of an operation that has the steps of a round, each of its own or the one here. False when others must
  // do something first: the step is tried again, and goes on where it was. A small operation takes so few instructions
  // that calls of functions unknown before would be many of them.
  template <class Operation>
  bool go_on(Operation& operation);
  // put(): of each's own.
  static bool merge() { return true; }
  // take(): of each's own.
  // False for ranks that put nothing and merge nothing in this operation.
  static bool writes() { return true; }
  // last(), of each's own, after each round; true after the last one: of the same round on all ranks, whatever sizes
  // they have.

  // More data came than this rank has space for.
  void truncate() { truncated_ = true; }

  [[nodiscard]] int rank() const { return team_.rank(); }
  [[nodiscard]] int ranks() const { return team_.ranks(); }
  // All fits into small cells.
  [[nodiscard]] bool small() const { return small_; }
  // Of this operation's cells. Those of one round are kAlignment apart from each other.
  [[nodiscard]] std::size_t cell_bytes() const { return cell_bytes(small_); }
  [[nodiscard]] std::size_t cell_bytes(bool small) const { return small ? kSmallCell : team_.cell(); }
  // All large cells of one round, when they are used as one.
  [[nodiscard]] std::size_t round_bytes() const;
  // Of the current round. Large ones have one more, number ranks(), for what is merged.
  [[nodiscard]] std::byte* cell(int index) const { return cell(index, small_); }
  [[nodiscard]] std::byte* cell(int index, bool small) const;

  // This rank has done so much of a step, in parts of the caller's, fewer than 65,536; all of it.
  void did_part(Counter counter, std::uint64_t parts) { team_.count(counter, (team_.round_ << kPartBits) + parts); }
  void did_all(Counter counter) { team_.count(counter, (team_.round_ + 1) << kPartBits); }
  // Parts of the step that a rank has done in the current round; kAll when it is all done.
  static constexpr std::uint64_t kAll = std::uint64_t{1} << 16U;
  [[nodiscard]] std::uint64_t parts_done(int rank, Counter counter) const;
  // True once all ranks have done the step. Ranks that have done it are not checked again in the same step.
  bool all_did(Counter counter) { return all_reached(counter, team_.round_ + 1); }
  // The same of single ranks, in their order: the lowest not known to have done it.
  [[nodiscard]] int& seen() { return seen_; }
  [[nodiscard]] bool did(int rank, Counter counter) const { return parts_done(rank, counter) == kAll; }

  // Publishes how many bytes this rank puts in all, in the same line as its counters, before the first of them is
  // counted in a round. Ranks that take the data read it once they have seen a counter change, and so find ranks that
  // have called with other sizes than theirs. At most kMaxPublished where all fits into small cells.
  void publish_bytes(std::size_t bytes);
  static constexpr std::size_t kMaxPublished = UINT16_MAX - 1;
  struct Published {
    std::size_t bytes = 0;
    bool small = false;  // the cells it is in
  };
  [[nodiscard]] Published published(int rank) const;
  [[nodiscard]] bool all_published_the_same() const;
  // Sets which cells the operation uses, for a rank that learns it from other ranks.
  void use_cells_for(std::size_t bytes) { small_ = bytes <= kSmallCell; }
  [[nodiscard]] std::size_t part() const { return team_.part(); }

 private:
  enum class Step : std::uint8_t { kFree, kPut, kMerge, kTake, kDone };

  bool all_reached(Counter counter, std::uint64_t rounds);
  bool may_begin(bool writes);
  bool cells_are_free();
  void begin(Step step);
  void end_round(bool last);

  Team& team_;
  bool small_;
  bool truncated_ = false;
  Step step_ = Step::kFree;
  int seen_ = 0;
};

inline std::uint64_t* Team::line_of(int rank) const {
  return reinterpret_cast<std::uint64_t*>(lines_ + static_cast<std::size_t>(rank) * kLine);
}

inline std::uint64_t Team::read(int rank, Counter counter) {
  const std::uint64_t value =
      std::atomic_ref(line_of(rank)[static_cast<std::size_t>(counter)]).load(std::memory_order_acquire);
  awaited_ = {rank, counter, value};
  return value;
}

inline void Team::count(Counter counter, std::uint64_t value) {
  static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
  if (may_sleep()) return count_and_wake(counter, value);
  std::atomic_ref(line_of(rank_)[static_cast<std::size_t>(counter)]).store(value, std::memory_order_release);
}

inline void Team::publish_finished() {
  count(Counter::kEnded, round_ << kPartBits);
  published_rounds_ = round_;
}

inline bool Call::all_reached(Counter counter, std::uint64_t rounds) {
  while (seen_ < ranks() && (seen_ == rank() || team_.read(seen_, counter) >> kPartBits >= rounds)) ++seen_;
  return seen_ == ranks();
}

inline bool Call::may_begin(bool writes) {
  if (team_.published_rounds_ < team_.round_) team_.publish_finished();
  return !writes || cells_are_free();
}

// Others' lines are read only where the last read does not suffice: they have mostly finished more rounds than were
// needed.
inline bool Call::cells_are_free() {
  const std::uint64_t depth = small_ ? kSmallDepth : kLargeDepth;
  if (team_.round_ < depth || team_.ended_ > team_.round_ - depth) return true;
  if (!all_reached(Counter::kEnded, team_.round_ + 1 - depth)) return false;
  team_.read_finished_rounds();
  return true;
}

inline void Call::begin(Step step) {
  step_ = step;
  seen_ = 0;
  team_.awaited_.reset();
}

inline void Call::end_round(bool last) {
  begin(last ? Step::kDone : Step::kFree);
  ++team_.round_;
  if (!last || !small_) team_.publish_finished();
}

template <class Operation>
bool Call::go_on(Operation& operation) {
  while (step_ != Step::kDone) {
    team_.awaited_.reset();
    switch (step_) {
      case Step::kFree:
        if (!may_begin(operation.writes())) return false;
        begin(Step::kPut);
        [[fallthrough]];
      case Step::kPut:
        if (!operation.put()) return false;
        begin(Step::kMerge);
        [[fallthrough]];
      case Step::kMerge:
        if (!operation.merge()) return false;
        begin(Step::kTake);
        [[fallthrough]];
      default:
        if (!operation.take()) return false;
    }
    end_round(operation.last());
  }
  return true;
}

}  // namespace ranktree::core::shared
