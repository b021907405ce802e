// A file of switches in any of its formats, and queries on it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "io/network.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view address = bytes.substr(size / 2);
  const std::string_view node = address.substr(address.rfind('.') + 1);
  (void)ranktree::io::switches_of_address(address, bytes.substr(0, size / 2), node);
  try {
    const auto network = ranktree::io::read_network(bytes, "network");
    (void)ranktree::io::switches_above(network, "n0");
  } catch (const ranktree::core::Error&) {  // the required result for bad input
  }
  return 0;
}
