#include "mpi/split/split.h"

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/split/summary.h"
#include "mpi/agree.h"
#include "mpi/attribute.h"
#include "mpi/check.h"
#include "mpi/handle.h"
#include "mpi/split/level.h"
#include "mpi/split/location.h"
#include "mpi/split/options.h"

namespace ranktree::mpi {
namespace {

using core::split::Summary;

Summary summary_of(const Caller& caller) {
  return core::split::summarize(caller.chain, caller.member, caller.options.leftover);
}

Summary own_summary(const Start& begun, Call call) {
  Summary own = begun.failure.error_class == MPI_SUCCESS ? summary_of(begun.caller) : core::split::summarize_absent();
  own.arguments = begun.failure.error_class == MPI_SUCCESS ? fingerprint(begun.caller.options, call) : 0;
  own.hosts_differ = node_of(begun.caller.annotation).host_differs ? 1 : 0;
  return own;
}

// Agreement on a level, and what it means for this rank. Keeps what was learnt whatever comes out.
Level one_level(MPI_Comm comm, Start& begun, Call call, bool with_roots) {
  keep(comm, begun.caller);
  const Summary all = agree_or_throw(comm, own_summary(begun, call), begun.failure);
  Level level = make_level(comm, begun.caller, all, share_of_level(begun.caller, all), with_roots);
  keep(comm, begun.caller);
  return level;
}

// The next call's caller, in a part that was just made. The nodes that MPI has returned belong to the communicator
// above: a switch may separate ranks that it put together.
void descend(Caller& caller, MPI_Comm part) {
  check(PMPI_Comm_rank(part, &caller.member.rank), "MPI_Comm_rank");
  caller.annotation.level.reset();
  caller.node = Communicator{};
}

void deliver(std::vector<Level>& made, const LevelArrays& arrays) {
  for (int i = 0; i < arrays.max; ++i) {
    const bool exists = static_cast<std::size_t>(i) < made.size();
    arrays.levels[i] = exists ? made[static_cast<std::size_t>(i)].part.release() : MPI_COMM_NULL;
    if (arrays.roots == nullptr) continue;
    arrays.roots[i] = exists ? made[static_cast<std::size_t>(i)].roots.release() : MPI_COMM_NULL;
  }
  *arrays.count = static_cast<int>(made.size());
}

SplitOptions options_of(const MPI_Info* info, const Annotation& annotation) {
  if (info != nullptr) return read_split_options(*info);
  return annotation.options ? *annotation.options : SplitOptions{};
}

}  // namespace

void refuse_null(const char* parameter) {
  throw core::Error(core::Fault::kInput, std::string(parameter) + ": expected a pointer, found NULL");
}

Start start(MPI_Comm comm, int key, const MPI_Info* info, const std::function<void(Caller&)>& local) {
  Start begun;
  Caller& caller = begun.caller;
  caller.annotation = get_annotation(comm);
  caller.node = learn_node(comm, key, caller.annotation);
  check(PMPI_Comm_rank(comm, &caller.member.rank), "MPI_Comm_rank");
  caller.member.key = key;
  caller.member.host = node_of(caller.annotation).host;
  begun.failure = attempt([&] {
    caller.options = options_of(info, caller.annotation);
    caller.chain = chain_here(caller.options, caller.annotation);
    if (local) local(caller);
  });
  set_message(caller.annotation, begun.failure.text.view());
  return begun;
}

void keep(MPI_Comm comm, Caller& caller) {
  if (!caller.annotation.changed) return;
  set_annotation(comm, caller.annotation);
  caller.annotation.changed = false;
}

void hsplit(MPI_Comm comm, int key, MPI_Info info, MPI_Comm* newcomm) {
  Start begun = start(comm, key, &info, [&](Caller&) { require(newcomm, "newcomm"); });
  Level level = one_level(comm, begun, {"hsplit"}, false);
  *newcomm = level.part.release();
}

void hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm) {
  Start begun = start(comm, 0, &info, [&](Caller&) {
    require(newcomm, "newcomm");
    require(rootscomm, "rootscomm");
  });
  Level level = one_level(comm, begun, {"hsplit_with_roots"}, true);
  *newcomm = level.part.release();
  *rootscomm = level.roots.release();
}

void hsplit_all(MPI_Comm comm, MPI_Info info, const LevelArrays& arrays) {
  const bool with_roots = arrays.roots != nullptr;
  Start begun = start(comm, 0, &info, [&](Caller&) {
    require(arrays.count, "nlevels");
    if (arrays.max < 0) {
      throw core::Error(core::Fault::kInput, "max: expected at least 0, found " + std::to_string(arrays.max));
    }
    if (arrays.max > 0) require(arrays.levels, "levels");
  });
  Caller& caller = begun.caller;
  keep(comm, caller);
  const Call call{with_roots ? "hsplit_all with roots" : "hsplit_all", arrays.max};
  Summary all = agree_or_throw(comm, own_summary(begun, call), begun.failure);
  std::vector<Level> made;
  MPI_Comm current = comm;
  while (made.size() < static_cast<std::size_t>(arrays.max)) {
    Level level = make_level(current, caller, all, share_of_level(caller, all), with_roots);
    if (made.empty()) keep(comm, caller);
    if (level.part.get() == MPI_COMM_NULL) break;
    made.push_back(std::move(level));
    current = made.back().part.get();
    if (made.size() == static_cast<std::size_t>(arrays.max)) break;
    descend(caller, current);
    all = agree(current, summary_of(caller));
  }
  deliver(made, arrays);
}

}  // namespace ranktree::mpi
