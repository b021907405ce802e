// Which way each call on one communicator goes: RANKTREE_COLL, rules, the model, and measured trials, in which the
// MPI's own call always takes part (never its loser).
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
    bool trial = false;
    double started = 0;
    double meeting = 0;  // seconds, in which ranks synchronised before it
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
  // of the call. Operations without a size known to all (vector gathers) are decided without it. A call that is
  // nonblocking is never a trial. `kind` is the operation's.
  virtual Decision begin(const Operation& operation, const Kind& kind, bool blocking) = 0;
  // After a blocking call, one that failed too. Collective at the end of a round of trials (one small allreduce).
  virtual void end(const Decision& decision) = 0;

  // Whether calls like this one have still to be tried, or are on trial. The same on all ranks.
  [[nodiscard]] virtual bool is_deciding(const Operation& operation) const = 0;

  // Collective the first time: makes what nonblocking calls, which are local, need for what the user has asked for.
  virtual void make_ready() = 0;
};

}  // namespace ranktree::mpi::collect
