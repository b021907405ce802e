#include "mpi/collect/environment.h"

#include <cstdlib>
#include <string>

namespace ranktree::mpi::collect {
namespace {

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): programs set it before they start
  return value == nullptr ? std::string() : value;
}

}  // namespace

Environment Environment::read() {
  const std::string reproducible = value_of("RANKTREE_REPRODUCIBLE");
  return {.collectives = value_of("RANKTREE_COLL"),
          .parameters = value_of("RANKTREE_COLL_PARAMETERS"),
          .log = value_of("RANKTREE_COLL_LOG"),
          .cache = value_of("RANKTREE_COLL_CACHE"),
          .nonblocking = value_of("RANKTREE_COLL_NONBLOCKING"),
          .host_buffers = value_of("RANKTREE_COLL_HOST_BUFFERS") == "1",
          .reproducible = !reproducible.empty() && reproducible != "0",
          .traces = !value_of("RANKTREE_TRACE").empty()};
}

}  // namespace ranktree::mpi::collect
