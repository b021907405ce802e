// Writes JSON on one line, for programs that need no more of JSON than that: its library takes seconds to compile, and
// every MPI has programs of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ranktree::io {

// The value in JSON, all of it ASCII; bytes that are no UTF-8 become U+FFFD. Value: one of those that
// json_object.cpp lists.
template <typename Value>
std::string json_text(const Value& value);

// A list of values that are JSON already.
std::string json_list(const std::vector<std::string>& values);

// JSON of several lines, on one, members sorted by name. Throws core::Error(kInput) where parse_json() does.
std::string json_line(std::string_view json);

// An object, member by member in the order of the calls.
class JsonObject {
 public:
  template <typename Value>
  JsonObject& add(std::string_view name, const Value& value) {
    return add_json(name, json_text(value));
  }

  // The value is JSON already.
  JsonObject& add_json(std::string_view name, std::string_view value);

  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace ranktree::io
