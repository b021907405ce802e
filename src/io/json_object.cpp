#include "io/json_object.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json_place.h"

namespace ranktree::io {
namespace {

constexpr int kMostDepth = 64;

std::string on_one_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string json_text(std::string_view value) { return on_one_line(value); }
std::string json_text(int value) { return on_one_line(value); }
std::string json_text(std::int64_t value) { return on_one_line(value); }
std::string json_text(double value) { return on_one_line(value); }
std::string json_text(const std::vector<int>& value) { return on_one_line(value); }
std::string json_text(const std::vector<std::vector<int>>& value) { return on_one_line(value); }
std::string json_text(const std::vector<std::string>& value) { return on_one_line(value); }
std::string json_text(const std::vector<std::pair<std::string, std::int64_t>>& value) { return on_one_line(value); }

std::string json_list(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ",") + value;
  return "[" + list + "]";
}

std::string json_line(std::string_view json) { return on_one_line(parse_json(json, "JSON", kMostDepth)); }

JsonObject& JsonObject::add_json(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_.append(json_text(name)).append(":").append(value);
  return *this;
}

}  // namespace ranktree::io
