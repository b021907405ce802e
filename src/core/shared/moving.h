// Operations that move bytes: each is written to shared memory once and read from there once by each rank that needs
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/shared/team.h"

namespace ranktree::core::shared {

// Where each rank's block is: in a row of equal ones, or as listed.
struct Blocks {
  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  std::byte* first = nullptr;
  std::size_t bytes = 0;  // the same on all ranks, even where there are no blocks; of lists, the most a block has
  std::span<const Block> list;

  [[nodiscard]] Block operator[](int rank) const {
    if (!list.empty()) return list[static_cast<std::size_t>(rank)];
    return {first + static_cast<std::size_t>(rank) * bytes, bytes};
  }
};

class Barrier final : public Call {
 public:
  explicit Barrier(Team& team) : Call(team, 0) {}

  bool progress() override;

 private:
  friend class Call;
  bool put();
  bool take();
  static bool writes() { return false; }  // no cell: ranks need not have left the last round
  static bool last() { return true; }
};

// Passes the root's data to every rank. The root's size counts: a rank with less space takes what fits, a rank with
// more keeps the rest as it is.
class FromRoot : public Call {
 public:
  // Once it is done: what the root has sent to each rank.
  [[nodiscard]] std::size_t sent() const { return sent_; }

 protected:
  FromRoot(Team& team, int root, std::size_t bytes)
      : Call(team, bytes), root_(root), capacity_(bytes), sent_(bytes), knows_(team.rank() == root) {}
  [[nodiscard]] bool is_root() const { return rank() == root_; }
  [[nodiscard]] bool writes() const { return is_root(); }
  // Before the root counts anything, and when another rank has seen it count something.
  void publish_size();
  void learn();

  int root_;
  std::size_t capacity_;
  std::size_t sent_;        // published by the root
  std::size_t before_ = 0;  // bytes of earlier rounds

 private:
  bool knows_;
};

class Broadcast final : public FromRoot {
 public:
  Broadcast(Team& team, int root, std::span<std::byte> data);
  // At the root: only so many bytes are there yet; all of them unless this is called. Never fewer than before.
  void make_available(std::size_t bytes) { available_ = bytes; }

  bool progress() override;

 private:
  friend class Call;
  bool put();
  bool take();
  bool last();
  [[nodiscard]] std::size_t bytes_now() const;

  std::span<std::byte> data_;
  std::size_t available_;
  std::uint64_t parts_ = 0;  // of this round
};

// `blocks`, at the root: one of own.size() bytes for each rank. `own` of the root may be in its place already.
class Scatter final : public FromRoot {
 public:
  Scatter(Team& team, int root, const std::byte* blocks, std::span<std::byte> own);

  bool progress() override;

 private:
  friend class Call;
  bool put();
  bool take();
  bool last();

  const std::byte* blocks_;
  std::span<std::byte> own_;
};

// From every rank to the root: `blocks` there, of own.size() bytes for each rank. `own` of the root may be in its place
// already. The root takes what fits of longer blocks and leaves the rest of shorter ones as it is. Where blocks need
// more than a round the shortest one stops the operation, and the rest of longer ones is lost.
class Gather final : public Call {
 public:
  Gather(Team& team, int root, std::span<const std::byte> own, std::byte* blocks);

  bool progress() override;

 private:
  friend class Call;
  bool put();
  bool take();
  bool last();
  [[nodiscard]] bool writes() const { return rank() != root_; }
  void take_from(int rank, Published other);

  int root_;
  std::span<const std::byte> own_;
  std::byte* blocks_;
  std::size_t before_ = 0;
  std::size_t shortest_;     // of what ranks send
  std::size_t longest_ = 0;  // at the root
};

// From every rank to every rank. `own` may be in its place already. Each rank takes what fits of blocks that are longer
// than it has for them, and leaves the rest of shorter ones as it is.
class Allgather final : public Call {
 public:
  Allgather(Team& team, std::span<const std::byte> own, const Blocks& blocks);

  bool progress() override;

 private:
  friend class Call;
  bool put();
  bool take();
  bool last();
  void take_from(int rank, Published other);

  std::span<const std::byte> own_;
  Blocks blocks_;
  std::size_t before_ = 0;
  std::size_t longest_;
};

}  // namespace ranktree::core::shared
