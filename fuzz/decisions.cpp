// Arbitrary files of decisions; accepted ones must be writable, and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"
#include "io/decisions_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ranktree::io::Decisions found;
  try {
    found = ranktree::io::read_decisions({reinterpret_cast<const char*>(data), size}, "decisions");
  } catch (const ranktree::core::Error&) {  // the only way to refuse
    return 0;
  }
  if (ranktree::io::read_decisions(ranktree::io::write_decisions(found, {}), "again") != found) std::abort();
  return 0;
}
