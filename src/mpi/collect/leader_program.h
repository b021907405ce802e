// The program of a node's leader, carried out by nonblocking messages (core/schedule/schedule.h tells what it relies
// on).
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/schedule/schedule.h"
#include "mpi/collect/memory.h"
#include "mpi/collect/prepared.h"

namespace ranktree::mpi::collect {

// Elements as they lie in a leader's buffers: one behind the other, gaps included.
struct Elements {
  MPI_Datatype type = MPI_BYTE;
  std::int64_t extent = 1;
  std::int64_t shift = 0;  // from an element's address to its lowest byte, where buffers begin
  MPI_Op op = MPI_OP_NULL;
};

class LeaderProgram {
 public:
  // Peers are ranks of `comm`. The bases are those of input and output. Posts what can be posted.
  LeaderProgram(std::shared_ptr<const Prepared> prepared, const Elements& elements, std::array<std::byte*, 2> bases,
                MPI_Comm comm, int tag);
  // True once all is done. Throws AgreedError.
  bool progress();

 private:
  void advance();
  void post(std::int32_t index);
  void combine(const core::schedule::Step& step);
  void complete(std::int32_t index);
  void release(std::int32_t index);
  bool test();
  [[nodiscard]] std::byte* at(const core::schedule::Range& range, std::int64_t first) const {
    return bases_[static_cast<std::size_t>(range.buffer)] + (range.first + first) * elements_.extent - elements_.shift;
  }

  std::shared_ptr<const Prepared> prepared_;
  Elements elements_;
  Memory scratch_;
  std::array<std::byte*, 3> bases_;
  MPI_Comm comm_;
  int tag_;
  std::vector<std::int32_t> waits_;  // by step: events it waits for; once posted, messages under way
  std::vector<std::int32_t> ready_;  // a heap, the first of the program on top
  std::size_t left_;
  std::vector<MPI_Request> requests_;
  std::vector<std::int32_t> owners_;
  std::vector<int> ended_;
};

}  // namespace ranktree::mpi::collect
