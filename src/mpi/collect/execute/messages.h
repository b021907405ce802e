// Variant::kMessages: a schedule carried out by nonblocking messages from point to point (core/schedule/schedule.h
// documents what it relies on).
#pragma once

#include <memory>

#include "core/predict/choice.h"
#include "mpi/collect/context.h"
#include "mpi/collect/execute/programs.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/variant.h"

namespace ranktree::mpi::collect {

// Depends only on what is equal on all ranks. Local.
bool can_message(Context& context, const Operation& operation, const core::predict::Choice& choice);

// Begins it, where can_message(). Throws AgreedError of messages (the program's error handler has not been called),
// MpiError, std::bad_alloc.
std::unique_ptr<Running> start_messages(const std::shared_ptr<Context>& context, const Operation& operation,
                                        const core::predict::Choice& choice);

// The calling rank's program of a shape. Made where the context does not keep it. Local. Throws core::Error where there
// is none, std::bad_alloc.
std::shared_ptr<const Prepared> prepared_program(Context& context, const Shape& shape);

}  // namespace ranktree::mpi::collect
