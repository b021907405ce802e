// Networks that are not trees, and fat trees by their arities, as the machine file describes them.
#pragma once

#include <cstddef>
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

// Reads the fields of "network" other than its hosts, of which there are `hosts`. Returns nothing for "fat-tree".
// Throws core::Error naming the field. Memory is bounded by the file's size and the number of hosts.
std::optional<core::topo::Interconnect> read_interconnect(const JsonPlace& network, int hosts, const FileReader& read);

// Puts the hosts of a fat tree below switches, with the given "arities" on each level.
core::topo::NetworkPart read_fat_tree(const JsonPlace& network, core::topo::NetworkPart part);

// A text of `count` numbers separated by blanks and line ends; a `#` begins a comment. Throws
// core::Error(kInput) naming origin and line.
std::vector<double> read_distances(std::string_view bytes, const std::string& origin, std::size_t count);

// "uplinks" of a network of switches with so many levels of them: one object for all, or a list, one a level.
std::vector<core::topo::Uplinks> read_uplinks(const JsonPlace& place, std::size_t levels);
// Adds to the JSON of a network what read_uplinks() reads.
void write_uplinks(const std::vector<core::topo::Uplinks>& uplinks, nlohmann::json& network);

// Adds the fields that read_interconnect() reads to the JSON of a network.
void write_interconnect(const core::topo::Interconnect& interconnect, nlohmann::json& network);

}  // namespace ranktree::io
