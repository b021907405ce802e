#include "io/machine_file.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/kind_builder.h"
#include "core/topo/machine.h"
#include "core/topo/tree.h"
#include "io/file.h"
#include "io/interconnect_json.h"
#include "io/json_place.h"

namespace ranktree::io {
namespace {

using core::topo::Host;
using core::topo::is_host_name;
using core::topo::Kind;
using core::topo::LinkCost;
using core::topo::Machine;
using core::topo::NetworkPart;
using core::topo::Object;
using core::topo::Tree;
using nlohmann::json;

constexpr std::string_view kMachineFormat = "ranktree-machine";
constexpr int kMachineMaxDepth = 64;  // switches under switches, objects in objects; each takes two levels of JSON
constexpr std::int64_t kMaxPu = 1'048'575;
constexpr std::int64_t kMaxHosts = 1'048'576;

// ---- reading

Kind kind_at(const JsonPlace& place, const std::string& word) {
  const auto kind = core::topo::kind_from_name(word);
  if (!kind || *kind <= Kind::kNode) place.expected("a kind below Node (Package, NUMANode, L3, Core, PU, ...)");
  return *kind;
}

// "package:2 l3:1 core:4": every node of this shape has these levels.
Tree uniform_shape(const JsonPlace& place) {
  const std::string text = place.text();
  std::vector<core::topo::Level> levels{{Kind::kNode, {}, {}}};
  std::vector<int> arities;
  std::int64_t leaves = 1;
  for (std::size_t begin = text.find_first_not_of(' '); begin != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t colon = std::min(text.find(':', begin), end);
    int arity = 0;
    const auto [stop, error] = std::from_chars(text.data() + std::min(colon + 1, end), text.data() + end, arity);
    if (error != std::errc() || stop != text.data() + end || arity < 1 || arity > core::topo::kMaxLeaves / leaves) {
      place.expected("words kind:count, like \"package:2 l3:1 core:4\"");
    }
    levels.push_back({kind_at(place, text.substr(begin, colon - begin)), {}, {}});
    arities.push_back(arity);
    leaves *= arity;
    begin = text.find_first_not_of(' ', end);
  }
  if (arities.empty()) place.expected("at least one kind:count");
  return core::topo::uniform_tree(levels, arities);
}

// Objects nested in objects, for nodes whose parts differ.
class ShapeReader {
 public:
  explicit ShapeReader(const JsonPlace& node) : node_(node) {}

  Tree read() {
    if (!node_.has("children")) node_.expected("a field \"children\"");
    add_children(builder_.add(-1, Kind::kNode), node_);
    return std::move(builder_).build();
  }

 private:
  void add_children(std::int32_t parent, const JsonPlace& object) {
    const JsonPlace children = object.field("children");
    if (children.size() == 0) children.expected("at least one object");
    for (std::size_t i = 0; i < children.size(); ++i) {
      const JsonPlace child = children.item(i);
      const JsonPlace kind = child.field("kind");
      const int most = child.has("children") ? std::numeric_limits<int>::max() : kMaxPu;
      const int number = child.has("os_index") ? static_cast<int>(child.field("os_index").integer(-1, most)) : -1;
      const std::int32_t handle = builder_.add(parent, kind_at(kind, kind.text()), number);
      child.has("children") ? add_children(handle, child) : add_leaf(handle, child, number);
    }
  }

  void add_leaf(std::int32_t handle, const JsonPlace& leaf, int number) {
    if (!leaf.has("pus") && number < 0) leaf.expected("an object with \"os_index\" or \"pus\"");
    if (leaf.has("allowed") && !leaf.field("allowed").truth()) builder_.forbid(handle);
    if (!leaf.has("pus")) return take(number, leaf.field("os_index"));
    const JsonPlace pus = leaf.field("pus");
    std::set<int> numbers;
    for (std::size_t i = 0; i < pus.size(); ++i) numbers.insert(static_cast<int>(pus.item(i).integer(0, kMaxPu)));
    if (numbers.size() != pus.size() || numbers.empty()) pus.expected("distinct PU numbers, at least one");
    for (const int pu : numbers) take(pu, pus);
    builder_.set_pus(handle, {numbers.begin(), numbers.end()});
  }

  // Two ranks on two leaves must not share a PU.
  void take(int pu, const JsonPlace& place) {
    if (!taken_.insert(pu).second) place.expected("PUs that no other leaf of the node has");
  }

