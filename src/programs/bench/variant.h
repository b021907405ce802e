// The variants that are compared.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/predict/choice.h"
#include "core/schedule/makers.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"

namespace ranktree::mpi::bench {

struct Variant {
  std::string text;  // as given on the command line
  // Nothing: the chooser decides, call by call ("auto").
  std::optional<core::predict::Choice> choice;
};

// "auto", or a choice as core::predict::choice_from_text() reads it. Throws Error(kInput).
Variant read_variant(const std::string& text, core::schedule::Collective collective);

// False where the variant cannot carry out the operation. The same on all ranks.
bool can_run(const Variant& variant, collect::Context& context, const collect::Operation& operation);

// Blocking. Throws MpiError.
void run(const Variant& variant, const std::shared_ptr<collect::Context>& context, const collect::Operation& operation);

}  // namespace ranktree::mpi::bench
