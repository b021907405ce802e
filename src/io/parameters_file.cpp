#include "io/parameters_file.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "core/objective/model.h"
#include "core/predict/modelled.h"
#include "core/predict/parameters.h"
#include "io/file.h"
#include "io/json_place.h"

namespace ranktree::io {
namespace {

using core::predict::LevelParameters;
using core::predict::Parameters;
using nlohmann::json;

constexpr std::string_view kParametersFormat = "ranktree-parameters";
constexpr std::int64_t kParametersVersion = 1;
constexpr std::int64_t kParametersMaxRanks = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxLevels = 64;
constexpr int kParametersMaxDepth = 3;

LevelParameters read_level(const JsonPlace& place) {
  const auto amount = [&place](const char* name) { return place.has(name) ? place.field(name).amount() : 0.0; };
  LevelParameters level{.name = place.field("name").text(),
                        .latency = place.field("latency_s").amount(),
                        .per_byte = place.field("s_per_byte").amount(),
                        .overhead_send = amount("overhead_send_s"),
                        .overhead_receive = amount("overhead_receive_s"),
                        .gap = amount("gap_s")};
  if (level.name.empty()) place.field("name").expected("a name");
  return level;
}

// Levels stand from the outside in; the level "node" may occur once.
void read_levels(const JsonPlace& levels, Parameters& parameters) {
  if (levels.size() == 0 || levels.size() > kMaxLevels) {
    levels.expected("1 to " + std::to_string(kMaxLevels) + " levels");
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelParameters level = read_level(levels.item(i));
    for (const LevelParameters& other : parameters.levels) {
      if (other.name == level.name) levels.item(i).field("name").expected("a name of its own");
    }
    parameters.levels.push_back(level);
  }
}

MeasuredParameters parameters_from(const json& document, const std::string& origin) {
  const JsonPlace root(document, "", origin);
  root.check_format(kParametersFormat, kParametersVersion);
  MeasuredParameters measured;
  const auto text = [&root](const char* name) { return root.has(name) ? root.field(name).text() : std::string(); };
  const auto count = [&root](const char* name) {
    return root.has(name) ? static_cast<int>(root.field(name).integer(1, kParametersMaxRanks)) : 1;
  };
  const auto amount = [&root](const char* name) { return root.has(name) ? root.field(name).amount() : 0.0; };
  measured.machine = text("machine");
  measured.mpi = text("mpi");
  measured.ranks = count("ranks");
  measured.nodes = count("nodes");
  measured.ranks_of_node = count("ranks_of_node");
  measured.pus_of_rank = count("pus_of_rank");
  read_levels(root.field("levels"), measured.parameters);
  measured.parameters.reduce_per_byte = root.field("reduce_s_per_byte").amount();
  measured.parameters.copy_per_byte = root.field("copy_s_per_byte").amount();
  if (root.has("node_port")) measured.parameters.node_port = root.field("node_port").truth();
  measured.parameters.shared_latency = amount("shared_latency_s");
  measured.parameters.shared_per_byte = amount("shared_s_per_byte");
  return measured;
}

json json_of(const LevelParameters& level) {
  return {{"name", level.name},
          {"latency_s", level.latency},
          {"s_per_byte", level.per_byte},
          {"overhead_send_s", level.overhead_send},
          {"overhead_receive_s", level.overhead_receive},
          {"gap_s", level.gap}};
}

}  // namespace

std::string write_parameters(const MeasuredParameters& measured) {
  const Parameters& parameters = measured.parameters;
  json document = {{"format", kParametersFormat},
                   {"version", kParametersVersion},
                   {"machine", measured.machine},
                   {"mpi", measured.mpi},
                   {"ranks", measured.ranks},
                   {"nodes", measured.nodes},
                   {"ranks_of_node", measured.ranks_of_node},
                   {"pus_of_rank", measured.pus_of_rank},
                   {"reduce_s_per_byte", parameters.reduce_per_byte},
                   {"copy_s_per_byte", parameters.copy_per_byte},
                   {"node_port", parameters.node_port},
                   {"shared_latency_s", parameters.shared_latency},
                   {"shared_s_per_byte", parameters.shared_per_byte},
                   {"levels", json::array()}};
  for (const LevelParameters& level : parameters.levels) document["levels"].push_back(json_of(level));
  parameters_from(document, "parameters");
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

MeasuredParameters read_parameters(std::string_view bytes, const std::string& origin) {
  return parameters_from(parse_json(bytes, origin, kParametersMaxDepth), origin);
}

std::string source_text(const core::predict::Modelled& machine, const std::string& path,
                        const MeasuredParameters& measured) {
  using core::predict::LinkSource;
  if (machine.source == LinkSource::kMachine) {
    std::string text = "the machine's latency and bandwidth";
    for (std::size_t i = 0; i < machine.usual.size(); ++i)
      text += (i > 0 ? ", " : "; usual ones on ") + machine.usual[i];
    return text;
  }
  if (machine.source == LinkSource::kUsual) return "usual ones, nothing was measured";
  std::string text = path;
  if (measured.ranks > 1) {
    text += ", " + std::to_string(measured.ranks) + " ranks on " + std::to_string(measured.nodes) + " node(s)";
  }
  if (!measured.mpi.empty()) text += ", " + measured.mpi;
  if (!measured.machine.empty()) text += ", from " + measured.machine + " on";
  const auto& levels = measured.parameters.levels;
  const int across = core::predict::levels_across_nodes(measured.parameters);
  const auto inside = static_cast<int>(machine.parameters.levels.size()) - machine.across;
  if (machine.across > 0 && across == 0) text += "; between nodes, where it measured nothing, usual ones";
  if (inside > 0 && std::cmp_equal(across, levels.size())) {
    text += "; inside nodes, where it measured nothing, usual ones";
  }
  return text;
}

void save_parameters(const std::string& path, const MeasuredParameters& measured) {
  write_file_atomically(path, write_parameters(measured));
}

MeasuredParameters load_parameters(const std::string& path) { return read_parameters(read_file(path), path); }

core::predict::Parameters parameters_named(const std::string& class_or_path) {
  auto usual = core::objective::parameters_of_class(class_or_path);
  return usual ? *std::move(usual) : load_parameters(class_or_path).parameters;
}

}  // namespace ranktree::io
