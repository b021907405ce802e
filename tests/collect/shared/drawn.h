// Collective operations drawn at random, the same on all ranks, with canaries around and inside the buffers, and the
// MPI's own result beside ours.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mpi/collect/operation.h"

using Random = std::mt19937;

// Datatypes of all kinds with operations that they have.
class Kinds {
 public:
  struct Kind {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::vector<MPI_Op> operations;
    // Of so many ints. On a broadcast's odd ranks that many ints are used instead, where it is not 0.
    int ints = 0;
  };
  Kinds();
  ~Kinds();
  Kinds(const Kinds&) = delete;
  Kinds& operator=(const Kinds&) = delete;
  Kinds(Kinds&&) = delete;
  Kinds& operator=(Kinds&&) = delete;
  [[nodiscard]] const std::vector<Kind>& all() const { return kinds_; }

 private:
  void add_made(MPI_Datatype type, std::vector<MPI_Op> operations, int ints);
  MPI_Op compose_ = MPI_OP_NULL;  // associative, not commutative
  std::vector<Kind> kinds_;
  std::vector<MPI_Datatype> made_;
};

// Memory of one side of a call.
class Guarded {
 public:
  // So many elements, filled from a seed; data of other ranks differs.
  Guarded() = default;
  Guarded(std::int64_t elements, MPI_Datatype type, unsigned seed);

  [[nodiscard]] void* ours() { return ours_.data() + origin_; }
  [[nodiscard]] const void* before() const { return before_.data() + origin_; }
  [[nodiscard]] void* natives() { return natives_.data() + origin_; }
  // What the MPI wrote in these elements, and nothing else, has changed.
  [[nodiscard]] bool as_expected(const std::vector<std::pair<std::int64_t, std::int64_t>>& written,
                                 MPI_Datatype type) const;

 private:
  std::vector<std::byte> ours_;
  std::vector<std::byte> natives_;
  std::vector<std::byte> before_;
  std::ptrdiff_t origin_ = 0;
};

class Drawn {
 public:
  // `random` is in the same state on all ranks.
  Drawn(Random& random, const Kinds& kinds, MPI_Comm comm, std::int64_t most_bytes);

  [[nodiscard]] const ranktree::mpi::collect::Operation& operation() const { return operation_; }
  // After ours has ended: carries it out by the MPI and compares. False where they differ on this rank.
  [[nodiscard]] bool agrees();
  [[nodiscard]] std::string text() const;

 private:
  void draw_sizes(Random& random, std::int64_t most_bytes);
  void make_sides(const Kinds::Kind& kind, unsigned seed);
  void make_reduction_sides(unsigned seed);
  void make_block_sides(unsigned seed);
  void call_native();
  void call_native_blocks(const void* send, void* receive);
  void call_native_reduction(const void* operand);
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> written() const;
  [[nodiscard]] std::int64_t all_elements() const;
  [[nodiscard]] bool is_root() const { return operation_.root == rank_; }
  [[nodiscard]] bool is_in_place() const;

  ranktree::mpi::collect::Operation operation_;
  int rank_ = 0;
  int size_ = 1;
  bool in_place_ = false;
  int count_ = 0;
  std::vector<int> counts_;  // of vector forms; displacements leave gaps
  std::vector<int> displacements_;
  Guarded send_;
  Guarded receive_;
};
