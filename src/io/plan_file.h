// Plans as JSON, specified in docs/reference/formats/plan.md.
#pragma once

#include <string>
#include <string_view>

#include "core/place/plan.h"

namespace ranktree::io {

// Each rank is on its own line, so that diff compares plans. Throws Error(kInput) when the plan breaks a rule of the
// format (an infinite cost, a host that is not in the list), so every file that was written can be read.
std::string write_plan(const core::place::Plan& plan);

// Throws Error(kInput) naming `origin`, the place (line, or field such as slots[3].pus), what was expected and found;
// Error(kMismatch) when ranks, slots and hosts do not fit each other. Memory is bounded by the size of `bytes`.
core::place::Plan read_plan(std::string_view bytes, const std::string& origin);

void save_plan(const std::string& path, const core::place::Plan& plan);
core::place::Plan load_plan(const std::string& path);

}  // namespace ranktree::io
