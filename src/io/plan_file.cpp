#include "io/plan_file.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/place/plan.h"
#include "core/topo/machine.h"
#include "io/file.h"
#include "io/json_place.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;
using core::place::CostRow;
using core::place::Plan;
using core::place::Slot;
using nlohmann::json;

constexpr std::string_view kPlanFormat = "ranktree-plan";
constexpr std::int64_t kPlanVersion = 1;
constexpr std::int64_t kPlanMaxRanks = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxPu = 1048575;  // no kernel numbers its processors higher; bounds bitmaps made later
constexpr int kPlanMaxDepth = 4;          // the file's objects nest no deeper: a hostile one is refused early

[[noreturn]] void fail(const std::string& origin, const std::string& text, Fault fault = Fault::kInput) {
  throw Error(fault, origin + ": " + text);
}

void read_levels(const JsonPlace& levels, Plan& plan) {
  if (levels.size() == 0) levels.expected("at least one level");
  for (std::size_t i = 0; i < levels.size(); ++i) {
    plan.levels.push_back(levels.item(i).field("kind").text());
    plan.level_costs.push_back(levels.item(i).field("cost").amount());
  }
}

// A machine without a Node level has no hosts, or one without a name.
void read_hosts(const JsonPlace& hosts, Plan& plan) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const JsonPlace name = hosts.item(i).field("name");
    const std::string text = name.text();
    const bool nameless = text.empty() && hosts.size() == 1;
    if (!nameless && !core::topo::is_host_name(text)) name.expected("a host name");
    if (!known.insert(text).second) name.mismatch("host '" + text + "' is listed twice");
    plan.hosts.push_back(text);
    plan.pus_per_host.push_back(static_cast<int>(hosts.item(i).field("pus").integer(1, kPlanMaxRanks)));
  }
}

Slot read_slot(const JsonPlace& place) {
  Slot slot{place.field("host").text(), {}};
  const JsonPlace pus = place.field("pus");
  if (pus.size() == 0) pus.expected("at least one PU");
  for (std::size_t i = 0; i < pus.size(); ++i) {
    const auto number = static_cast<int>(pus.item(i).integer(0, kMaxPu));
    if (!slot.pus.empty() && number <= slot.pus.back()) pus.item(i).expected("PUs in ascending order, each once");
    slot.pus.push_back(number);
  }
  return slot;
}

// Every slot is on a host of the machine, and a host has as many PUs as its slots use.
void read_slots(const JsonPlace& slots, Plan& plan) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) index.emplace(plan.hosts[i], i);
  std::vector<std::set<int>> used(plan.hosts.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot slot = read_slot(slots.item(i));
    const auto host = index.find(slot.host);
    if (host == index.end() && !(plan.hosts.empty() && slot.host.empty())) {
      slots.item(i).field("host").mismatch("host '" + slot.host + "' is not one of the machine's hosts");
    }
    if (host != index.end()) {
      std::set<int>& pus = used[host->second];
      pus.insert(slot.pus.begin(), slot.pus.end());
      if (pus.size() > static_cast<std::size_t>(plan.pus_per_host[host->second])) {
        slots.item(i).mismatch("host '" + slot.host + "' has " + std::to_string(plan.pus_per_host[host->second]) +
                               " PUs, the slots up to this one use " + std::to_string(pus.size()));
      }
    }
    plan.slots.push_back(std::move(slot));
  }
}

void read_costs(const JsonPlace& costs, Plan& plan) {
  for (std::size_t i = 0; i < costs.size(); ++i) {
    CostRow row{costs.item(i).field("placement").text(), {}, costs.item(i).field("total").amount()};
    const JsonPlace weight = costs.item(i).field("weight");
    if (weight.size() != plan.levels.size()) {
      weight.mismatch("expected one number for each level (" + std::to_string(plan.levels.size()) + "), found " +
                      std::to_string(weight.size()));
    }
    for (std::size_t level = 0; level < weight.size(); ++level) row.weight.push_back(weight.item(level).amount());
    plan.costs.push_back(std::move(row));
  }
}

