// Where blocks are in the buffer that holds all of them, and checks of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {

// Throws Error(kInput). Of a list of counts only the rank's own is checked, unless the rank must know `all` of them.
void check_request(const Request& request, Rank rank, bool all);

inline std::int64_t block_count(const Request& request, Rank rank) {
  return request.counts.empty() ? request.count : request.counts[static_cast<std::size_t>(rank)];
}

// The block of a rank in the caller's buffer of all blocks, where the request has displacements.
inline Range given_block(const Request& request, Buffer buffer, Rank rank) {
  return {buffer, request.displacements[static_cast<std::size_t>(rank)], block_count(request, rank)};
}

// Blocks one after the other in the order of a hierarchy's positions, which is rank order in a flat one. O(1) for
// blocks of equal size, else O(ranks) once.
class Packing {
 public:
  Packing(const Request& request, const Hierarchy& hierarchy);

  [[nodiscard]] std::int64_t total() const { return first(ranks_); }
  // The first element of the block at a position.
  [[nodiscard]] std::int64_t first(std::int32_t position) const {
    return firsts_.empty() ? size_ * position : firsts_[static_cast<std::size_t>(position)];
  }
  // The blocks of positions begin .. end-1.
  [[nodiscard]] Range range(const Range& whole, std::int32_t begin, std::int32_t end) const {
    return within(whole, first(begin), first(end) - first(begin));
  }
  // True when the caller's buffer of all blocks is packed like this.
  [[nodiscard]] bool is_given() const { return given_; }

 private:
  Rank ranks_;
  std::int64_t size_;
  std::vector<std::int64_t> firsts_;
  bool given_;
};

}  // namespace ranktree::core::schedule
