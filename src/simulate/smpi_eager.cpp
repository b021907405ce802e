// Eager messages in flight without searches for each of them.
//
// SimGrid keeps all that have not arrived in one list, of the maestro's, and goes through it whenever one arrives or is
// found to have arrived, which it tests of each of p messages before a rank waits for any of them: what all ranks send
// at a time takes the square of the ranks, and waits for p of p messages the cube. Here a hash table keeps them. Of
// 1,024 ranks, three gathers one after the other take 0.3 CPU seconds in place of 10. The simulated times are
// SimGrid's own, whose calls reach these functions because the library is preloaded. SimGrid 3.32 alone: other releases
// have other classes.
#include <xbt/base.h>

#include <simgrid/forward.h>
#include <simgrid/version.h>

#include <array>
#include <cstddef>
#include <list>
#include <unordered_map>

#include "simulate/smpi_symbols.h"

#if SIMGRID_VERSION == 33200

namespace simgrid::kernel {

using ranktree::simulate::next;

// As in SimGrid, which installs no headers of these classes.

namespace actor {

class ActorImpl {
 public:
  static ActorImpl* self();
  std::list<activity::ActivityImplPtr>& activities() { return activities_; }

 private:
  std::array<std::byte, 192> before_;
  std::list<activity::ActivityImplPtr> activities_;
};

class CommIsendSimcall;

}  // namespace actor

namespace activity {

class CommImpl {
 public:
  RANKTREE_SEEN static ActivityImplPtr isend(actor::CommIsendSimcall* call);
  RANKTREE_SEEN void finish();
};

namespace {

// Never destroyed: what is in flight at the end belongs to an engine that is gone.
std::unordered_map<void*, ActivityImplPtr>& eager() {
  static auto& messages = *new std::unordered_map<void*, ActivityImplPtr>;
  return messages;
}

}  // namespace

// Calls are carried out by the maestro, whose list has this message alone.
ActivityImplPtr CommImpl::isend(actor::CommIsendSimcall* call) {
  static const auto simgrids =
      next<decltype(&isend)>("_ZN7simgrid6kernel8activity8CommImpl5isendEPNS0_5actor16CommIsendSimcallE");
  ActivityImplPtr sent = simgrids(call);
  auto& list = actor::ActorImpl::self()->activities();
  for (; !list.empty(); list.pop_front()) eager().emplace(list.front().get(), list.front());
  return sent;
}

void CommImpl::finish() {
  static const auto simgrids = next<void (*)(CommImpl*)>("_ZN7simgrid6kernel8activity8CommImpl6finishEv");
  simgrids(this);
  eager().erase(this);
}

}  // namespace activity

}  // namespace simgrid::kernel
#endif