// Whatever read_plan() requires of the document also holds for the plan.
Plan plan_from(const json& document, const std::string& origin) {
  const JsonPlace root(document, "", origin);
  Plan plan;
  root.check_format(kPlanFormat, kPlanVersion);
  const JsonPlace ranks = root.field("ranks");
  const std::int64_t count = ranks.integer(1, kPlanMaxRanks);
  plan.algorithm = root.field("algorithm").text();
  plan.metric = root.field("metric").text();
  plan.seed = root.field("seed").unsigned_integer();
  plan.gain = root.field("gain").truth();
  if (root.has("bound")) plan.bound = root.field("bound").amount();
  if (root.has("described")) plan.described = root.field("described").truth();
  read_levels(root.field("levels"), plan);
  read_hosts(root.field("hosts"), plan);
  const JsonPlace slots = root.field("slots");
  if (slots.size() != static_cast<std::size_t>(count)) {
    ranks.mismatch("expected as many as there are slots (" + std::to_string(slots.size()) + "), found " +
                   std::to_string(count));
  }
  read_slots(slots, plan);
  read_costs(root.field("costs"), plan);
  return plan;
}

json header_of(const Plan& plan) {
  json document = {{"format", kPlanFormat}, {"version", kPlanVersion}, {"ranks", plan.slots.size()},
                   {"metric", plan.metric}, {"seed", plan.seed},       {"algorithm", plan.algorithm},
                   {"gain", plan.gain}};
  if (plan.described) document["described"] = true;
  if (plan.bound) document["bound"] = *plan.bound;
  return document;
}

template <typename Item>
json list_of(std::size_t size, Item item) {
  json list = json::array();
  for (std::size_t i = 0; i < size; ++i) list.push_back(item(i));
  return list;
}

// Each item on its own line.
std::string lines_of(const std::string& name, const json& list) {
  std::string text = " \"" + name + "\": [";
  for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + list[i].dump();
  return text + "\n ]";
}

}  // namespace

std::string write_plan(const Plan& plan) {
  const std::string origin = "plan";
  if (plan.levels.size() != plan.level_costs.size() || plan.hosts.size() != plan.pus_per_host.size()) {
    fail(origin, "expected one cost for each level and one number of PUs for each host");
  }
  json document = header_of(plan);
  const auto level = [&](std::size_t i) { return json{{"kind", plan.levels[i]}, {"cost", plan.level_costs[i]}}; };
  const auto host = [&](std::size_t i) { return json{{"name", plan.hosts[i]}, {"pus", plan.pus_per_host[i]}}; };
  const auto slot = [&](std::size_t i) { return json{{"host", plan.slots[i].host}, {"pus", plan.slots[i].pus}}; };
  const auto cost = [&](std::size_t i) {
    const CostRow& row = plan.costs[i];
    return json{{"placement", row.placement}, {"weight", row.weight}, {"total", row.total}};
  };
  const std::vector<std::pair<std::string, json>> lists = {{"levels", list_of(plan.levels.size(), level)},
                                                           {"hosts", list_of(plan.hosts.size(), host)},
                                                           {"costs", list_of(plan.costs.size(), cost)},
                                                           {"slots", list_of(plan.slots.size(), slot)}};
  std::string text = "{\n";
  for (const auto& [key, value] : document.items()) text += " \"" + key + "\": " + value.dump() + ",\n";
  for (const auto& [name, list] : lists) {
    text += lines_of(name, list) + (name == lists.back().first ? "\n" : ",\n");
    document[name] = list;
  }
  plan_from(document, origin);
  return text + "}\n";
}

Plan read_plan(std::string_view bytes, const std::string& origin) {
  return plan_from(parse_json(bytes, origin, kPlanMaxDepth), origin);
}

void save_plan(const std::string& path, const Plan& plan) { write_file_atomically(path, write_plan(plan)); }

Plan load_plan(const std::string& path) { return read_plan(read_file(path), path); }

}  // namespace ranktree::io
