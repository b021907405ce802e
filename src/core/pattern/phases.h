// Phases of a pattern, made of entries and turned into them.
#pragma once

#include <string>
#include <vector>

#include "core/pattern/pattern.h"

namespace ranktree::core::pattern {

// The traffic of one of its phases; classes are not known.
std::vector<Entry> entries_of(const Pattern& pattern, const Phase& phase);

// A phase with that traffic: entries in any order, equal pairs are added, those of pairs that the pattern lacks are
// dropped. O(entries log entries + ranks).
Phase make_phase(const Pattern& pattern, std::string name, double count, std::vector<Entry> entries);

// Keeps the phases with the most bytes, of those with as many the most messages, up to kMostPhases. Their order stays.
void limit_phases(std::vector<Phase>& phases);

}  // namespace ranktree::core::pattern
