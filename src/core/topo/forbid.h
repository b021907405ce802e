// Places that may not be used, by the numbers of their PUs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/topo/tree.h"

namespace ranktree::core::topo {

// A copy in which no leaf that owns one of the PUs (operating-system numbers) may be used: on the node of this name, or
// without one on every node. Throws Error(kInput), naming the PU, when no leaf there owns it.
Tree forbid(const Tree& tree, std::optional<std::string_view> host, std::span<const int> pus);

}  // namespace ranktree::core::topo
