// Reads the parts that the preload library left behind when a run did not complete.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/pattern.h"
#include "io/trace_records.h"

namespace ranktree::io {

// One part (docs/reference/formats/trace-parts.md).
struct TracePart {
  core::pattern::Rank rank = 0;
  bool finished = false;  // its rank completed MPI_Finalize
  TraceRecords records;
};

// Throws Error(kInput) naming `origin` and the byte when the part is damaged or the file is not a part. Ignores an
// incomplete last log record.
TracePart read_trace_part(std::string_view bytes, const std::string& origin);

struct RecoveredTrace {
  core::pattern::Pattern pattern;
  std::vector<std::string> unread;  // why the system did not give a part, one sentence each; a later attempt may
};

// The pattern of all parts in `folder`. metadata.missing lists ranks without a readable part. metadata.complete is set
// only when no rank is missing and all completed MPI_Finalize. Throws Error(kSystem) when there is no such folder,
// Error(kInput) when no part in it can be read or two parts are from runs of different size.
RecoveredTrace recover_trace(const std::filesystem::path& folder);

}  // namespace ranktree::io
