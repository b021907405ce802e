#include "hw/hwloc_node.h"

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
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

namespace ranktree::hw {
namespace {

using core::Error;
using core::Fault;
using core::topo::Kind;
using core::topo::Tree;

// Objects of hwloc's XML that stand outside the tree of CPUs.
constexpr std::array<std::string_view, 4> kWithoutCpus{"Bridge", "PCIDev", "OSDev", "Misc"};

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Topology make_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Error(Fault::kSystem, "hwloc: cannot start");
  Topology topology(raw);
  // Object numbers must not depend on the process: keep objects that a cgroup hides, and mark them instead.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
  return topology;
}

std::optional<Kind> kind_of(hwloc_obj_type_t type) {
  switch (type) {
    case HWLOC_OBJ_MACHINE:
      return Kind::kNode;
    case HWLOC_OBJ_GROUP:
      return Kind::kGroup;
    case HWLOC_OBJ_PACKAGE:
      return Kind::kPackage;
    case HWLOC_OBJ_DIE:
      return Kind::kDie;
    case HWLOC_OBJ_L5CACHE:
      return Kind::kL5;
    case HWLOC_OBJ_L4CACHE:
      return Kind::kL4;
    case HWLOC_OBJ_L3CACHE:
      return Kind::kL3;
    case HWLOC_OBJ_L2CACHE:
      return Kind::kL2;
    case HWLOC_OBJ_L1CACHE:
      return Kind::kL1;
    case HWLOC_OBJ_CORE:
      return Kind::kCore;
    case HWLOC_OBJ_PU:
      return Kind::kPu;
    default:
      return std::nullopt;
  }
}

int os_index_of(const hwloc_obj* object) {
  return object->os_index <= static_cast<unsigned>(std::numeric_limits<int>::max()) ? static_cast<int>(object->os_index)
                                                                                    : -1;
}

bool is_whole_machine(const hwloc_obj* object) {
  const hwloc_obj* root = object;
  while (root->parent != nullptr) root = root->parent;
  return hwloc_bitmap_isequal(object->cpuset, root->cpuset) != 0;
}

// The kinds that one hwloc object represents, outermost first: itself, with its NUMA node above or below it.
std::vector<std::pair<Kind, int>> kinds_at(const hwloc_obj* object) {
  const auto own = kind_of(object->type);
  if (!own) return {};
  const std::pair self(*own, os_index_of(object));
  if (object->memory_arity == 0 || is_whole_machine(object)) return {self};
  const hwloc_obj* memory = object->memory_first_child;
  while (memory->type != HWLOC_OBJ_NUMANODE && memory->memory_first_child != nullptr)
    memory = memory->memory_first_child;
  const std::pair numa(Kind::kNumaNode, os_index_of(memory));
  if (*own == Kind::kGroup) return {numa};
  if (*own < Kind::kNumaNode) return {self, numa};
  return {numa, self};
}

void add_objects(core::topo::KindBuilder& builder, const hwloc_obj* object, std::int32_t parent, std::string_view name,
                 hwloc_const_bitmap_t usable) {
  for (const auto& [kind, number] : kinds_at(object)) {
    parent = builder.add(parent, kind, number, kind == Kind::kNode ? name : "");
  }
  if (object->type == HWLOC_OBJ_PU && hwloc_bitmap_isset(usable, object->os_index) == 0) builder.forbid(parent);
  for (const hwloc_obj* child = object->first_child; child != nullptr; child = child->next_sibling) {
    add_objects(builder, child, parent, name, usable);
  }
}

Tree load(const Topology& topology, std::string_view name, hwloc_const_bitmap_t usable) {
  core::topo::KindBuilder builder;
  add_objects(builder, hwloc_get_root_obj(topology.get()), -1, name, usable);
  return std::move(builder).build();
}

std::string host_name(const Topology& topology, const std::string& fallback) {
  const char* name = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology.get()), "HostName");
  return name != nullptr && core::topo::is_host_name(name) ? name : fallback;
}

// Multiplies the arities of "kind:arity(attributes) ..." without trusting them; -1 for an unknown word, which hwloc
// then refuses.
long count_pus(const std::string& description) {
  long product = 1;
  for (std::size_t i = 0; i < description.size(); ++i) {
    if (description[i] == '(' || description[i] == '[') {
      i = std::min(description.find(description[i] == '(' ? ')' : ']', i), description.size());
      continue;
    }
    const bool starts = i == 0 || description[i - 1] == ' ' || description[i - 1] == ':';
    if (!starts || description[i] < '0' || description[i] > '9') continue;
    long arity = 0;
    while (i < description.size() && description[i] >= '0' && description[i] <= '9' && arity <= kMaxNodePus) {
      arity = 10 * arity + (description[i++] - '0');
    }
    if (arity == 0) return -1;
    if (arity > kMaxNodePus / product) return kMaxNodePus + 1;
    product *= arity;
    --i;
  }
  return product;
}

