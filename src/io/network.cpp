#include "io/network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/topo/machine.h"
#include "core/topo/occupancy.h"
#include "io/file.h"
#include "io/hostlist.h"
#include "io/network_formats.h"
#include "io/network_tree.h"
#include "io/text.h"

namespace ranktree::io {
namespace {

using core::topo::NetworkPart;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// ---- host file

// Puts the switches of "s0.s1" below each other; returns the last one.
std::size_t add_path(SwitchTree& tree, std::string_view path, const LinePlace& place) {
  std::size_t above = 0;
  const std::vector<std::string_view> names = split(path, '.');
  for (std::size_t depth = 0; depth < names.size(); ++depth) {
    if (expand_hostlist(names[depth], place).size() != 1 || names[depth].find('[') != std::string_view::npos) {
      place.expected("one switch between two points", path);
    }
    const std::size_t index = tree.find_or_add(std::string(names[depth]), place.line);
    if (depth == 0) tree.put_on_top(index, place.line);
    if (depth > 0) tree.put_switch_once(above, index, place.line);
    above = index;
  }
  return above;
}

NetworkPart read_host_file(std::string_view bytes, const std::string& origin) {
  TextReader text(bytes, origin);
  SwitchTree tree(origin);
  while (text.next_data_line("#")) {
    const std::string_view host = text.word();
    const std::string_view path = text.word();
    const LinePlace place{origin, text.line_number()};
    const bool loose = path.empty() || path.front() == '#';
    if (!loose && !text.at_line_end() && text.line().front() != '#') {
      place.expected("'host switch.switch'", text.line());
    }
    if (loose) {
      tree.put_loose_hosts(host, place.line);
    } else {
      tree.put_hosts(add_path(tree, path, place), host, place.line);
    }
  }
  return tree.build();
}

// ---- which format

enum class Format : std::uint8_t { kSlurmTopology, kSlurmYaml, kIbnetdiscover, kHostFile };

bool begins_yaml(std::string_view line) {
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  return word == "-" || word == "---" || word == "%YAML" || word.front() == '[' || word.front() == '{' ||
         word.back() == ':';
}

Format format_of(std::string_view bytes, const std::string& origin) {
  TextReader text(bytes, origin);
  std::string first;
  std::size_t line = 1;
  bool has_settings = false;
  while (text.next_data_line("#")) {
    if (begins_device(text.line())) return Format::kIbnetdiscover;
    if (first.empty()) first = text.line(), line = text.line_number();
    has_settings = has_settings || text.line().substr(0, text.line().find('#')).find('=') != std::string_view::npos;
  }
  if (first.empty() || first.front() == '<') {
    LinePlace{origin, line}.expected(
        "topology.conf, topology.yaml, ibnetdiscover's output or lines 'host switch.switch'", first);
  }
  if (begins_yaml(first)) return Format::kSlurmYaml;
  return has_settings ? Format::kSlurmTopology : Format::kHostFile;
}

// ---- where a host is

// The part that holds the host, by the given comparison; fills `path` with the names from the outside in.
template <typename Same>
bool find_host(const NetworkPart& part, const Same& same, std::vector<std::string>& path) {
  if (std::any_of(part.hosts.begin(), part.hosts.end(), [&](const auto& host) { return same(host.name); })) return true;
  for (const NetworkPart& child : part.switches) {
    path.push_back(child.name);
    if (find_host(child, same, path)) return true;
    path.pop_back();
  }
  return false;
}

template <typename Same>
std::ptrdiff_t count_hosts(const NetworkPart& part, const Same& same) {
  std::ptrdiff_t count =
      std::count_if(part.hosts.begin(), part.hosts.end(), [&](const auto& host) { return same(host.name); });
  for (const NetworkPart& child : part.switches) count += count_hosts(child, same);
  return count;
}

}  // namespace

NetworkPart read_network(std::string_view bytes, const std::string& origin) {
  switch (format_of(bytes, origin)) {
    case Format::kSlurmTopology:
      return read_slurm_topology(bytes, origin);
    case Format::kSlurmYaml:
      return read_slurm_yaml(bytes, origin);
    case Format::kIbnetdiscover:
      return read_ibnetdiscover(bytes, origin);
    case Format::kHostFile:
      return read_host_file(bytes, origin);
  }
  return {};
}

NetworkPart load_network(const std::string& path) { return read_network(read_file(path), path); }

std::vector<std::string> switches_above(const NetworkPart& network, std::string_view host) {
  std::vector<std::string> path;
  if (find_host(network, [&](const std::string& name) { return name == host; }, path)) return path;
  // No host has exactly this name: accept one with a domain, or without it. Of several it is not known which.
  const auto is_same = [&](const std::string& name) { return core::topo::same_host(name, host); };
  if (count_hosts(network, is_same) == 1) find_host(network, is_same, path);
  return path;
}

std::vector<std::string> switches_of_address(std::string_view address, std::string_view pattern,
                                             std::string_view host) {
  const std::vector<std::string_view> kinds = split(pattern, '.');
  const std::vector<std::string_view> names = split(address, '.');
  if (kinds.back() != "node" || names.size() < kinds.size()) return {};  // a node's name may have points itself
  std::vector<std::string> switches;
  std::string_view node = address;
  for (std::size_t i = 0; i + 1 < kinds.size(); ++i) {
    node.remove_prefix(names[i].size() + 1);
    if (kinds[i] != "switch" && kinds[i] != "block") return {};
    // Slurm leaves a level empty where a tree has branches of different depths.
    if (!names[i].empty()) switches.emplace_back(names[i]);
  }
  if (!core::topo::same_host(node, host)) return {};
  return switches;
}

}  // namespace ranktree::io
