// What runs have found out about collectives, kept between runs: specified in docs/explanation/run-time-selection.md.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace ranktree::io {

// A file: a line with format and version, then a line each, "PLACE|KIND|VARIANT". A place is a shape of communicator,
// a kind one of its kinds of calls.
//
//   ranktree decisions 1
//   4 ranks on 1 node, Core, 2 CPUs|allreduce 1K-2K|shared:flat
using Decisions = std::map<std::string, std::string>;  // from "PLACE|KIND" to the variant

inline constexpr std::size_t kMostDecisions = 4096;  // of a file
inline constexpr std::size_t kMostDecisionBytes = 1U << 20U;

// Throws Error(kInput), naming `origin`, line and reason, where the bytes are no such file or too large.
Decisions read_decisions(std::string_view bytes, const std::string& origin);

// The newer ones first, as many as fit.
std::string write_decisions(const Decisions& newer, const Decisions& older);

// Nothing where there is no such file. Throws Error(kInput, kSystem).
Decisions load_decisions(const std::string& path);

// Adds to what the file has; a file that cannot be read is replaced. Makes the folder where there is none. Safe for
// many processes at once: each sees whole files. Of two that save at the same moment, one may lose its additions.
// Throws Error(kSystem).
void save_decisions(const std::string& path, const Decisions& newer);

}  // namespace ranktree::io