std::string line_of(std::string_view bytes, std::size_t position) {
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(position);
  return "line " + std::to_string(1 + std::count(bytes.begin(), end, '\n'));
}

// hwloc 2.9 aborts the process at a set that begins with a comma, which may also be written as an entity.
void refuse_leading_commas(std::string_view bytes, const std::string& origin) {
  constexpr std::string_view kName = "set";  // cpuset, complete_nodeset, ...
  constexpr std::string_view kSpaces = " \t\r\n";
  for (std::size_t begin = bytes.find(kName); begin < bytes.size(); begin = bytes.find(kName, begin + kName.size())) {
    const std::size_t equals = bytes.find_first_not_of(kSpaces, begin + kName.size());
    if (equals >= bytes.size() || bytes[equals] != '=') continue;
    const std::size_t quote = bytes.find_first_not_of(kSpaces, equals + 1);
    if (quote >= bytes.size() - 1 || (bytes[quote] != '"' && bytes[quote] != '\'')) continue;
    if (bytes[quote + 1] != ',' && bytes[quote + 1] != '&') continue;
    throw Error(Fault::kInput, origin + ": " + line_of(bytes, begin) +
                                   ": expected a set that begins with a number, found '" + bytes[quote + 1] + "'");
  }
}

// hwloc 2.9 follows null pointers when an object that has CPUs lacks its sets, so this checks them first.
void require_sets(std::string_view bytes, const std::string& origin) {
  constexpr std::string_view kTag = "<object ";
  const bool version_2 = bytes.find("<topology version=\"2") != std::string_view::npos;
  for (std::size_t begin = bytes.find(kTag); begin < bytes.size(); begin = bytes.find(kTag, begin + kTag.size())) {
    const std::string_view tag = bytes.substr(begin, bytes.find('>', begin) - begin);
    const auto has = [&](const std::string& attribute) {
      return tag.find(" " + attribute + "=\"") != std::string_view::npos;
    };
    const bool without_cpus = std::any_of(kWithoutCpus.begin(), kWithoutCpus.end(), [&](std::string_view type) {
      return tag.find(" type=\"" + std::string(type) + "\"") != std::string_view::npos;
    });
    const bool complete =
        has("cpuset") && (!version_2 || (has("complete_cpuset") && has("nodeset") && has("complete_nodeset")));
    if (complete || without_cpus) continue;
    throw Error(Fault::kInput, origin + ": " + line_of(bytes, begin) +
                                   ": expected an object with cpuset and nodeset, found one without");
  }
}

}  // namespace

Tree live_node() {
  const Topology topology = make_topology();
  if (hwloc_topology_load(topology.get()) != 0) {
    throw Error(Fault::kSystem, "hwloc: cannot read this machine: " + std::generic_category().message(errno));
  }
  const Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology.get())));
  const Bitmap bound(hwloc_bitmap_alloc());
  if (!usable || !bound) throw std::bad_alloc();
  if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_bitmap_and(usable.get(), usable.get(), bound.get());
  }
  return load(topology, host_name(topology, "localhost"), usable.get());
}

Tree read_hwloc_xml(std::string_view bytes, const std::string& origin) {
  // hwloc 2 only reports this on stderr, and loads nothing, when a file of its own version has no NUMANode.
  if (bytes.find("<topology version=\"2") != std::string_view::npos &&
      bytes.find("\"NUMANode\"") == std::string_view::npos) {
    throw Error(Fault::kInput, origin + ": expected an hwloc XML topology with a NUMANode, found none (truncated?)");
  }
  require_sets(bytes, origin);
  refuse_leading_commas(bytes, origin);
  // hwloc expects the length to include the terminating zero.
  const std::string text(bytes);
  const Topology topology = make_topology();
  if (bytes.size() >= static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      bytes.find("<topology") == std::string_view::npos ||
      hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(), static_cast<int>(text.size()) + 1) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(Fault::kInput, origin + ": expected an hwloc XML topology, found text that hwloc refuses (truncated?)");
  }
  return load(topology, host_name(topology, ""), hwloc_topology_get_allowed_cpuset(topology.get()));
}

Tree synthetic_node(const std::string& description) {
  const std::string origin = "machine '" + description + "'";
  const long pus = count_pus(description);
  if (pus > kMaxNodePus) {
    throw Error(Fault::kInput, origin + ": expected at most " + std::to_string(kMaxNodePus) +
                                   " PUs in a node, found more; describe a cluster with node: in front");
  }
  const Topology topology = make_topology();
  if (pus < 0 || hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(Fault::kInput,
                origin + ": expected a file, or hwloc's synthetic grammar like 'package:2 l3:1 core:4 pu:2'");
  }
  return load(topology, "", hwloc_topology_get_allowed_cpuset(topology.get()));
}

}  // namespace ranktree::hw
