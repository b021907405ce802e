#include "io/network_tree.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/machine.h"
#include "io/hostlist.h"

namespace ranktree::io {

using core::topo::Host;
using core::topo::NetworkPart;

namespace {

// Puts blocks below the levels that Slurm aggregates them to.
class BlockAggregator {
 public:
  // factors: blocks in a group of each level, factors[0] == 1.
  BlockAggregator(std::vector<NetworkPart> blocks, std::vector<std::size_t> factors)
      : blocks_(std::move(blocks)), factors_(std::move(factors)) {}

  std::vector<NetworkPart> parts() { return parts_of(factors_.size() - 1, 0, blocks_.size()); }

 private:
  // Slurm does not make a group that would hold at most one group of the level below (block_record_validate).
  [[nodiscard]] bool is_made(std::size_t level, std::size_t begin) const {
    const std::size_t remaining = blocks_.size() - begin;
    return factors_[level] <= remaining || factors_[level - 1] < remaining;
  }

  // The blocks begin..end-1 as groups of a level, or of the levels below where the group is not made.
  std::vector<NetworkPart> parts_of(std::size_t level, std::size_t begin, std::size_t end) {
    std::vector<NetworkPart> parts;
    for (std::size_t first = begin; first < end; first += factors_[level]) {
      const std::size_t last = std::min(end, first + factors_[level]);
      if (level == 0) {
        parts.push_back(std::move(blocks_[first]));
      } else if (is_made(level, first)) {
        std::string name = name_of(first, last);
        parts.push_back({std::move(name), parts_of(level - 1, first, last), {}});
      } else {
        for (NetworkPart& part : parts_of(level - 1, first, last)) parts.push_back(std::move(part));
      }
    }
    return parts;
  }

  [[nodiscard]] std::string name_of(std::size_t begin, std::size_t end) const {
    std::vector<std::string> names;
    for (std::size_t i = begin; i < end; ++i) names.push_back(blocks_[i].name);
    return compress_names(names);
  }

