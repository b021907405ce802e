// Operations that move bytes: each is written to shared memory once and read from there once by everyone who needs it.
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

 private:
  bool put() override;
  bool take() override;
  [[nodiscard]] bool writes() const override { return false; }  // no cell: nobody need have left the last round
  bool last() override { return true; }
};

// The root's size counts: who has less room takes what fits, who has more keeps the rest as it is.
class Broadcast final : public Call {
 public:
  Broadcast(Team& team, int root, std::span<std::byte> data);
  // Once it is done: what the root has sent.
  [[nodiscard]] std::size_t sent() const { return sent_; }
  // At the root: only so many bytes are there yet; all of them unless said. Never fewer than before.
  void make_available(std::size_t bytes) { available_ = bytes; }

 private:
  bool put() override;
  bool take() override;
  bool last() override;
  [[nodiscard]] bool writes() const override { return rank() == root_; }
  void learn();
  [[nodiscard]] std::size_t bytes_now() const;

  int root_;
  std::span<std::byte> data_;
  std::size_t available_;
  std::size_t sent_;         // in all; told by the root
  bool knows_;               // it
  std::size_t before_ = 0;   // bytes of earlier rounds
  std::uint64_t parts_ = 0;  // of this round
};

// From everyone to the root: `blocks` there, elsewhere their size only. `own` of the root may be in its place already.
class Gather final : public Call {
 public:
  Gather(Team& team, int root, std::span<const std::byte> own, const Blocks& blocks);

 private:
  bool put() override;
  bool take() override;
  bool last() override;
  [[nodiscard]] bool writes() const override { return rank() != root_; }

  int root_;
  std::span<const std::byte> own_;
  Blocks blocks_;
  std::size_t before_ = 0;
};

// From the root to everyone: `blocks` there, elsewhere their size only. `own` of the root may be in its place already.
class Scatter final : public Call {
 public:
  Scatter(Team& team, int root, const Blocks& blocks, std::span<std::byte> own);

 private:
  bool put() override;
  bool take() override;
  bool last() override;
  [[nodiscard]] bool writes() const override { return rank() == root_; }

  int root_;
  Blocks blocks_;
  std::span<std::byte> own_;
  std::size_t before_ = 0;
};

// From everyone to everyone. `own` may be in its place already.
class Allgather final : public Call {
 public:
  Allgather(Team& team, std::span<const std::byte> own, const Blocks& blocks);

 private:
  bool put() override;
  bool take() override;
  bool last() override;

  std::span<const std::byte> own_;
  Blocks blocks_;
  std::size_t before_ = 0;
};

}  // namespace ranktree::core::shared
