#include "hw/machine.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/machine.h"
#include "core/topo/nearest_kind.h"
#include "core/topo/tree.h"
#include "hw/hwloc_node.h"
#include "io/file.h"
#include "io/machine_file.h"

namespace ranktree::hw {
namespace {

using core::topo::Kind;
using core::topo::Machine;
using core::topo::NetworkPart;

[[noreturn]] void refuse(const std::string& description, const std::string& text) {
  throw core::Error(core::Fault::kInput, "machine '" + description + "': " + text);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

// One of the words in front of hwloc's grammar.
struct NetworkLevel {
  Kind kind;
  int arity;
};

// The limit keeps the machine writable as a machine file, whose nesting is bounded.
constexpr std::size_t kMaxNetworkLevels = 24;

// Removes the leading cluster:, switch: and node: words; `rest` is hwloc's part.
std::vector<NetworkLevel> take_network(const std::string& description, std::string& rest) {
  std::vector<NetworkLevel> levels;
  rest = description;
  while (true) {
    rest.erase(0, rest.find_first_not_of(" \t\n"));
    const std::size_t colon = rest.find(':');
    const auto kind = core::topo::kind_from_name(std::string_view(rest).substr(0, colon));
    if (colon == std::string::npos || !kind || *kind > Kind::kNode) return levels;
    int arity = 0;
    const char* begin = rest.data() + colon + 1;
    const auto [end, error] = std::from_chars(begin, rest.data() + rest.size(), arity);
    if (error != std::errc() || arity < 1 || (end != rest.data() + rest.size() && *end != ' ')) {
      refuse(description, "'" + rest.substr(0, rest.find(' ')) + "': expected kind:count with a count of at least 1");
    }
    const bool again = !levels.empty() && *kind == levels.back().kind && *kind != Kind::kSwitch;
    if (again || (!levels.empty() && *kind < levels.back().kind)) {
      refuse(description, "expected cluster:, switch:, node: in this order, and only switch: several times");
    }
    if (levels.size() == kMaxNetworkLevels) {
      refuse(description.substr(0, 40) + "...",
             "expected at most " + std::to_string(kMaxNetworkLevels) + " levels of network, found more");
    }
    levels.push_back({*kind, arity});
    rest.erase(0, static_cast<std::size_t>(end - rest.data()));
  }
}

// The levels only. Attributes in parentheses may contain blanks, and memory in brackets is not a level.
std::string without_attributes(const std::string& text) {
  std::string plain;
  bool inside = false;
  for (const char c : text) {
    inside = inside || c == '(' || c == '[';
    if (!inside) plain += c;
    if (c == ')' || c == ']') inside = false;
  }
  return plain;
}

// "L1i", "L2iCache": hwloc knows these levels, and trees leave them out.
bool is_instruction_cache(const std::string& word) {
  return word.size() >= 3 && (word[0] == 'L' || word[0] == 'l') && word[1] >= '1' && word[1] <= '3' && word[2] == 'i';
}

// "Cluster, Switch, Node, ..., PU", from the outside in.
std::string all_kinds() {
  std::string names;
  for (int number = 0; number <= static_cast<int>(Kind::kPu); ++number) {
    names += (names.empty() ? "" : ", ") + std::string(core::topo::kind_name(static_cast<Kind>(number)));
  }
  return names;
}

// hwloc takes the first letters of a level's word for its kind: "nod:4" would become NUMA nodes without an error.
void refuse_unknown_words(const std::string& description) {
  for (const std::string& level : split(without_attributes(description), ' ')) {
    const std::string word = level.substr(0, level.find(':'));
    const bool number = level.find_first_not_of("0123456789") == std::string::npos;
    if (number || level.find(':') == std::string::npos || core::topo::kind_from_name(word) ||
        is_instruction_cache(word)) {
      continue;
    }
    const std::string_view nearest = core::topo::nearest_kind(word);
    refuse(description, "'" + word + "' is no kind of level" +
                            (nearest.empty() ? "; the kinds are " + all_kinds()
                                             : "; the nearest is '" + std::string(nearest) + "'"));
  }
}

std::string last_level(const std::string& text) {
  std::string plain = without_attributes(text);
  plain.erase(plain.find_last_not_of(" \t\n") + 1);
  return plain.substr(plain.find_last_of(" \t\n") + 1);
}

// hwloc requires PUs at the end; a description that stops at cores means one PU per core.
std::string with_pus(const std::string& rest) {
  const std::size_t end = rest.find_last_not_of(" \t\n");
  if (end == std::string::npos) return "core:1 pu:1";
  const std::string last = last_level(rest);
  const auto kind = core::topo::kind_from_name(last.substr(0, last.find(':')));
  const bool typed = last.find(':') != std::string::npos && kind.has_value();
  const std::string trimmed = rest.substr(0, end + 1);
  return typed && *kind != Kind::kPu ? trimmed + " pu:1" : trimmed;
}

// Fills one part of the network; hosts are numbered in `count`.
void plug(NetworkPart& part, const std::vector<NetworkLevel>& levels, std::size_t depth, std::int64_t& count) {
  const bool at_hosts = depth == levels.size() || levels[depth].kind == Kind::kNode;
  const int arity = depth == levels.size() ? 1 : levels[depth].arity;
  for (int i = 0; i < arity; ++i) {
    if (at_hosts) {
      part.hosts.push_back({"n" + std::to_string(count++), 0});
    } else {
      NetworkPart& inside = part.switches.emplace_back();
      inside.name = (part.name.empty() ? "s" : part.name + ".") + std::to_string(i);
      plug(inside, levels, depth + 1, count);
    }
  }
}

// Returns the number of hosts.
std::int64_t set_shape(NetworkPart& part, int shape) {
  for (core::topo::Host& host : part.hosts) host.shape = shape;
  auto hosts = static_cast<std::int64_t>(part.hosts.size());
  for (NetworkPart& inside : part.switches) hosts += set_shape(inside, shape);
  return hosts;
}

// Those without a name: n0, n1, ... by their places, or the next that no other has.
void name_hosts(std::vector<core::topo::Host>& hosts) {
  std::set<std::string> taken;
  for (const core::topo::Host& host : hosts) taken.insert(host.name);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t number = i; hosts[i].name.empty(); ++number) {
      const std::string name = "n" + std::to_string(number);
      if (taken.insert(name).second) hosts[i].name = name;
    }
  }
}

core::topo::Tree join_xml(const std::vector<std::string>& paths) {
  Machine machine;
  for (const std::string& path : paths) {
    core::topo::Tree node = read_hwloc_xml(io::read_file(path), path);
    const std::string name(node.name(0));
    machine.network.hosts.push_back({name, 0});
    machine.network.hosts.back().shape = machine.add_shape(std::move(node));
  }
  name_hosts(machine.network.hosts);
  return to_tree(machine);
}

}  // namespace

