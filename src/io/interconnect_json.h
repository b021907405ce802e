// Networks that are no tree, and fat trees by their arities, as the machine file describes them.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/topo/interconnect.h"
#include "core/topo/machine.h"
#include "io/json_place.h"

namespace ranktree::io {

// The bytes of a file that the machine file names; may throw core::Error.
using FileReader = std::function<std::string(const std::string& name)>;

// What "network" says beside its hosts, of which there are so many. Nothing for "fat-tree". Throws core::Error naming
// the field. Memory is bounded by the file's size and the number of hosts.
std::optional<core::topo::Interconnect> read_interconnect(const JsonPlace& network, int hosts, const FileReader& read);

// Puts the hosts of a fat tree below switches, "arities" of them at each level.
core::topo::NetworkPart read_fat_tree(const JsonPlace& network, core::topo::NetworkPart part);

// A text of numbers parted by blanks and line ends, `count` in all; from `#` on, a line is a comment. Throws
// core::Error(kInput) naming origin and line.
std::vector<double> read_distances(std::string_view bytes, const std::string& origin, std::size_t count);

// Adds to the JSON of a network what read_interconnect() reads.
void write_interconnect(const core::topo::Interconnect& interconnect, nlohmann::json& network);

}  // namespace ranktree::io
