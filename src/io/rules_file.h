// Rules as JSON, specified in docs/reference/formats/rules.md.
#pragma once

#include <string>
#include <string_view>

#include "core/predict/rules.h"

namespace ranktree::io {

// Throws Error(kInput) where the rules break a rule of the format, so that every written file can be read.
std::string write_rules(const core::predict::Rules& rules);

// Throws Error(kInput) naming `origin` and the field, what was expected and what was found. Memory is bounded by the
// size of `bytes`.
core::predict::Rules read_rules(std::string_view bytes, const std::string& origin);

void save_rules(const std::string& path, const core::predict::Rules& rules);

}  // namespace ranktree::io
