// The container of arrays, read by every function for its arrays.
#include "io/npz.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace {

void attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (const ranktree::core::Error&) {  // the only way to refuse
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const ranktree::io::NpzReader reader(bytes, "npz");
    for (const std::string name : {"indptr", "indices", "bytes", "metadata", "a"}) {
      attempt([&] { (void)reader.int64s(name, reader.count(name)); });
      attempt([&] { (void)reader.int32s(name, reader.count(name)); });
      attempt([&] { (void)reader.doubles(name, reader.count(name)); });
      attempt([&] { (void)reader.text(name); });
      attempt([&] { (void)reader.same(name, "a"); });
    }
  });
  attempt([&] { (void)ranktree::io::read_npy_header(bytes, size, "npy"); });
  return 0;
}
