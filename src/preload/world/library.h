// The calls of libranktree_mpi_<mpi>, opened at the first use.
#pragma once

#include "mpi/text.h"
#include "ranktree/mpi.h"

namespace ranktree::preload {

struct Library {
  // One copy a process; the functions are null where they are missing.
  static const Library& instance() noexcept;

  mpi::Text missing;  // why those that compute an order are not there; empty where they are
  decltype(&ranktree_read_pattern) read_pattern = nullptr;
  decltype(&ranktree_Comm_reorder) reorder = nullptr;
  decltype(&ranktree_Cart_create) cart_create = nullptr;
  decltype(&ranktree_Cart_create_weighted) cart_create_weighted = nullptr;
  decltype(&ranktree_Dist_graph_create) dist_graph_create = nullptr;
  decltype(&ranktree_Dist_graph_create_adjacent) dist_graph_create_adjacent = nullptr;
  decltype(&ranktree_Graph_create) graph_create = nullptr;
  decltype(&ranktree_Comm_get_info) get_info = nullptr;
  decltype(&ranktree_Comm_get_message) message = nullptr;
};

}  // namespace ranktree::preload
