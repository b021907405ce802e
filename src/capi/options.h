// Reads what a program passes to the C interface: sized structures, enumerations, and their names on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "capi/guard.h"
#include "core/base/error.h"

namespace ranktree::capi {

// A choice of C, its name on the command line, and what it is in core.
template <typename Choice, typename Value>
struct Named {
  Choice choice;
  std::string_view name;
  Value value;
};

[[noreturn]] inline void refuse(const std::string& option, const std::string& expected, const std::string& found) {
  throw core::Error(core::Fault::kInput, option + ": expected " + expected + ", found " + found);
}

inline void require_count(int count, const std::string& name) {
  if (count < 0) refuse(name, "at least 0", std::to_string(count));
}

// "a, b or c" of a table.
template <typename Table>
std::string names_of(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i > 0) text += i + 1 == table.size() ? " or " : ", ";
    text += "'" + std::string(table[i].name) + "'";
  }
  return text;
}

// The core's value of a choice. Throws Error(kInput) for numbers that the table does not have.
template <typename Table, typename Choice>
auto value_of(const Table& table, const Choice& choice, const std::string& option) {
  for (const auto& row : table) {
    if (number_of(row.choice) == number_of(choice)) return row.value;
  }
  refuse(option, "a choice of its enumeration", std::to_string(number_of(choice)));
}

// The choice of a name. Throws Error(kInput) for names that the table does not have.
template <typename Table>
auto choice_of(const Table& table, const char* name, const std::string& option) {
  require(name, option);
  for (const auto& row : table) {
    if (row.name == name) return row.choice;
  }
  refuse(option, names_of(table), "'" + std::string(name) + "'");
}

// Fills a structure of the caller's size with defaults; an older header's is shorter, a newer header's longer.
template <typename Options>
void write_defaults(Options* options, std::size_t size, Options defaults) {
  defaults.size = size;
  std::memset(static_cast<void*>(options), 0, size);
  std::memcpy(static_cast<void*>(options), &defaults, std::min(size, sizeof(Options)));
}

// A caller's structure of any size over the defaults. Throws Error(kInput) when it was not initialised, or has members
// that this library does not know and that are not zero.
template <typename Options>
Options read_options(const Options* options, Options defaults) {
  if (options == nullptr) return defaults;
  const std::size_t size = options->size;
  if (size < sizeof(std::size_t) || size > 64 * sizeof(Options)) {
    refuse("options.size", "the size that the init function sets", std::to_string(size));
  }
  std::memcpy(static_cast<void*>(&defaults), options, std::min(size, sizeof(Options)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  for (std::size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0) refuse("options", "members that this version has", "one of a newer version");
  }
  defaults.size = sizeof(Options);
  return defaults;
}

}  // namespace ranktree::capi
