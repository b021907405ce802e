// Arbitrary machine files, and the trees made from them; accepted ones must be writable, and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/machine_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ranktree::core::topo::Machine machine;
  try {
    machine = ranktree::io::read_machine({reinterpret_cast<const char*>(data), size}, "machine");
    (void)ranktree::core::topo::to_tree(machine);
  } catch (const ranktree::core::Error&) {  // the only way to refuse
    return 0;
  }
  const std::string text = ranktree::io::write_machine(machine);
  if (ranktree::io::write_machine(ranktree::io::read_machine(text, "again")) != text) std::abort();
  return 0;
}
