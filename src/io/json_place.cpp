#include "io/json_place.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;
using nlohmann::json;

[[noreturn]] void fail(const std::string& origin, const std::string& text, Fault fault = Fault::kInput) {
  throw Error(fault, origin + ": " + text);
}

// A value as one line of an error shows it.
std::string shown(const json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::size_t line_at(std::string_view bytes, std::size_t position) {
  const std::string_view before = bytes.substr(0, std::min(position, bytes.size()));
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

// Finds what the JSON library accepts silently. A separate pass, because its parser with a callback searches the
// enclosing list at the end of every object, which takes quadratic time. The parser reports errors of the grammar.
class StrictCheck : public nlohmann::json_sax<json> {
 public:
  StrictCheck(const std::string& origin, int max_depth) : origin_(&origin), max_depth_(max_depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return open();
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) fail(*origin_, "field " + shown(name) + " is given twice in one object");
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool open() {
    if (++depth_ <= max_depth_) return true;
    fail(*origin_, "expected at most " + std::to_string(max_depth_) + " levels of nesting, found more");
  }

  const std::string* origin_;
  int max_depth_;
  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the open objects
};

}  // namespace

json parse_json(std::string_view bytes, const std::string& origin, int max_depth) {
  StrictCheck check(origin, max_depth);
  json::sax_parse(bytes.begin(), bytes.end(), &check);
  try {
    return json::parse(bytes.begin(), bytes.end());
  } catch (const json::parse_error& error) {
    const std::string line = std::to_string(line_at(bytes, error.byte == 0 ? 0 : error.byte - 1));
    const bool ended = error.byte > bytes.size();
    fail(origin, "line " + line + ": expected JSON, found " + (ended ? "the end of the file" : "something else") +
                     " at byte " + std::to_string(error.byte));
  } catch (const json::out_of_range&) {  // a number beyond any double
    fail(origin, "expected numbers a double can hold, found a larger one");
  }
}

void JsonPlace::expected(const std::string& what) const {
  fail(*origin_, (name_.empty() ? "" : name_ + ": ") + "expected " + what + ", found " + shown(*value_));
}

void JsonPlace::mismatch(const std::string& text) const { fail(*origin_, name_ + ": " + text, Fault::kMismatch); }

bool JsonPlace::has(const std::string& key) const { return value_->is_object() && value_->contains(key); }

JsonPlace JsonPlace::field(const std::string& key) const {
  if (!value_->is_object()) expected("an object");
  const auto found = value_->find(key);
  const std::string name = name_.empty() ? key : name_ + "." + key;
  if (found == value_->end()) fail(*origin_, name + ": expected this field, found none");
  return {*found, name, *origin_};
}

std::size_t JsonPlace::size() const {
  if (!value_->is_array()) expected("a list");
  return value_->size();
}

JsonPlace JsonPlace::item(std::size_t index) const {
  return {(*value_)[index], name_ + "[" + std::to_string(index) + "]", *origin_};
}

std::string JsonPlace::text() const {
  if (!value_->is_string()) expected("a text");
  return value_->get<std::string>();
}

bool JsonPlace::truth() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}

std::uint64_t JsonPlace::unsigned_integer() const {
  if (!value_->is_number_unsigned()) expected("a whole number that is not negative");
  return value_->get<std::uint64_t>();
}

std::int64_t JsonPlace::integer(std::int64_t lowest, std::int64_t highest) const {
  const std::string range = "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest);
  if (!value_->is_number_integer()) expected(range);
  // An unsigned value above the range of int64 would wrap around.
  const bool huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > static_cast<std::uint64_t>(highest);
  if (huge || value_->get<std::int64_t>() < lowest || value_->get<std::int64_t>() > highest) expected(range);
  return value_->get<std::int64_t>();
}

double JsonPlace::amount() const {
  if (!value_->is_number()) expected("a number that is not negative");
  const auto amount = value_->get<double>();
  if (!std::isfinite(amount) || amount < 0) expected("a number that is not negative");
  return amount;
}

double JsonPlace::cost() const {
  const double cost = amount();
  if (cost > kMaxCost) expected("at most 1e100");
  return cost;
}

void JsonPlace::check_format(std::string_view format, std::int64_t version) const {
  const JsonPlace name = field("format");
  if (name.text() != format) name.expected("\"" + std::string(format) + "\"");
  const JsonPlace number = field("version");
  if (number.integer(0, std::numeric_limits<std::int32_t>::max()) != version) number.expected(std::to_string(version));
}

std::vector<std::string> JsonPlace::keys() const {
  if (!value_->is_object()) expected("an object");
  std::vector<std::string> keys;
  for (const auto& item : value_->items()) keys.push_back(item.key());
  return keys;
}

}  // namespace ranktree::io
