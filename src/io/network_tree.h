// Builds a tree of switches from lines in any order, and checks the rules that every network must follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/topo/machine.h"
#include "io/hostlist.h"

namespace ranktree::io {

// The limit on nested switches keeps the machine writable as a machine file, whose nesting is bounded.
inline constexpr int kMaxSwitchLevels = 24;

class SwitchTree {
 public:
  explicit SwitchTree(std::string origin) : origin_(std::move(origin)) {}

  // A new switch or block; returns its index. Throws when the name is taken.
  std::size_t add(const std::string& name, std::size_t line);
  // The switch of that name, which is added without a line of its own if there is none.
  std::size_t find_or_add(const std::string& name, std::size_t line);
  // Sets what is below a switch, as hostlist expressions.
  void put_switches(std::size_t parent, std::string_view hostlist, std::size_t line);
  void put_hosts(std::size_t parent, std::string_view hostlist, std::size_t line);
  // Adds hosts that are below no switch.
  void put_loose_hosts(std::string_view hostlist, std::size_t line);
  // For files that repeat links: does nothing when the child is already there.
  void put_switch_once(std::size_t parent, std::size_t child, std::size_t line);
  void put_on_top(std::size_t index, std::size_t line);

  [[nodiscard]] bool empty() const { return drafts_.empty(); }

  // The tree, with switches in the order of their lines and of the lists that name them. Throws when a name is unknown,
  // a switch is below itself, or there are too many levels. Switches that lead to no host are left out.
  [[nodiscard]] core::topo::NetworkPart build();
  // The same for blocks: consecutive ones are put below levels made for the sizes beyond the first, as Slurm aggregates
  // them. The name of a level lists its blocks ("b[1-2]"). check_block_sizes checks the sizes.
  [[nodiscard]] core::topo::NetworkPart build_blocks(const std::vector<std::int64_t>& sizes);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Draft {
    std::string name;
    std::size_t line = 0;
    std::size_t parent = kNone;
    bool on_top = false;   // a line declares that it has no parent
    bool reached = false;  // build() reached it from a switch without a parent
    std::vector<std::size_t> children;
    std::vector<core::topo::Host> hosts;
  };
  // Names a child that a later line may define.
  struct Link {
    std::size_t parent;
    std::string child;
    std::size_t line;
  };

  [[nodiscard]] LinePlace at(std::size_t line) const { return {origin_, line}; }
  void put(std::vector<core::topo::Host>& hosts, const std::string& below, std::string_view hostlist, std::size_t line);
  void put_switch(std::size_t parent, std::size_t child, std::size_t line);
  void resolve_links();
  void refuse_circle() const;
  core::topo::NetworkPart part_of(std::size_t index, int depth);
  core::topo::NetworkPart finished(core::topo::NetworkPart network) const;

  std::string origin_;
  std::vector<Draft> drafts_;
  std::vector<Link> links_;
  std::vector<core::topo::Host> loose_hosts_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_map<std::string, std::string> above_host_;  // host -> the switch it is below
  std::int64_t names_ = 0;                                   // in all lists
};

// Slurm's rule for BlockSizes: positive, each later one the first times a power of two, at most 2^15.
void check_block_sizes(const std::vector<std::int64_t>& sizes, const LinePlace& place);

// Removes switches that lead to no host; true when the part itself leads to one.
bool drop_empty_switches(core::topo::NetworkPart& part);

}  // namespace ranktree::io