Machine synthetic_machine(const std::string& description) {
  std::string rest;
  refuse_unknown_words(description);
  std::vector<NetworkLevel> levels = take_network(description, rest);
  // Every machine has a cluster as its root already, so the word allows no other number than one.
  if (!levels.empty() && levels.front().kind == Kind::kCluster) {
    if (levels.front().arity != 1) refuse(description, "expected one cluster; describe its parts as switches");
    levels.erase(levels.begin());
  }
  Machine machine;
  machine.described = true;
  machine.add_shape(synthetic_node(with_pus(rest)));
  std::int64_t leaves = machine.shapes.front().leaf_count();
  for (const NetworkLevel& level : levels) {
    if (level.arity > core::topo::kMaxLeaves / leaves) {
      refuse(description, core::topo::too_many_leaves());
    }
    leaves *= level.arity;
  }
  std::int64_t count = 0;
  plug(machine.network, levels, 0, count);
  return machine;
}

core::topo::Tree machine_in_network(NetworkPart network, const core::topo::Tree& node) {
  Machine machine = to_machine(node);
  if (!machine.network.switches.empty() || machine.network.hosts.size() != 1) {
    throw core::Error(core::Fault::kInput,
                      "network: expected the description of one node for its hosts, found several");
  }
  const std::int64_t hosts = set_shape(network, machine.network.hosts.front().shape);
  if (hosts > core::topo::kMaxLeaves / node.leaf_count()) {
    throw core::Error(core::Fault::kInput, "network: " + core::topo::too_many_leaves());
  }
  machine.network = std::move(network);
  machine.described = false;
  return to_tree(machine);
}

core::topo::Tree load_tree(const std::string& spec) {
  if (spec.empty() || spec == "live") return live_node();
  if (spec.ends_with(".json")) return to_tree(io::load_machine(spec));
  if (spec.find(".xml") != std::string::npos) return join_xml(split(spec, ','));
  if (is_file(spec)) {
    const std::string bytes = io::read_file(spec);
    const bool xml =
        bytes.find_first_not_of(" \t\r\n") != std::string::npos && bytes[bytes.find_first_not_of(" \t\r\n")] == '<';
    return xml ? join_xml({spec}) : to_tree(io::read_machine(bytes, spec));
  }
  if (spec.find('/') != std::string::npos) io::read_file(spec);  // a path: throws the reason why it cannot be read
  return to_tree(synthetic_machine(spec));
}

}  // namespace ranktree::hw
