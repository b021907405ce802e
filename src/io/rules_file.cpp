#include "io/rules_file.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/predict/choice.h"
#include "core/predict/rules.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "io/file.h"
#include "io/json_place.h"

namespace ranktree::io {
namespace {

using core::predict::Interval;
using core::predict::Rule;
using core::predict::Rules;
using nlohmann::json;

constexpr std::string_view kRulesFormat = "ranktree-rules";
constexpr std::int64_t kRulesVersion = 1;
constexpr int kRulesMaxDepth = 4;

// [first, last], or [first] without an upper bound; without the field, everything.
template <class Number>
Interval<Number> read_interval(const JsonPlace& rule, const char* name) {
  Interval<Number> interval;
  if (!rule.has(name)) return interval;
  const JsonPlace place = rule.field(name);
  if (place.size() < 1 || place.size() > 2) place.expected("one number or two");
  constexpr auto kMost = std::numeric_limits<Number>::max();
  interval.first = static_cast<Number>(place.item(0).integer(0, kMost));
  if (place.size() > 1) interval.last = static_cast<Number>(place.item(1).integer(0, kMost));
  if (interval.last < interval.first) place.expected("the smaller number first");
  return interval;
}

Rule read_rule(const JsonPlace& place) {
  const JsonPlace name = place.field("collective");
  const auto collective = core::schedule::collective_from_name(name.text());
  if (!collective) name.expected("the name of a collective");
  Rule rule{.collective = *collective,
            .ranks = read_interval<core::schedule::Rank>(place, "ranks"),
            .nodes = read_interval<core::schedule::Rank>(place, "nodes"),
            .bytes = read_interval<std::int64_t>(place, "bytes"),
            .choice = {}};
  const JsonPlace choice = place.field("choice");
  const std::string text = choice.text();
  try {
    rule.choice = core::predict::choice_from_text(text, *collective);
  } catch (const core::Error& error) {
    choice.expected("a choice (" + std::string(error.what()) + ")");
  }
  return rule;
}

Rules rules_from(const json& document, const std::string& origin) {
  const JsonPlace root(document, "", origin);
  root.check_format(kRulesFormat, kRulesVersion);
  Rules rules;
  if (root.has("mpi")) rules.mpi = root.field("mpi").text();
  if (root.has("machine")) rules.machine = root.field("machine").text();
  const JsonPlace list = root.field("rules");
  for (std::size_t i = 0; i < list.size(); ++i) rules.rules.push_back(read_rule(list.item(i)));
  return rules;
}

template <class Number>
void add_interval(json& rule, const char* name, const Interval<Number>& interval) {
  if (interval == Interval<Number>()) return;
  rule[name] = {interval.first};
  if (interval.last != std::numeric_limits<Number>::max()) rule[name].push_back(interval.last);
}

json json_of(const Rule& rule) {
  json object = {{"collective", core::schedule::collective_name(rule.collective)},
                 {"choice", core::predict::to_text(rule.choice)}};
  add_interval(object, "ranks", rule.ranks);
  add_interval(object, "nodes", rule.nodes);
  add_interval(object, "bytes", rule.bytes);
  return object;
}

}  // namespace

// Writes one line for each rule.
std::string write_rules(const Rules& rules) {
  const auto quoted = [](const std::string& text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::string text = "{\n \"format\": \"" + std::string(kRulesFormat) +
                     "\",\n \"version\": " + std::to_string(kRulesVersion) + ",\n \"mpi\": " + quoted(rules.mpi) +
                     ",\n \"machine\": " + quoted(rules.machine) + ",\n \"rules\": [";
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + json_of(rules.rules[i]).dump();
  }
  text += rules.rules.empty() ? "]\n}\n" : "\n ]\n}\n";
  read_rules(text, "rules");
  return text;
}

Rules read_rules(std::string_view bytes, const std::string& origin) {
  return rules_from(parse_json(bytes, origin, kRulesMaxDepth), origin);
}

void save_rules(const std::string& path, const Rules& rules) { write_file_atomically(path, write_rules(rules)); }

}  // namespace ranktree::io
