#include "io/simulation_report.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "core/simulate/level_costs.h"
#include "core/simulate/network_links.h"
#include "core/simulate/platform.h"
#include "core/simulate/traffic.h"
#include "core/topo/kind.h"
#include "io/file.h"

namespace ranktree::io {
namespace {

using core::simulate::LinkLoad;
using core::simulate::Platform;
using core::simulate::Traffic;
using nlohmann::json;

json levels_json(const Platform& platform, const Traffic& traffic) {
  json levels = json::array();
  for (std::size_t i = 0; i < traffic.levels().size(); ++i) {
    const auto kind = platform.tree().level(static_cast<int>(i)).kind;
    json entry = {{"level", core::topo::kind_name(kind)},
                  {"messages", traffic.levels()[i].messages},
                  {"bytes", traffic.levels()[i].bytes}};
    const bool by_distance = platform.has_distances() && kind < core::topo::Kind::kNode;
    if (i < platform.costs().size()) {
      const core::simulate::LevelCost& cost = platform.costs()[i];
      entry["latency_given"] = cost.latency_given;
      entry["bandwidth_given"] = cost.bandwidth_given;
      if (!by_distance) {
        entry["latency_s"] = cost.latency;
        entry["bandwidth_bytes_per_s"] = cost.bandwidth;
      }
    }
    levels.push_back(std::move(entry));
  }
  return levels;
}

json link_json(const Platform& platform, const std::optional<LinkLoad>& load) {
  if (!load) return nullptr;
  return {{"name", platform.link_name(load->link)},
          {"bytes", load->bytes},
          {"busy_s", load->seconds},
          {"bandwidth_bytes_per_s", platform.bandwidth(load->link)}};
}

// Number, name, bytes and bandwidth of each link that was used.
json links_json(const Platform& platform, const Traffic& traffic) {
  json links = json::array();
  for (core::simulate::LinkId link = 0; link < platform.link_count(); ++link) {
    if (traffic.bytes_over(link) == 0) continue;
    links.push_back({link, platform.link_name(link), traffic.bytes_over(link), platform.bandwidth(link)});
  }
  return links;
}

}  // namespace

std::string write_simulation_report(const SimulationReport& report) {
  const json document = {{"format", "ranktree-simulation"},
                         {"version", 1},
                         {"simulated_s", report.seconds},
                         {"ranks", report.ranks},
                         {"aborted_ranks", report.aborted_ranks},
                         {"peak_bytes", report.peak_bytes},
                         {"levels", levels_json(*report.platform, *report.traffic)},
                         {"most_loaded_link", link_json(*report.platform, report.traffic->most_loaded())},
                         {"links", links_json(*report.platform, *report.traffic)}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

void save_simulation_report(const std::string& path, const SimulationReport& report) {
  write_file_atomically(path, write_simulation_report(report));
}

}  // namespace ranktree::io
