#include <mpi.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string>

#include "io/file.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/preload_abi.h"
#include "mpi/collect/requests/own_request.h"
#include "mpi/collect/select/chooser.h"
#include "mpi/collect/select/log.h"
#include "mpi/collect/select/reproducible.h"
#include "mpi/collect/settings.h"
#include "mpi/collect/thread_state.h"
#include "mpi/collect/variant.h"

namespace collect = ranktree::mpi::collect;
namespace mpi = ranktree::mpi;

namespace {

// Whether somebody wants shared memory, which `auto` makes in its own trials. A file is read once; one that cannot be
// read wants nothing.
bool rules_name_shared_memory() {
  static const bool named = [] {
    try {
      const char* const value = std::getenv("RANKTREE_COLL");  // NOLINT(concurrency-mt-unsafe): nobody writes to it
      const std::string text = value == nullptr ? "" : value;
      return (collect::is_inline(text) ? text : ranktree::io::read_file(text)).find("shared") != std::string::npos;
    } catch (const std::exception&) {
      return false;
    }
  }();
  return named;
}

}  // namespace

int ranktree_collect_call(const collect::Operation* operation) noexcept {
  return collect::within_call() ? collect::native(*operation) : collect::call(*operation);
}

collect::Shortcuts* ranktree_collect_shortcuts(MPI_Comm comm) noexcept {
  if (collect::within_call()) return nullptr;
  const collect::Entered entered;
  try {
    const auto context = collect::Context::of(comm);
    collect::Shortcuts& shortcuts = context->chooser().shortcuts();
    if (collect::is_reproducible(*context)) collect::look_at_reductions(shortcuts);
    return &shortcuts;
  } catch (...) {
    return nullptr;
  }
}

bool ranktree_collect_start_thread(bool crowded) noexcept { return collect::ProgressThread::instance().start(crowded); }

void ranktree_collect_stop_thread() noexcept { collect::ProgressThread::instance().stop(); }

// What cannot be had is not there on all ranks alike, and such calls are the MPI's.
void ranktree_collect_prepare(MPI_Comm comm) noexcept {
  const collect::Entered entered;
  try {
    const auto context = collect::Context::of(comm);
    int shared = context->rank() == 0 && rules_name_shared_memory() ? 1 : 0;
    mpi::check(PMPI_Bcast(&shared, 1, MPI_INT, 0, context->comm()), "MPI_Bcast");
    if (shared != 0) [[maybe_unused]]
      const collect::NodeTeam* const made = context->node_team();
  } catch (...) {  // NOLINT(bugprone-empty-catch): as above
  }
}

bool ranktree_collect_begin(const collect::Operation* operation, MPI_Request* request, int* code) noexcept {
  return collect::begin_as_request(*operation, request, *code);
}

bool ranktree_collect_free(MPI_Request* request) noexcept {
  if (collect::within_call() || !collect::ProgressThread::instance().free_later(*request)) return false;
  *request = MPI_REQUEST_NULL;
  return true;
}

void ranktree_collect_finish(int count, const MPI_Request* requests) noexcept {
  if (count <= 0 || requests == nullptr || collect::within_call()) return;
  collect::ProgressThread::instance().finish({requests, static_cast<std::size_t>(count)});
}

void ranktree_collect_log(const char* text) noexcept {
  try {
    collect::Log(0).line(text);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a line
  }
}
