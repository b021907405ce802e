// JSON machine files (docs/reference/formats/machine.md).
#pragma once

#include <string>
#include <string_view>

#include "core/topo/machine.h"
#include "io/interconnect_json.h"

namespace ranktree::io {

// Throws core::Error naming origin and field. `read` loads a file of distances that the machine file names; without it,
// such a file is refused.
core::topo::Machine read_machine(std::string_view bytes, const std::string& origin, const FileReader& read = {});
// Looks for files of distances in the same folder.
core::topo::Machine load_machine(const std::string& path);

std::string write_machine(const core::topo::Machine& machine);
// The file appears complete or not at all.
void save_machine(const std::string& path, const core::topo::Machine& machine);

}  // namespace ranktree::io
