// Checks where the ranks of a job are: unbound, overlapping, oversubscribed, or not where a plan places them. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ranktree::core::topo {

// Where one rank is, or should be.
struct RankPlace {
  std::string host;
  std::vector<int> pus;  // operating-system numbers of the PUs it may run on, ascending
};

// The PUs of one host that a job may use.
struct HostPus {
  std::string name;
  std::vector<std::vector<int>> cores;  // the usable PUs of each core, ascending
};

enum class Trouble : std::uint8_t {
  kUnbound,        // these ranks may run on every usable PU of a host that has several
  kOverlap,        // these bound ranks share PUs though the PUs they cover are enough for one each
  kOversubscribed  // more ranks than the PUs they cover
};
std::string_view trouble_name(Trouble trouble);  // "unbound", "overlapping", "oversubscribed"

struct Finding {
  Trouble trouble;
  std::string host;
  std::vector<int> ranks;  // ascending
  std::vector<int> pus;    // all the PUs they cover, ascending
};

// Findings by host in order of first appearance, then by trouble, then by first rank. Bound ranks that reach each other
// through shared PUs are one finding. Ranks of a host missing from `hosts` are never called unbound.
// O(ranks x PUs of a rank x log). Throws Error(kInput) when a rank has no PU.
std::vector<Finding> check_occupancy(std::span<const RankPlace> ranks, std::span<const HostPus> hosts);

// One rank that is not where it was expected.
struct Misplacement {
  int rank;
  RankPlace expected;
  RankPlace found;
};

// Ranks on the wrong host, or (with compare_pus) bound to other PUs than expected; an empty expected host fits any.
// Throws Error(kMismatch) when the numbers of ranks differ.
std::vector<Misplacement> misplaced(std::span<const RankPlace> expected, std::span<const RankPlace> found,
                                    bool compare_pus);

// True when the names are equal, or one of them is the other without its domain ("n0" and "n0.cluster.org").
bool same_host(std::string_view a, std::string_view b);

}  // namespace ranktree::core::topo
