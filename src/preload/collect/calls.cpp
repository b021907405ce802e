#include "preload/collect/calls.h"

#include "preload/calls_library.h"
#include "preload/settings.h"

namespace ranktree::preload {
namespace {

Calls load() noexcept {
  try {
    const CallsLibrary library("ranktree_collect_begin");
    Calls found;
    if (!library.missing().empty()) {
      say(kWhat, library.missing().c_str());
    } else if (library.find("ranktree_collect_call", found.call) &&
               library.find("ranktree_collect_shortcuts", found.shortcuts) &&
               library.find("ranktree_collect_prepare", found.prepare) &&
               library.find("ranktree_collect_start_thread", found.start_thread) &&
               library.find("ranktree_collect_stop_thread", found.stop_thread) &&
               library.find("ranktree_collect_begin", found.begin) &&
               library.find("ranktree_collect_free", found.free) &&
               library.find("ranktree_collect_finish", found.finish) &&
               library.find("ranktree_collect_log", found.log)) {
      return found;
    } else {
      say(kWhat, RANKTREE_CALLS_LIBRARY " is another version's; collectives are left to the MPI");
    }
  } catch (...) {
    say(kWhat, "out of memory; collectives are left to the MPI");
  }
  return {};
}

}  // namespace

const Calls& Calls::instance() noexcept {
  static const Calls calls = load();
  return calls;
}

}  // namespace ranktree::preload
