// Excludes leaves by the numbers of their PUs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/topo/tree.h"

namespace ranktree::core::topo {

// A copy in which no leaf that owns one of the PUs (operating-system numbers) is allowed: on the node of this name, or
// on every node without a name. Throws Error(kInput), naming the PU, when no leaf there owns it.
Tree forbid(const Tree& tree, std::optional<std::string_view> host, std::span<const int> pus);

}  // namespace ranktree::core::topo
