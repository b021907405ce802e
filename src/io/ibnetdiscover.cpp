// The output of ibnetdiscover for an InfiniBand fabric: one block for each switch (Switch), host adapter (Ca) or router
// (Rt), with one line for each of its links:
//
//   Switch  36 "S-248a070300aa0010"         # "MF0;leaf1:MSB7700/U1" enhanced port 0 lid 3 lmc 0
//   [1]     "H-248a070300bb0000"[1](248a070300bb0000)     # "n0 HCA-1" lid 10 4xEDR
//   [36]    "S-248a070300cc0010"[1]         # "MF0;spine1:MSB7700/U1" lid 1 4xEDR
//
// A fat tree is not a tree: leaf switches reach several spines. Levels are distances from the hosts. Switches of one
// level that reach common switches of the next level are placed below one part that represents all of these.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/hostlist.h"
#include "io/network_formats.h"
#include "io/network_tree.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::topo::Host;
using core::topo::NetworkPart;

enum class DeviceKind : std::uint8_t { kSwitch, kAdapter, kOther };

struct Link {
  int port = 0;
  std::string far_id;
  int far_port = 0;
  std::size_t line = 0;
};

// The link once ids are known: a port of a device, and the device it leads to.
struct End {
  std::size_t far = 0;
  int port = 0;
};

struct Device {
  DeviceKind kind = DeviceKind::kOther;
  std::string id;
  std::string description;
  std::size_t line = 0;
  std::vector<Link> links;
};

// The text between the first two quotes, and the rest after them; nothing when there are not two.
struct Quoted {
  bool found = false;
  std::string_view text;
  std::string_view rest;
};

Quoted take_quoted(std::string_view line) {
  const std::size_t open = line.find('"');
  if (open == std::string_view::npos) return {};
  const std::size_t close = line.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  return {true, line.substr(open + 1, close - open - 1), line.substr(close + 1)};
}

bool has_blank(std::string_view text) { return text.find_first_of(" \t") != std::string_view::npos; }

// ---- the file

class FabricReader {
 public:
  FabricReader(std::string_view bytes, const std::string& origin) : text_(bytes, origin) {}

  std::vector<Device> read() {
    while (text_.next_data_line("#")) {
      if (begins_device(text_.line())) {
        add_device();
      } else if (text_.line().front() == '[') {
        add_link();
      }  // others (vendid=, switchguid=, names of chassis, ...) do not describe the network
    }
    return std::move(devices_);
  }

 private:
  void add_device() {
    const std::string_view line = text_.line();
    const Quoted id = take_quoted(line);
    if (!id.found || id.text.empty() || id.text.size() > kMaxNameLength || has_blank(id.text)) {
      text_.refuse("expected the device's id in quotes, found " + shown(line));
    }
    Device device;
    device.id = id.text;
    device.line = text_.line_number();
    const Quoted description = take_quoted(id.rest);
    if (description.found) device.description = description.text.substr(0, kMaxNameLength);
    device.kind = kind_of(line.front(), device.description);
    devices_.push_back(std::move(device));
  }

  // Switches compute reductions through adapters of their own (SHARP); these are no hosts.
  static DeviceKind kind_of(char letter, std::string_view description) {
    if (letter == 'S') return DeviceKind::kSwitch;
    const bool is_inside = description.find("Aggregation Node") != std::string_view::npos;
    return letter == 'C' && !is_inside ? DeviceKind::kAdapter : DeviceKind::kOther;
  }

  // "[22]  "S-..."[1]  # ...", "[1](guid)  "S-..."[22]  # ...", "[13][ext 2]  ...".
  void add_link() {
    if (devices_.empty()) text_.refuse("expected a Switch or Ca line above links, found " + shown(text_.line()));
    const std::string_view line = text_.line().substr(0, text_.line().find('#'));
    const int port = read_port(line);
    if (port < 0) text_.refuse("expected a port like [1], found " + shown(line));
    const Quoted far = take_quoted(line);
    if (!far.found || far.text.empty())
      text_.refuse("expected the id of the other end in quotes, found " + shown(line));
    devices_.back().links.push_back({port, std::string(far.text), read_port(far.rest), text_.line_number()});
  }

  // The number in brackets that begins a text; -1 when it has none.
  static int read_port(std::string_view text) {
    int port = -1;
    if (text.empty() || text.front() != '[') return -1;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), port);
    return error == std::errc() && end != text.data() + text.size() && *end == ']' ? port : -1;
  }

  TextReader text_;
  std::vector<Device> devices_;
};

