// Arbitrary machine files, and the trees made from them; accepted ones must be writable, and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/machine_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text;
  try {
    const auto machine = ranktree::io::read_machine({reinterpret_cast<const char*>(data), size}, "machine");
    (void)ranktree::core::topo::to_tree(machine);
    text = ranktree::io::write_machine(machine);
  } catch (const ranktree::core::Error&) {  // the only way to refuse
    return 0;
  }
  if (ranktree::io::write_machine(ranktree::io::read_machine(text, "again")) != text) std::abort();
  return 0;
}
