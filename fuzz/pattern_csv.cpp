// Comma-separated pairs; accepted ones are written again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "core/pattern/pattern.h"
#include "io/pattern_formats.h"
#include "must.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    ranktree::io::Warnings warnings;
    const ranktree::core::pattern::Pattern pattern = ranktree::io::read_pattern_csv(bytes, "csv", warnings);
    must([&] { ranktree::core::pattern::validate(pattern, "pattern"); });
    (void)ranktree::io::write_pattern_csv(pattern, warnings);
  } catch (const ranktree::core::Error&) {  // the only way to refuse
  }
  return 0;
}
