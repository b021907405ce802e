// A part of a trace, as after a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "io/trace_parts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    ranktree::io::TracePart part = ranktree::io::read_trace_part({reinterpret_cast<const char*>(data), size}, "part");
    if (part.records.ranks <= 4096) ranktree::io::to_pattern(std::move(part.records));
  } catch (const ranktree::core::Error&) {  // the only way to refuse
  }
  return 0;
}
