// Writes JSON on one line, for programs that need no more of JSON than that: its library takes seconds to compile, and
// every MPI has programs of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ranktree::io {

// The value in JSON, all of it ASCII; bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view value);
std::string json_text(int value);
std::string json_text(std::int64_t value);
std::string json_text(double value);
std::string json_text(const std::vector<int>& value);
std::string json_text(const std::vector<std::vector<int>>& value);
std::string json_text(const std::vector<std::string>& value);
std::string json_text(const std::vector<std::pair<std::string, std::int64_t>>& value);

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