  JsonPlace node_;
  core::topo::KindBuilder builder_;
  std::set<int> taken_;  // PUs of the leaves so far
};

struct HostRange {
  std::int64_t first = -1;
  std::int64_t last = -1;
  std::size_t digits = 0;  // at least so many
};

// "0-3" or "08-11" or "7".
HostRange read_range(std::string_view text, const JsonPlace& place) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  HostRange range{.digits = dash};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto low = std::from_chars(begin, begin + dash, range.first);
  const auto high = dash < text.size() ? std::from_chars(begin + dash + 1, end, range.last) : low;
  if (dash == text.size()) range.last = range.first;
  const bool whole = low.ptr == begin + dash && high.ptr == end;
  constexpr std::size_t kMostDigits = 18;
  if (dash > kMostDigits || low.ec != std::errc() || high.ec != std::errc() || !whole || range.first < 0 ||
      range.last < range.first || range.last - range.first >= kMaxHosts) {
    place.expected("host numbers like [0-3,7]");
  }
  return range;
}

// "n[0-3,7]" or "n[08-11]" or a plain name.
std::vector<std::string> expand_names(const JsonPlace& place) {
  const std::string text = place.text();
  const std::size_t open = text.find('[');
  if (open == std::string::npos) {
    if (!is_host_name(text)) place.expected("a host name");
    return {text};
  }
  const std::size_t close = text.find(']', open);
  if (close == std::string::npos) place.expected("a closing ']'");
  if (!is_host_name(text.substr(0, open) + "0" + text.substr(close + 1))) place.expected("a host name around '[...]'");
  std::vector<std::string> names;
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t end = std::min(text.find(',', begin), close);
    const HostRange range = read_range(std::string_view(text).substr(begin, end - begin), place);
    if (static_cast<std::int64_t>(names.size()) + range.last - range.first >= kMaxHosts) {
      place.expected("at most " + std::to_string(kMaxHosts) + " hosts in all");
    }
    for (std::int64_t number = range.first; number <= range.last; ++number) {
      std::string digits = std::to_string(number);
      digits.insert(0, digits.size() < range.digits ? range.digits - digits.size() : 0, '0');
      names.push_back(text.substr(0, open) + digits + text.substr(close + 1));
    }
    begin = end + 1;
  }
  return names;
}

class MachineReader {
 public:
  MachineReader(const JsonPlace& root, const FileReader& read) : root_(root), read_(read) {}

  Machine read() {
    root_.check_format(kMachineFormat, 1);
    if (root_.has("distances")) {
      throw core::Error(core::Fault::kUnsupported,
                        "distances: expected them in \"network\", of kind \"matrix\", found them beside it");
    }
    const JsonPlace shapes = root_.field("shapes");
    for (const std::string& name : shapes.keys()) {
      const JsonPlace shape = shapes.field(name);
      shape_index_[name] = machine_.add_shape(shape.is_text() ? uniform_shape(shape) : ShapeReader(shape).read());
    }
    const JsonPlace network = root_.field("network");
    machine_.network = read_part(network);
    if (network.has("kind")) read_kind(network);
    if (network.has("uplinks")) {
      const JsonPlace uplinks = network.field("uplinks");
      const int levels = core::topo::switch_depth(machine_.network);
      if (levels == 0) uplinks.expected("none in a network without switches");
      machine_.uplinks = read_uplinks(uplinks, static_cast<std::size_t>(levels));
    }
    if (root_.has("costs")) read_costs(root_.field("costs"));
    return std::move(machine_);
  }

 private:
  void read_kind(const JsonPlace& network) {
    if (network.has("switches")) network.field("switches").expected("none in a network with a kind");
    machine_.interconnect = read_interconnect(network, static_cast<int>(machine_.network.hosts.size()), read_);
    if (!machine_.interconnect) machine_.network = read_fat_tree(network, std::move(machine_.network));
  }

  NetworkPart read_part(const JsonPlace& place) {
    NetworkPart part;
    if (place.has("name")) part.name = place.field("name").text();
    if (!place.has("switches") && !place.has("hosts")) place.expected("\"switches\" or \"hosts\"");
    if (place.has("switches")) {
      const JsonPlace switches = place.field("switches");
      for (std::size_t i = 0; i < switches.size(); ++i) part.switches.push_back(read_part(switches.item(i)));
    }
    if (place.has("hosts")) {
      const JsonPlace hosts = place.field("hosts");
      for (std::size_t i = 0; i < hosts.size(); ++i) read_hosts(hosts.item(i), part);
    }
    if (part.switches.empty() && part.hosts.empty()) place.expected("at least one host");
    return part;
  }

