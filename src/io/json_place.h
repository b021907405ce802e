// Reads JSON files strictly: every error names the file and the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ranktree::io {

// Parses JSON and refuses what the library accepts: a key given twice in one object, and nesting beyond `max_depth`.
// Throws core::Error(kInput) naming the line.
nlohmann::json parse_json(std::string_view bytes, const std::string& origin, int max_depth);

// The highest cost of a step through a machine: costs of whole patterns stay within the range of a double.
inline constexpr double kMaxCost = 1e100;

// A value in a document that knows its own name for error texts. Document and origin must outlive it. All functions
// throw core::Error(kInput) where the value does not have the requested form.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string name, const std::string& origin)
      : value_(&value), name_(std::move(name)), origin_(&origin) {}

  [[noreturn]] void expected(const std::string& what) const;
  [[noreturn]] void mismatch(const std::string& text) const;  // throws core::Error(kMismatch)

  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] JsonPlace field(const std::string& key) const;
  [[nodiscard]] std::size_t size() const;  // of a list
  [[nodiscard]] JsonPlace item(std::size_t index) const;
  [[nodiscard]] bool is_text() const { return value_->is_string(); }
  [[nodiscard]] bool is_list() const { return value_->is_array(); }

  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool truth() const;
  [[nodiscard]] std::uint64_t unsigned_integer() const;
  [[nodiscard]] std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  [[nodiscard]] double amount() const;  // finite, not negative
  [[nodiscard]] double cost() const;    // an amount of at most kMaxCost
  // Of a document: its fields "format" and "version" have these values.
  void check_format(std::string_view format, std::int64_t version) const;
  // The keys of an object, in order.
  [[nodiscard]] std::vector<std::string> keys() const;

 private:
  const nlohmann::json* value_;
  std::string name_;
  const std::string* origin_;
};

}  // namespace ranktree::io
