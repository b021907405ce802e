// JSON machine files (docs/formats/machine.md).
#pragma once

#include <string>
#include <string_view>

#include "core/topo/machine.h"

namespace ranktree::io {

// Throws core::Error naming origin and field.
core::topo::Machine read_machine(std::string_view bytes, const std::string& origin);
core::topo::Machine load_machine(const std::string& path);

std::string write_machine(const core::topo::Machine& machine);
// Written completely or not at all.
void save_machine(const std::string& path, const core::topo::Machine& machine);

}  // namespace ranktree::io
