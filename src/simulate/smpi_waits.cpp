// Waits for any of many messages without a test of each.
//
// Before a rank waits for any of p messages, SimGrid tests each, for its model checker alone. The test of a completed
// eager message searches the list of all eager messages in flight, so that waits for p of them take the cube of p where
// that list has as many: three gathers one after the other among 1,024 ranks take 9 CPU seconds, and 0.2 without the
// tests, with the same simulated time. SimGrid's own calls reach these functions because the library is preloaded.
// SimGrid 3.32 alone: other releases have other classes.
#include <xbt/base.h>

#include <simgrid/version.h>

#include <array>
#include <cstddef>
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

namespace actor {
class ActorImpl;
}

namespace activity {

class ActivityImpl;

// As in SimGrid, which installs no header of it.
class CommImpl {
 public:
  RANKTREE_SEEN bool test(actor::ActorImpl* issuer);
};

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
