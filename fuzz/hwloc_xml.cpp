// An hwloc XML file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "hw/hwloc_node.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    (void)ranktree::hw::read_hwloc_xml(bytes, "input.xml");
  } catch (const ranktree::core::Error&) {  // the required result for bad input
  }
  return 0;
}

// hwloc and its XML plugin leak memory on some refused inputs, which is not tested here.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
