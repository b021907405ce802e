// Words that stand for a choice, as info keys have them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"

namespace ranktree::mpi {

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
