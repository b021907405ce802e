// The readers behind read_network, one for each format.
#pragma once

#include <string>
#include <string_view>

#include "core/topo/machine.h"

namespace ranktree::io {

core::topo::NetworkPart read_slurm_topology(std::string_view bytes, const std::string& origin);
core::topo::NetworkPart read_slurm_yaml(std::string_view bytes, const std::string& origin);
core::topo::NetworkPart read_ibnetdiscover(std::string_view bytes, const std::string& origin);

// Whether a line begins a device in ibnetdiscover's output: Switch, Ca or Rt, a number of ports, an id in quotes.
bool begins_device(std::string_view line);

}  // namespace ranktree::io
