#include "programs/bench/variant.h"

#include <mpi.h>

#include <climits>
#include <memory>
#include <optional>
#include <string>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"
#include "ranktree/mpi_collect.h"

namespace ranktree::mpi::bench {
namespace {

// As a program makes it, where its counts are an int's.
int call_as_program(const collect::Operation& o) {  // #lizard forgives: a case for each collective
  using core::schedule::Collective;
  const collect::Operation::Side& s = o.send;
  const collect::Operation::Side& r = o.receive;
  if (o.vector || s.count > INT_MAX || r.count > INT_MAX) return collect::call(o);
  const auto sent = static_cast<int>(s.count);
  const auto received = static_cast<int>(r.count);
  switch (o.collective) {
    case Collective::kBroadcast:
      return ranktree_Bcast(r.buffer, received, r.type, o.root, o.comm);
    case Collective::kReduce:
      return ranktree_Reduce(s.buffer, r.buffer, received, r.type, o.op, o.root, o.comm);
    case Collective::kAllreduce:
      return ranktree_Allreduce(s.buffer, r.buffer, received, r.type, o.op, o.comm);
    case Collective::kBarrier:
      return ranktree_Barrier(o.comm);
    case Collective::kGather:
      return ranktree_Gather(s.buffer, sent, s.type, r.buffer, received, r.type, o.root, o.comm);
    case Collective::kScatter:
      return ranktree_Scatter(s.buffer, sent, s.type, r.buffer, received, r.type, o.root, o.comm);
    case Collective::kAllgather:
      return ranktree_Allgather(s.buffer, sent, s.type, r.buffer, received, r.type, o.comm);
    case Collective::kReduceScatter:
      return ranktree_Reduce_scatter_block(s.buffer, r.buffer, received, r.type, o.op, o.comm);
    case Collective::kAlltoall:
      return ranktree_Alltoall(s.buffer, sent, s.type, r.buffer, received, r.type, o.comm);
  }
  return MPI_ERR_INTERN;
}

}  // namespace

Variant read_variant(const std::string& text, core::schedule::Collective collective) {
  if (text == "auto") return {.text = text, .choice = std::nullopt};
  return {.text = text, .choice = core::predict::choice_from_text(text, collective)};
}

bool can_run(const Variant& variant, collect::Context& context, const collect::Operation& operation) {
  return !variant.choice || variant.choice->variant == core::predict::Variant::kNative ||
         collect::can_run(context, operation, *variant.choice);
}

void run(const Variant& variant, const std::shared_ptr<collect::Context>& context,
         const collect::Operation& operation) {
  if (!variant.choice) {
    check(call_as_program(operation), "a collective call");
  } else if (variant.choice->variant == core::predict::Variant::kNative) {
    check(collect::native(operation), "the native collective call");
  } else {
    collect::finish(*context, operation, *variant.choice);
  }
}

}  // namespace ranktree::mpi::bench
