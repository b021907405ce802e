// The info keys of the split calls, as include/ranktree/mpi.h documents them.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/split/summary.h"
#include "hw/node_here.h"

namespace ranktree::mpi {

struct SplitOptions {
  core::split::Leftover leftover = core::split::Leftover::kNull;
  std::optional<hw::NodeIdentity> node_identity;  // nothing: by MPI_COMM_TYPE_SHARED
  std::string network = "auto";
  bool operator==(const SplitOptions&) const = default;
};

// Throws core::Error(kInput), naming key, expected and found values; MpiError.
SplitOptions read_split_options(MPI_Info info);

// What call it is, with its one number that must be the same everywhere.
struct Call {
  std::string_view name;
  int number = 0;
};

// A hash of what must agree over the ranks, never 0.
std::uint64_t fingerprint(const SplitOptions& options, Call call);

// The value of a key, nothing when it is not there. MPI_INFO_NULL has no keys.
std::optional<std::string> info_value(MPI_Info info, const char* key);

// Words that stand for a choice, as info keys have them.
template <typename Value>
using Word = std::pair<std::string_view, Value>;

// Throws core::Error(kInput), naming key, expected and found words.
template <typename Value, std::size_t size>
Value choose(const char* key, const std::string& word, const std::array<Word<Value>, size>& words) {
  std::string expected;
  for (const auto& [name, value] : words) {
    if (name == word) return value;
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  }
  throw core::Error(core::Fault::kInput,
                    "info key " + std::string(key) + ": expected one of " + expected + ", found '" + word + "'");
}

}  // namespace ranktree::mpi
