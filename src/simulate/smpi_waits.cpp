// Many messages in flight without searches for each of them.
//
// SimGrid keeps all eager messages that have not arrived in one list, of the maestro's, and goes through it whenever
// one arrives: what all ranks send at a time takes the square of the ranks. Here a hash table keeps them.
//
// Before a rank waits for any of p messages, SimGrid tests each, for its model checker alone. The test of a completed
// eager message searches the list of all eager messages in flight, so that waits for p of them take the cube of p where
// that list has as many: three gathers one after the other among 1,024 ranks take 9 CPU seconds, and 0.2 without the
// tests. The simulated times are SimGrid's own, whose calls reach these functions because the library is preloaded.
// SimGrid 3.32 alone: other releases have other classes.
#include <xbt/base.h>

#include <simgrid/forward.h>
#include <simgrid/version.h>

#include <array>
#include <cstddef>
#include <list>
#include <unordered_map>
#include <vector>

#include "simulate/smpi_symbols.h"

#if SIMGRID_VERSION == 33200

namespace simgrid::kernel {

namespace {

using ranktree::simulate::next;

// Whether the thread is in SimGrid's constructor, which no rank leaves for another.
class Constructing {
 public:
  Constructing() { here() = true; }
  ~Constructing() { here() = false; }
  Constructing(const Constructing&) = delete;
  Constructing& operator=(const Constructing&) = delete;
  Constructing(Constructing&&) = delete;
  Constructing& operator=(Constructing&&) = delete;

  static bool& here() {
    static thread_local bool value = false;
    return value;
  }
};

}  // namespace

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
  RANKTREE_SEEN bool test(actor::ActorImpl* issuer);
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

bool CommImpl::test(actor::ActorImpl* issuer) {
  static const auto simgrids =
      next<bool (*)(CommImpl*, actor::ActorImpl*)>("_ZN7simgrid6kernel8activity8CommImpl4testEPNS0_5actor9ActorImplE");
  return !Constructing::here() && simgrids(this, issuer);
}

}  // namespace activity

namespace actor {

class ActivityWaitanySimcall {
 public:
  RANKTREE_SEEN ActivityWaitanySimcall(ActorImpl* issuer, const std::vector<activity::ActivityImpl*>& activities,
                                       double timeout);

 private:
  std::array<std::byte, 72> own_;  // SimGrid's constructor writes it
};

ActivityWaitanySimcall::ActivityWaitanySimcall(ActorImpl* issuer,
                                               const std::vector<activity::ActivityImpl*>& activities, double timeout) {
  using Constructor =
      void (*)(ActivityWaitanySimcall*, ActorImpl*, const std::vector<activity::ActivityImpl*>&, double);
  static const auto simgrids = next<Constructor>(
      "_ZN7simgrid6kernel5actor22ActivityWaitanySimcallC1EPNS1_9ActorImplERKSt6vectorIPNS0_"
      "8activity12ActivityImplESaIS8_EEd");
  const Constructing constructing;
  simgrids(this, issuer, activities, timeout);
}

}  // namespace actor

}  // namespace simgrid::kernel
#endif