// ---- the tree

// Joins things into groups.
class Groups {
 public:
  explicit Groups(std::size_t count) : above_(count) { std::iota(above_.begin(), above_.end(), std::size_t{0}); }

  std::size_t find(std::size_t one) {
    while (above_[one] != one) one = above_[one] = above_[above_[one]];
    return one;
  }
  // The smaller number remains the group's number.
  void join(std::size_t one, std::size_t other) {
    one = find(one), other = find(other);
    above_[std::max(one, other)] = std::min(one, other);
  }

 private:
  std::vector<std::size_t> above_;
};

// A part of the tree while it is built from the leaves up.
struct Grown {
  NetworkPart part;
  std::vector<std::size_t> members;  // the switches it represents
};

class Fabric {
 public:
  Fabric(std::vector<Device> devices, std::string origin) : devices_(std::move(devices)), origin_(std::move(origin)) {
    if (static_cast<std::int64_t>(devices_.size()) > kMaxNames) {
      throw core::Error(core::Fault::kInput, origin_ + ": expected at most " + std::to_string(kMaxNames) + " devices");
    }
    find_links();
    find_levels();
  }

  NetworkPart network() {
    std::vector<Grown> parts = leaves();
    NetworkPart network;
    place_hosts(parts, network);
    for (int level = 2; !parts.empty(); ++level) {
      if (level > kMaxSwitchLevels + 1) {
        throw core::Error(
            core::Fault::kUnsupported,
            origin_ + ": expected at most " + std::to_string(kMaxSwitchLevels) + " levels of switches, found more");
      }
      parts = below_next(std::move(parts), level, network);
    }
    if (!drop_empty_switches(network)) {
      throw core::Error(core::Fault::kInput, origin_ + ": expected at least one host (Ca), found none");
    }
    return network;
  }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& text) const { LinePlace{origin_, line}.refuse(text); }

  [[nodiscard]] bool is_switch(std::size_t device) const { return devices_[device].kind == DeviceKind::kSwitch; }

  // Every link from both of its ends, whichever end lists it.
  void find_links() {
    std::unordered_map<std::string_view, std::size_t> index;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const Device& device = devices_[i];
      if (!index.emplace(device.id, i).second)
        refuse(device.line, "expected each device once, found " + shown(device.id) + " again");
      if (is_switch(i)) ++uses_[device.description];
    }
    near_.resize(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      for (const Link& link : devices_[i].links) {
        const auto far = index.find(link.far_id);
        if (far == index.end()) refuse(link.line, "expected a device of this file, found " + shown(link.far_id));
        near_[i].push_back({far->second, link.port});
        near_[far->second].push_back({i, link.far_port});
      }
    }
  }

  // 1 for switches with hosts, then by the number of links from these; 0 for devices that no host reaches.
  void find_levels() {
    level_.assign(devices_.size(), 0);
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const bool has_host = std::any_of(near_[i].begin(), near_[i].end(),
                                        [&](const End& end) { return devices_[end.far].kind == DeviceKind::kAdapter; });
      if (!is_switch(i) || !has_host) continue;
      level_[i] = 1;
      queue.push_back(i);
    }
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const auto& [far, port] : near_[queue[next]]) {
        if (!is_switch(far) || level_[far] > 0) continue;
        level_[far] = level_[queue[next]] + 1;
        queue.push_back(far);
      }
    }
  }

  // The description of a switch, or its id where several have the same (unmanaged ones do) or it has blanks or letters
  // beyond ASCII.
  [[nodiscard]] std::string switch_name(std::size_t device) const {
    const std::string& description = devices_[device].description;
    const bool is_ascii = std::all_of(description.begin(), description.end(),
                                      [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
    const bool is_name = !description.empty() && !has_blank(description) && is_ascii && uses_.at(description) == 1;
    return is_name ? description : devices_[device].id;
  }

  // The first word of "n0 HCA-1" or "n0 mlx5_0", or the id where the description is the vendor's or not a host name, or
  // was made before the host had its name.
  static std::string host_name(const Device& device) {
    const std::string& text = device.description;
    const std::size_t begin = text.find_first_not_of(" \t'");
    if (begin == std::string::npos || text.find("Mellanox Technologies") != std::string::npos) return device.id;
    const std::string word = text.substr(begin, text.find_first_of(" \t'", begin) - begin);
    const bool is_name = core::topo::is_host_name(word) && word != "localhost" && word != "localhost.localdomain";
    return is_name ? word : device.id;
  }

  [[nodiscard]] std::vector<Grown> leaves() const {
    std::vector<Grown> parts;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (level_[i] == 1) parts.push_back({{switch_name(i), {}, {}}, {i}});
    }
    return parts;
  }

  // The connection of an adapter. Compared by which one comes first.
  struct Plug {
    bool loose = true;  // not connected to a switch
    std::string_view description;
    int port = 0;
    std::size_t above = 0;  // the switch
    auto operator<=>(const Plug&) const = default;
  };

  // A host with several ports is placed below the switch of the first: lowest description ("HCA-1", "mlx5_0"), lowest
  // port.
  void place_hosts(std::vector<Grown>& parts, NetworkPart& network) const {
    std::vector<std::string> order;
    std::map<std::string, Plug> first;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].kind != DeviceKind::kAdapter) continue;
      const Plug plug = first_plug(i);
      const auto [found, is_new] = first.emplace(host_name(devices_[i]), plug);
      if (is_new) order.push_back(found->first);
      found->second = std::min(found->second, plug);
    }
    std::unordered_map<std::size_t, std::size_t> part_of;
    for (std::size_t i = 0; i < parts.size(); ++i) part_of[parts[i].members.front()] = i;
    for (std::string& name : order) {
      const Plug& plug = first.at(name);
      std::vector<Host>& hosts = plug.loose ? network.hosts : parts[part_of.at(plug.above)].part.hosts;
      hosts.push_back({std::move(name), 0});
    }
  }

  [[nodiscard]] Plug first_plug(std::size_t adapter) const {
    Plug best{true, devices_[adapter].description, 0, 0};
    for (const auto& [far, port] : near_[adapter]) {
      if (is_switch(far)) best = std::min(best, {false, devices_[adapter].description, port, far});
    }
    return best;
  }

  // Puts parts below those of the next level; parts that reach nothing there are complete and go below the root.
  std::vector<Grown> below_next(std::vector<Grown> parts, int level, NetworkPart& network) const {
    Groups groups(parts.size() + devices_.size());  // parts, then switches
    std::vector<bool> has_upper(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const std::size_t member : parts[i].members) {
        for (const auto& [far, port] : near_[member]) {
          if (level_[far] != level) continue;
          groups.join(i, parts.size() + far);
          has_upper[i] = true;
        }
      }
    }
    std::map<std::size_t, Grown> upper;  // by the first part below
    for (std::size_t far = 0; far < devices_.size(); ++far) {
      const std::size_t group = groups.find(parts.size() + far);
      if (level_[far] == level && group < parts.size()) upper[group].members.push_back(far);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      NetworkPart& above = has_upper[i] ? upper.at(groups.find(i)).part : network;
      above.switches.push_back(std::move(parts[i].part));
    }
    std::vector<Grown> result;
    for (auto& [group, grown] : upper) {
      std::vector<std::string> names;
      names.reserve(grown.members.size());
      for (const std::size_t member : grown.members) names.push_back(switch_name(member));
      std::sort(names.begin(), names.end());
      grown.part.name = compress_names(names);
      result.push_back(std::move(grown));
    }
    return result;
  }

  std::vector<Device> devices_;
  std::string origin_;
  std::map<std::string, int, std::less<>> uses_;  // switches with a description
  std::vector<std::vector<End>> near_;            // from both ends of every link
  std::vector<int> level_;
};

}  // namespace

bool begins_device(std::string_view line) {
  for (const std::string_view word : {"Switch", "Ca", "Rt"}) {
    if (!line.starts_with(word)) continue;
    const std::size_t ports = line.find_first_not_of(" \t", word.size());
    if (ports == word.size() || ports == std::string_view::npos) continue;
    const std::size_t end = line.find_first_not_of("0123456789", ports);
    const std::size_t quote = end == std::string_view::npos ? end : line.find_first_not_of(" \t", end);
    if (end != ports && quote != std::string_view::npos && line[quote] == '"') return true;
  }
  return false;
}

NetworkPart read_ibnetdiscover(std::string_view bytes, const std::string& origin) {
  return Fabric(FabricReader(bytes, origin).read(), origin).network();
}

}  // namespace ranktree::io
