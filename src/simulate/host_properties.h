// The properties of a simulated host that give its place on the machine.
#pragma once

namespace ranktree::simulate {

inline constexpr const char* kMachine = "machine";  // a machine file
inline constexpr const char* kUnit = "unit";        // the kind of a leaf
inline constexpr const char* kLeaf = "leaf";        // its number

}  // namespace ranktree::simulate
