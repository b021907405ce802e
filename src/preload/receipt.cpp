#include "preload/receipt.h"

#include <bit>
#include <cstdint>

#include "core/pattern/pattern.h"
#include "io/trace_layout.h"

namespace ranktree::preload {

void Receipt::add(int world_rank, core::pattern::Class kind, std::uint64_t bytes, bool pulled) {
  if (world_rank < 0) {
    ++outside;
    return;
  }
  flows.push_back({io::trace_layout::pair_key(world_rank, kind, pulled), 1, bytes});
}

void Receipt::set_call(core::pattern::Operation operation, std::uint64_t communicator_identity, int root,
                       std::uint64_t bytes) {
  call = io::trace_layout::call_key(operation, static_cast<int>(std::bit_width(bytes)), root);
  communicator = communicator_identity;
  call_bytes = bytes;
}

}  // namespace ranktree::preload
