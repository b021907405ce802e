// Which variant serves each call on one communicator: RANKTREE_COLL, rules, the model, and trials in the program's own
// calls against the native one.
#pragma once

#include <cstdint>
#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/call_kind.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {

class Context;

class Chooser {
 public:
  // What begin() decided. The caller runs `choice` and then calls end() with the same decision.
  struct Decision {
    const core::predict::Choice* choice = &native_choice();  // the chooser's: until end()
    std::size_t entry = 0;                                   // the chooser's own
    bool timed = false;                                      // of a block of a trial
    bool reads_clock = false;                                // the block's times are read at this call
    double started = 0;
  };

  // Collective, the first time for a communicator: reads the settings and agrees on them.
  static std::unique_ptr<Chooser> make(Context& context);

  Chooser() = default;
  virtual ~Chooser() = default;
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  Chooser(Chooser&&) = delete;
  Chooser& operator=(Chooser&&) = delete;

  // The same on all ranks: decided from the collective, the bytes, op and type where equal on all ranks, and the number
  // of the call. Operations without a size known to all (vector gathers, alltoallv) are decided without it. A call that
  // is nonblocking is never a trial. `kind` is the operation's.
  virtual Decision begin(const Operation& operation, const Kind& kind, bool blocking) = 0;
  // After a blocking call, one that failed too. Collective behind some blocks of calls on trial (one small allreduce).
  virtual void end(const Decision& decision) = 0;

  // Whether nothing has been decided for calls like this one yet. The same on all ranks.
  [[nodiscard]] virtual bool is_deciding(const Operation& operation) const = 0;

  // Collective the first time: makes what nonblocking calls, which are local, need for the variants that the user has
  // set.
  virtual void make_ready() = 0;
};

}  // namespace ranktree::mpi::collect
