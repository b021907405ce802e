// A JSON machine file, and the tree made from it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/machine_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    (void)ranktree::core::topo::to_tree(ranktree::io::read_machine(bytes, "input.json"));
  } catch (const ranktree::core::Error&) {  // the required result for bad input
  }
  return 0;
}
