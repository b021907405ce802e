#include "hw/node_here.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/split/chain.h"
#include "hw/hwloc_node.h"
#include "hw/place_here.h"
#include "io/network.h"

namespace ranktree::hw {
namespace {

using core::Error;
using core::Fault;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): programs set it before they start
  return value == nullptr ? "" : value;
}

std::string required_variable(const char* name, const std::string& purpose) {
  std::string value = variable(name);
  if (value.empty()) throw Error(Fault::kInput, std::string(name) + ": expected " + purpose + ", found nothing");
  return value;
}

// Also reads files of the kernel, which have no size.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(Fault::kSystem, path + ": cannot open: " + std::generic_category().message(errno));
  std::string line;
  if (!std::getline(file, line) || line.empty()) {
    throw Error(Fault::kInput, path + ": line 1: expected the node's identity, found nothing");
  }
  return line;
}

}  // namespace

const core::split::NodeMap& node_map() {
  static const core::split::NodeMap map(live_node());
  return map;
}

std::string node_name(NodeIdentity identity) {
  switch (identity) {
    case NodeIdentity::kHostname:
      return host_here();
    case NodeIdentity::kBootId:
      return first_line("/proc/sys/kernel/random/boot_id");
    case NodeIdentity::kEnvironment:
      return required_variable("RANKTREE_NODE_ID", "the node's identity");
    case NodeIdentity::kFile:
      return first_line(required_variable("RANKTREE_NODE_ID_FILE", "a file with the node's identity"));
  }
  return {};
}

std::vector<std::string> switches_here(const std::string& source) {
  if (source == "none") return {};
  const std::string file = source == "auto" ? variable("RANKTREE_NETWORK") : source;
  if (!file.empty()) {
    static std::mutex mutex;
    static std::map<std::pair<std::string, std::string>, std::vector<std::string>> known;  // by file and host
    const std::scoped_lock lock(mutex);
    const std::pair key(file, host_here());
    if (const auto found = known.find(key); found != known.end()) return found->second;
    return known.emplace(key, io::switches_above(io::load_network(file), key.second)).first->second;
  }
  return io::switches_of_address(variable("SLURM_TOPOLOGY_ADDR"), variable("SLURM_TOPOLOGY_ADDR_PATTERN"), host_here());
}

}  // namespace ranktree::hw
