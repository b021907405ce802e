#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>  // IWYU pragma: keep

#include <filesystem>
#include <string>

#include "bind.h"
#include "core/pattern/pattern.h"
#include "io/pattern_file.h"
#include "io/trace_parts.h"

namespace nb = nanobind;

namespace {

// Writes the pattern of a parts folder. Returns what the caller reports to the user.
nb::dict recover(const std::filesystem::path& folder, const std::string& output) {
  const auto [pattern, unread] = ranktree::io::recover_trace(folder);
  ranktree::io::save_pattern(output, pattern, ranktree::io::PatternFormat::kNpz);
  nb::dict found;
  found["ranks"] = pattern.ranks;
  found["complete"] = pattern.metadata.complete;
  found["missing"] = pattern.metadata.missing;
  found["unread"] = unread;
  return found;
}

}  // namespace

void bind_trace(nb::module_& module) {
  module.def(
      "recover_trace", &recover, nb::arg("parts_folder"), nb::arg("output"),
      "Puts the parts that a run left in a folder together and writes them to `output`: a pattern file. Returns "
      "{'ranks', 'complete', 'missing', 'unread'}; `complete` is true when every rank finished, `unread` has a reason "
      "for each part that the system did not give.");
}
