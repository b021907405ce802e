// The functions of libranktree_mpi_<mpi> that serve collectives.
#pragma once

#include "mpi/collect/preload_abi.h"

namespace ranktree::preload {

inline constexpr const char* kWhat = "collectives";  // at the beginning of what is told

// All null where the library is missing, or is another version's.
struct Calls {
  decltype(&ranktree_collect_call) call = nullptr;
  decltype(&ranktree_collect_shortcuts) shortcuts = nullptr;
  decltype(&ranktree_collect_prepare) prepare = nullptr;
  decltype(&ranktree_collect_start_thread) start_thread = nullptr;
  decltype(&ranktree_collect_stop_thread) stop_thread = nullptr;
  decltype(&ranktree_collect_begin) begin = nullptr;
  decltype(&ranktree_collect_free) free = nullptr;
  decltype(&ranktree_collect_finish) finish = nullptr;
  decltype(&ranktree_collect_log) log = nullptr;

  // Opened at the first use.
  static const Calls& instance() noexcept;
};

}  // namespace ranktree::preload
