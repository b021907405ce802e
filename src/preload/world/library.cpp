#include "preload/world/library.h"

#include "mpi/text.h"
#include "preload/calls_library.h"

namespace ranktree::preload {
namespace {

Library load() {
  Library library;
  const CallsLibrary calls("ranktree_Comm_reorder");
  if (!calls.missing().empty()) {
    library.missing = mpi::Text(calls.missing().c_str());
    return library;
  }
  calls.find("ranktree_Cart_create", library.cart_create);
  calls.find("ranktree_Cart_create_weighted", library.cart_create_weighted);
  calls.find("ranktree_Dist_graph_create", library.dist_graph_create);
  calls.find("ranktree_Dist_graph_create_adjacent", library.dist_graph_create_adjacent);
  calls.find("ranktree_Graph_create", library.graph_create);
  calls.find("ranktree_Comm_get_info", library.get_info);
  calls.find("ranktree_Comm_get_message", library.message);
  const bool reads = calls.find("ranktree_read_pattern", library.read_pattern);
  if (!calls.find("ranktree_Comm_reorder", library.reorder) || !reads) {
    library.missing = mpi::Text(RANKTREE_CALLS_LIBRARY ": no ranktree_Comm_reorder");
  }
  return library;
}

}  // namespace

const Library& Library::instance() noexcept {
  static const Library library = [] {
    try {
      return load();
    } catch (...) {  // no memory: as if it were not there
      Library none;
      none.missing = mpi::Text("out of memory");
      return none;
    }
  }();
  return library;
}

}  // namespace ranktree::preload
