// Arbitrary files of rules; accepted ones must be writable, and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "io/rules_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text;
  try {
    text = ranktree::io::write_rules(ranktree::io::read_rules({reinterpret_cast<const char*>(data), size}, "rules"));
  } catch (const ranktree::core::Error&) {  // the only way to refuse
    return 0;
  }
  if (ranktree::io::write_rules(ranktree::io::read_rules(text, "again")) != text) std::abort();
  return 0;
}
