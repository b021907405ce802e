// Reads what a run left behind when it did not come to its end: the parts folder of the preload library.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/pattern/pattern.h"
#include "io/trace_records.h"

namespace ranktree::io {

// One part (docs/formats/trace-parts.md).
struct TracePart {
  core::pattern::Rank rank = 0;
  bool finished = false;  // its rank came through MPI_Finalize
  TraceRecords records;
};

// Throws Error(kInput) naming `origin` and the byte when the part is not one or is damaged. A last log record that was
// cut off while it was written is left out.
TracePart read_trace_part(std::string_view bytes, const std::string& origin);

// The pattern of every part in `folder`. Ranks without a readable part are listed in metadata.missing;
// metadata.complete only when no rank is missing and all came through MPI_Finalize. Throws Error(kSystem) when there is
// no such folder, Error(kInput) when no part in it can be read or two parts are of runs of different size.
core::pattern::Pattern recover_trace(const std::filesystem::path& folder);

}  // namespace ranktree::io
