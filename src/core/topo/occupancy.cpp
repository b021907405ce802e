#include "core/topo/occupancy.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ranktree::core::topo {
namespace {

// Ranks joined by shared PUs (union-find with path halving).
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }
  void join(std::size_t a, std::size_t b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

 private:
  std::vector<std::size_t> parent_;
};

std::vector<int> covered(std::span<const RankPlace> places, const std::vector<int>& ranks) {
  std::set<int> pus;
  for (const int rank : ranks) {
    const std::vector<int>& own = places[static_cast<std::size_t>(rank)].pus;
    pus.insert(own.begin(), own.end());
  }
  return {pus.begin(), pus.end()};
}

using UsablePus = std::map<std::string, std::vector<int>, std::less<>>;

UsablePus usable_pus_of(std::span<const HostPus> hosts) {
  UsablePus result;
  for (const HostPus& host : hosts) {
    std::vector<int>& pus = result[host.name];
    for (const std::vector<int>& core : host.cores) pus.insert(pus.end(), core.begin(), core.end());
    std::sort(pus.begin(), pus.end());
  }
  return result;
}

// The bound ranks of one host, in groups that share PUs; single ranks are left out.
std::vector<std::vector<int>> sharing(std::span<const RankPlace> places, const std::vector<int>& ranks) {
  Groups groups(ranks.size());
  std::map<int, std::size_t> first_on;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const int pu : places[static_cast<std::size_t>(ranks[i])].pus) {
      const auto [entry, fresh] = first_on.emplace(pu, i);
      if (!fresh) groups.join(entry->second, i);
    }
  }
  std::map<std::size_t, std::vector<int>> members;
  for (std::size_t i = 0; i < ranks.size(); ++i) members[groups.find(i)].push_back(ranks[i]);
  std::vector<std::vector<int>> result;
  for (auto& [leader, group] : members) {
    if (group.size() > 1) result.push_back(std::move(group));
  }
  return result;
}

void check_host(std::span<const RankPlace> places, const std::string& host, const std::vector<int>& ranks,
                const std::vector<int>& usable_pus, std::vector<Finding>& findings) {
  std::vector<int> unbound;
  std::vector<int> bound;
  for (const int rank : ranks) {
    const std::vector<int>& pus = places[static_cast<std::size_t>(rank)].pus;
    const bool everywhere =
        usable_pus.size() > 1 && std::includes(pus.begin(), pus.end(), usable_pus.begin(), usable_pus.end());
    (everywhere ? unbound : bound).push_back(rank);
  }
  if (!unbound.empty()) findings.push_back({Trouble::kUnbound, host, unbound, covered(places, unbound)});
  std::vector<Finding> oversubscribed;
  for (std::vector<int>& group : sharing(places, bound)) {
    std::vector<int> pus = covered(places, group);
    const bool crowded = group.size() > pus.size();
    auto& target = crowded ? oversubscribed : findings;
    target.push_back({crowded ? Trouble::kOversubscribed : Trouble::kOverlap, host, std::move(group), std::move(pus)});
  }
  // Unbound ranks count as oversubscribing the whole host.
  if (!unbound.empty() && ranks.size() > usable_pus.size()) {
    oversubscribed.push_back({Trouble::kOversubscribed, host, ranks, usable_pus});
  }
  std::move(oversubscribed.begin(), oversubscribed.end(), std::back_inserter(findings));
}

std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string_view trouble_name(Trouble trouble) {
  switch (trouble) {
    case Trouble::kUnbound:
      return "unbound";
    case Trouble::kOverlap:
      return "overlapping";
    case Trouble::kOversubscribed:
      break;
  }
  return "oversubscribed";
}

std::vector<Finding> check_occupancy(std::span<const RankPlace> ranks, std::span<const HostPus> hosts) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<int>> on_host;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].pus.empty()) {
      throw Error(Fault::kInput, "rank " + std::to_string(rank) + ": expected at least one PU, found none");
    }
    std::vector<int>& members = on_host[ranks[rank].host];
    if (members.empty()) order.push_back(ranks[rank].host);
    members.push_back(static_cast<int>(rank));
  }
  std::vector<Finding> findings;
  UsablePus usable = usable_pus_of(hosts);
  for (const std::string& host : order) check_host(ranks, host, on_host.at(host), usable[host], findings);
  return findings;
}

std::vector<Misplacement> misplaced(std::span<const RankPlace> expected, std::span<const RankPlace> found,
                                    bool compare_pus) {
  if (expected.size() != found.size()) {
    throw Error(Fault::kMismatch,
                "expected " + std::to_string(expected.size()) + " ranks, found " + std::to_string(found.size()));
  }
  std::vector<Misplacement> result;
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    const RankPlace& wanted = expected[rank];
    const bool host_fits = wanted.host.empty() || same_host(wanted.host, found[rank].host);
    const bool pus_fit = !compare_pus || wanted.pus == found[rank].pus;
    if (!host_fits || !pus_fit) result.push_back({static_cast<int>(rank), wanted, found[rank]});
  }
  return result;
}

bool same_host(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const bool a_is_short = a.find('.') == std::string_view::npos;
  const bool b_is_short = b.find('.') == std::string_view::npos;
  return (a_is_short || b_is_short) && short_name(a) == short_name(b);
}

}  // namespace ranktree::core::topo
