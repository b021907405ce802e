// The kind of level that a misspelt word probably means.
#pragma once

#include <string_view>

namespace ranktree::core::topo {

// The name of the kind (kind_name) with the least edit distance from the word in any letter case, the outermost of
// several; empty when more than half of the word would have to change. O(kinds x length^2).
std::string_view nearest_kind(std::string_view word);

}  // namespace ranktree::core::topo
