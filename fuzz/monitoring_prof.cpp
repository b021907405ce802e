// Open MPI's monitoring: the input is the files of ranks 0, 1, ... separated by zero bytes, or one file with all of
// them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "must.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<ranktree::io::MonitoringFile> files;
  if (rest.find('\0') == std::string_view::npos) files.push_back({"all.prof", {}, std::string(rest)});
  while (rest.find('\0') != std::string_view::npos) {
    const std::size_t end = rest.find('\0');
    const auto rank = static_cast<ranktree::core::pattern::Rank>(files.size());
    files.push_back({"f.prof", rank, std::string(rest.substr(0, end))});
    rest.remove_prefix(end + 1);
  }
  try {
    ranktree::io::Warnings warnings;
    const ranktree::core::pattern::Pattern pattern = ranktree::io::read_monitoring(files, warnings);
    must([&] { ranktree::core::pattern::validate(pattern, "prof"); });
    (void)ranktree::io::write_monitoring(pattern, warnings);
  } catch (const ranktree::core::Error&) {  // the only way to refuse
  }
  return 0;
}
