// The calls of libranktree_mpi_<mpi>, opened at the first use.
#pragma once

#include <string>

#include "ranktree/mpi.h"

namespace ranktree::preload {

struct Library {
  // One copy a process; the functions are null where they are missing.
  static const Library& instance() noexcept;

  decltype(&ranktree_read_pattern) read_pattern = nullptr;
  decltype(&ranktree_Comm_reorder) reorder = nullptr;
  decltype(&ranktree_Cart_create) cart_create = nullptr;
  decltype(&ranktree_Comm_get_info) get_info = nullptr;
  decltype(&ranktree_Comm_get_message) message = nullptr;
};

// The value of an environment variable, empty where there is none.
std::string setting(const char* name);

// One line on standard error when RANKTREE_VERBOSE=1.
void say(const std::string& line) noexcept;

}  // namespace ranktree::preload