  void read_hosts(const JsonPlace& place, NetworkPart& part) {
    const JsonPlace shape = place.field("shape");
    const auto found = shape_index_.find(shape.text());
    if (found == shape_index_.end()) shape.expected("the name of a shape above");
    const JsonPlace names = place.field("names");
    for (std::string& name : expand_names(names)) {
      if (!hosts_.insert(name).second) names.expected("hosts that are named once");
      part.hosts.push_back({std::move(name), found->second});
      if (hosts_.size() > kMaxHosts) place.expected("at most " + std::to_string(kMaxHosts) + " hosts in all");
    }
  }

  void read_costs(const JsonPlace& costs) {
    for (const std::string& name : costs.keys()) {
      const JsonPlace place = costs.field(name);
      const auto kind = core::topo::kind_from_name(name);
      if (!kind) place.expected("a kind of level as its name");
      if (machine_.interconnect && *kind < Kind::kNode) place.expected("none: the network has the cost of its steps");
      LinkCost& cost = machine_.costs[*kind];
      if (place.has("latency_s")) cost.latency = place.field("latency_s").cost();
      if (!place.has("bandwidth_bytes_per_s")) continue;
      cost.bandwidth = place.field("bandwidth_bytes_per_s").amount();
      if (!(*cost.bandwidth >= 1 / kMaxCost)) place.field("bandwidth_bytes_per_s").expected("a number above 1e-100");
    }
  }

  JsonPlace root_;
  const FileReader& read_;
  Machine machine_;
  std::map<std::string, int> shape_index_;
  std::set<std::string> hosts_;
};

// ---- writing

json shape_json(const Tree& tree, Object object) {
  json result = json::object();
  if (object > 0) result["kind"] = core::topo::kind_name(tree.level(tree.level_of(object)).kind);
  if (object > 0 && tree.os_index(object) >= 0) result["os_index"] = tree.os_index(object);
  for (int i = 0; i < tree.child_count(object); ++i) {
    result["children"].push_back(shape_json(tree, tree.first_child(object) + i));
  }
  if (tree.child_count(object) > 0) return result;
  const auto leaf = tree.first_leaf(object);
  const auto pus = tree.pus(leaf);
  if (pus.size() != 1 || pus[0] != tree.os_index(object)) result["pus"] = std::vector<int>(pus.begin(), pus.end());
  if (!tree.allowed(leaf)) result["allowed"] = false;
  return result;
}

std::string shape_name(int index) { return "shape" + std::to_string(index); }

json part_json(const NetworkPart& part) {
  json result = json::object();
  if (!part.name.empty()) result["name"] = part.name;
  for (const NetworkPart& child : part.switches) result["switches"].push_back(part_json(child));
  for (const Host& host : part.hosts) {
    result["hosts"].push_back({{"names", host.name}, {"shape", shape_name(host.shape)}});
  }
  return result;
}

}  // namespace

Machine read_machine(std::string_view bytes, const std::string& origin, const FileReader& read) {
  const json document = parse_json(bytes, origin, kMachineMaxDepth);
  try {
    return MachineReader(JsonPlace(document, "", origin), read).read();
  } catch (const core::Error& error) {
    const std::string text = error.what();
    if (text.starts_with(origin)) throw;
    throw core::Error(error.fault(), origin + ": " + text);
  }
}

Machine load_machine(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return read_machine(read_file(path), path, [&](const std::string& name) { return read_file(folder / name); });
}

std::string write_machine(const Machine& machine) {
  json document{{"format", kMachineFormat}, {"version", 1}, {"network", part_json(machine.network)}};
  if (machine.interconnect) write_interconnect(*machine.interconnect, document["network"]);
  write_uplinks(machine.uplinks, document["network"]);
  for (std::size_t i = 0; i < machine.shapes.size(); ++i) {
    document["shapes"][shape_name(static_cast<int>(i))] = shape_json(machine.shapes[i], 0);
  }
  for (const auto& [kind, cost] : machine.costs) {
    json& entry = document["costs"][std::string(core::topo::kind_name(kind))];
    if (cost.latency) entry["latency_s"] = *cost.latency;
    if (cost.bandwidth) entry["bandwidth_bytes_per_s"] = *cost.bandwidth;
  }
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

void save_machine(const std::string& path, const Machine& machine) {
  write_file_atomically(path, write_machine(machine));
}

}  // namespace ranktree::io
