// Arbitrary plans; accepted ones must be writable, and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/place/plan.h"
#include "io/plan_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ranktree::core::place::Plan plan;
  try {
    plan = ranktree::io::read_plan({reinterpret_cast<const char*>(data), size}, "plan");
  } catch (const ranktree::core::Error&) {  // the only way to refuse
    return 0;
  }
  const std::string text = ranktree::io::write_plan(plan);
  if (ranktree::io::write_plan(ranktree::io::read_plan(text, "again")) != text) std::abort();
  return 0;
}
