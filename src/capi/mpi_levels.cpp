// The calls of ranktree/paper.h that return names which live as long as the process, once for each MPI.
#include <mpi.h>

#include <mutex>
#include <set>
#include <string>

#include "mpi/guard.h"
#include "ranktree/mpi.h"
#include "ranktree/paper.h"

namespace {

// The names of levels that calls have returned. The paper's calls take no buffer for a name, and callers do not free
// names. There are a few dozen at most.
class Names {
 public:
  static Names& instance() {
    static auto* const names = new Names;  // never freed: the program may keep a name until it exits
    return *names;
  }
  char* lasting(const char* name) {
    const std::scoped_lock lock(mutex_);
    return const_cast<char*>(names_.emplace(name).first->c_str());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;  // its strings never move
};

// Returns a lasting copy of `name` after a call that returned `code`.
int give(MPI_Comm comm, int code, const char* name, char** type) {
  if (code != MPI_SUCCESS) return code;
  return ranktree::mpi::guard(comm, [&] { *type = Names::instance().lasting(name); });
}

}  // namespace

int ranktree_paper_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char** type) {
  char name[RANKTREE_MAX_TYPE] = "";
  int length = 0;
  char* const buffer = type != nullptr ? name : nullptr;
  const int code = ranktree_Comm_get_hlevel_info(comm, num_comms, index, buffer, RANKTREE_MAX_TYPE, &length);
  return give(comm, code, name, type);
}

int ranktree_paper_get_min_hlevel(MPI_Comm comm, int nranks, const int ranks[], char** type) {
  char name[RANKTREE_MAX_TYPE] = "";
  int length = 0;
  char* const buffer = type != nullptr ? name : nullptr;
  const int code = ranktree_Comm_get_min_hlevel(comm, nranks, ranks, buffer, RANKTREE_MAX_TYPE, &length);
  return give(comm, code, name, type);
}
