#include "mpi/bench/variant.h"

#include <memory>
#include <optional>
#include <string>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/check.h"
#include "mpi/collect/call.h"
#include "mpi/collect/context.h"
#include "mpi/collect/native.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/run.h"
#include "mpi/collect/running.h"

namespace ranktree::mpi::bench {

Variant read_variant(const std::string& text, core::schedule::Collective collective) {
  if (text == "auto") return {.text = text, .choice = std::nullopt};
  return {.text = text, .choice = core::predict::choice_from_text(text, collective)};
}

bool can_run(const Variant& variant, collect::Context& context, const collect::Operation& operation) {
  return !variant.choice || variant.choice->way == core::predict::Way::kNative ||
         collect::can_run(context, operation, *variant.choice);
}

void run(const Variant& variant, const std::shared_ptr<collect::Context>& context,
         const collect::Operation& operation) {
  if (!variant.choice) {
    check(collect::call(operation), "a collective call");
  } else if (variant.choice->way == core::predict::Way::kNative) {
    check(collect::native(operation), "the MPI's own collective call");
  } else {
    collect::finish(*collect::start(context, operation, *variant.choice));
  }
}

}  // namespace ranktree::mpi::bench
