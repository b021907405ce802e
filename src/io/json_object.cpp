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

std::string on_one_line(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

template <typename Value>
std::string json_text(const Value& value) {
  return on_one_line(value);
}
template std::string json_text(const std::string&);
template std::string json_text(const int&);
template std::string json_text(const std::int64_t&);
template std::string json_text(const double&);
template std::string json_text(const std::vector<int>&);
template std::string json_text(const std::vector<std::vector<int>>&);
template std::string json_text(const std::vector<std::string>&);
template std::string json_text(const std::vector<std::pair<std::string, std::int64_t>>&);

std::string json_list(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ",") + value;
  return "[" + list + "]";
}

std::string json_line(std::string_view json) { return on_one_line(parse_json(json, "JSON", kMostDepth)); }

JsonObject& JsonObject::add_json(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_.append(json_text(std::string(name))).append(":").append(value);
  return *this;
}

}  // namespace ranktree::io