  std::vector<NetworkPart> blocks_;
  std::vector<std::size_t> factors_;
};

// Sizes as numbers of blocks, ascending, up to the first one that holds all blocks.
std::vector<std::size_t> factors_of(std::vector<std::int64_t> sizes, std::size_t blocks) {
  if (sizes.empty()) return {1};
  const std::int64_t base = sizes.front();
  std::sort(sizes.begin(), sizes.end());
  std::vector<std::size_t> factors{1};
  for (const std::int64_t size : sizes) {
    const auto factor = static_cast<std::size_t>(size / base);
    if (factors.back() < blocks && factor > factors.back()) factors.push_back(factor);
  }
  return factors;
}

}  // namespace

std::size_t SwitchTree::add(const std::string& name, std::size_t line) {
  const auto [found, is_new] = index_.emplace(name, drafts_.size());
  if (!is_new) {
    at(line).refuse("expected each switch or block once, found " + shown(name) + " again after line " +
                    std::to_string(drafts_[found->second].line));
  }
  Draft draft;
  draft.name = name;
  draft.line = line;
  drafts_.push_back(std::move(draft));
  return found->second;
}

std::size_t SwitchTree::find_or_add(const std::string& name, std::size_t line) {
  const auto found = index_.find(name);
  return found != index_.end() ? found->second : add(name, line);
}

void SwitchTree::put_switches(std::size_t parent, std::string_view hostlist, std::size_t line) {
  for (std::string& name : expand_hostlist(hostlist, at(line), kMaxNames - names_)) {
    links_.push_back({parent, std::move(name), line});
    ++names_;
  }
}

void SwitchTree::put_hosts(std::size_t parent, std::string_view hostlist, std::size_t line) {
  put(drafts_[parent].hosts, drafts_[parent].name, hostlist, line);
}

void SwitchTree::put_loose_hosts(std::string_view hostlist, std::size_t line) { put(loose_hosts_, "", hostlist, line); }

void SwitchTree::put(std::vector<Host>& hosts, const std::string& below, std::string_view hostlist, std::size_t line) {
  for (std::string& name : expand_hostlist(hostlist, at(line), kMaxNames - names_)) {
    if (!core::topo::is_host_name(name)) at(line).expected("a host name", name);
    const auto [found, is_new] = above_host_.emplace(name, below);
    if (!is_new) {
      const std::string switches = found->second.empty() ? "without a switch" : "below " + shown(found->second);
      at(line).refuse("expected each host once, found " + shown(name) + " again, which is " + switches + " already");
    }
    hosts.push_back({std::move(name), 0});
    ++names_;
  }
}

void SwitchTree::put_switch(std::size_t parent, std::size_t child, std::size_t line) {
  Draft& below = drafts_[child];
  if (below.parent != kNone || below.on_top) {
    const std::string first = below.on_top ? "no other switch" : shown(drafts_[below.parent].name);
    at(line).refuse("expected " + shown(below.name) + " in one place, found it below " + first + " and below " +
                    shown(drafts_[parent].name));
  }
  below.parent = parent;
  drafts_[parent].children.push_back(child);
}

void SwitchTree::put_switch_once(std::size_t parent, std::size_t child, std::size_t line) {
  if (drafts_[child].parent != parent) put_switch(parent, child, line);
}

void SwitchTree::put_on_top(std::size_t index, std::size_t line) {
  if (drafts_[index].parent != kNone) {
    at(line).refuse("expected " + shown(drafts_[index].name) + " in one place, found it below " +
                    shown(drafts_[drafts_[index].parent].name) + " and below no other switch");
  }
  drafts_[index].on_top = true;
}

void SwitchTree::resolve_links() {
  for (const Link& link : links_) {
    const auto found = index_.find(link.child);
    if (found == index_.end()) at(link.line).expected("the name of a switch that has a line", link.child);
    put_switch(link.parent, found->second, link.line);
  }
  links_.clear();
}

NetworkPart SwitchTree::part_of(std::size_t index, int depth) {
  Draft& draft = drafts_[index];
  if (depth > kMaxSwitchLevels) {
    at(draft.line).refuse("expected at most " + std::to_string(kMaxSwitchLevels) + " levels of switches, found more");
  }
  draft.reached = true;
  NetworkPart part{draft.name, {}, std::move(draft.hosts)};
  for (const std::size_t child : draft.children) part.switches.push_back(part_of(child, depth + 1));
  return part;
}

NetworkPart SwitchTree::finished(NetworkPart network) const {
  if (!drop_empty_switches(network)) {
    throw core::Error(core::Fault::kInput, origin_ + ": expected at least one host, found none");
  }
  return network;
}

// A switch that no switch without a parent reaches has an endless line of parents. Going up from it enters a circle,
// and after as many steps as there are switches the search is on the circle.
void SwitchTree::refuse_circle() const {
  const auto lost = std::find_if(drafts_.begin(), drafts_.end(), [](const Draft& draft) { return !draft.reached; });
  if (lost == drafts_.end()) return;
  std::size_t round = static_cast<std::size_t>(lost - drafts_.begin());
  for (std::size_t steps = 0; steps < drafts_.size(); ++steps) round = drafts_[round].parent;
  at(drafts_[round].line).refuse("expected a tree, found switch " + shown(drafts_[round].name) + " below itself");
}

NetworkPart SwitchTree::build() {
  resolve_links();
  NetworkPart network{"", {}, std::move(loose_hosts_)};
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    if (drafts_[i].parent == kNone) network.switches.push_back(part_of(i, 1));
  }
  refuse_circle();
  return finished(std::move(network));
}

NetworkPart SwitchTree::build_blocks(const std::vector<std::int64_t>& sizes) {
  std::vector<NetworkPart> blocks;
  blocks.reserve(drafts_.size());
  for (Draft& draft : drafts_) blocks.push_back({std::move(draft.name), {}, std::move(draft.hosts)});
  std::vector<std::size_t> factors = factors_of(sizes, blocks.size());
  return finished({"", BlockAggregator(std::move(blocks), std::move(factors)).parts(), {}});
}

void check_block_sizes(const std::vector<std::int64_t>& sizes, const LinePlace& place) {
  constexpr std::int64_t kMaxFactor = 32768;  // 2^15: Slurm's MAX_BLOCK_LEVELS is 16
  for (const std::int64_t size : sizes) {
    const std::int64_t base = sizes.front();
    const std::int64_t factor = base > 0 && size > 0 ? size / base : 0;
    if (!std::has_single_bit(static_cast<std::uint64_t>(factor)) || size % base != 0 || factor > kMaxFactor) {
      place.expected("block sizes that are the first one times 1, 2, 4, ... 32768", std::to_string(size));
    }
  }
}

bool drop_empty_switches(NetworkPart& part) {
  std::erase_if(part.switches, [](NetworkPart& child) { return !drop_empty_switches(child); });
  return !part.switches.empty() || !part.hosts.empty();
}

}  // namespace ranktree::io
