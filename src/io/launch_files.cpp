#include "io/launch_files.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/place/plan.h"
#include "io/launchers.h"

namespace ranktree::io {
namespace {

using core::place::Plan;
using core::place::Slot;

// A launcher inside a Slurm job inherits Slurm's variables, so those come last.
constexpr std::string_view kRank =
    "rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${PALS_RANKID:-${FLUX_TASK_RANK:-$SLURM_PROCID}}}}}";

// printf writes the line at once, so that lines of different ranks do not mix.
constexpr std::string_view kProbe = R"SCRIPT(#!/bin/sh
# Written by ranktree. Prints where this rank is: its number, host and PUs.
@RANK@
pus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$$/status")
printf '%s\n' "ranktree-probe $rank $(uname -n) $pus"
)SCRIPT";

// Exits with 3 unless the rank is on the planned host and the kernel confirms the binding.
constexpr std::string_view kScript = R"SCRIPT(#!/bin/sh
# Written by ranktree. Binds this rank to its PUs in the plan, checks that it is on the planned host, and becomes
# the program. Usage: LAUNCHER ... @SELF@ PROGRAM [ARGUMENT...]. Exit code 3: the rank is not on its slot of the plan.
@RANK@
planned=
map=$(dirname -- "$0")/@MAP@
refuse() {
  echo "ranktree: rank ${rank:-?}: $1" >&2
  exit 3
}
case $rank in '' | *[!0-9]*) refuse "no launcher's rank variable is set" ;; esac
[ -r "$map" ] || refuse "cannot read $map on $(uname -n)"
slot=$(sed -n "/^$rank /{s/^[^ ]* //p;q;}" "$map")
[ -n "$slot" ] || refuse "$map has no line for this rank"
host=${slot% *}
pus=${slot#* }
here=$(uname -n)
case $host in
  - | "$here") planned=yes ;;
  *.*) [ "${host%%.*}" = "$here" ] && planned=yes ;;
  *) [ "$host" = "${here%%.*}" ] && planned=yes ;;
esac
[ "$planned" = yes ] || refuse "expected host $host, found $here"
reason=$(taskset -pc "$pus" $$ 2>&1) || refuse "cannot bind to PUs $pus on $here: $reason"
bound=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$$/status")
[ "$bound" = "$pus" ] || refuse "expected PUs $pus on $here, bound to $bound"
exec "$@"
)SCRIPT";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Every line of Intel's file carries the list of the whole host: entry i is for the host's i-th rank.
std::string intel_pinning(const Plan& plan, const std::vector<int>& ranks) {
  std::string list;
  for (const int rank : ranks) {
    list += (list.empty() ? "" : ",") + std::to_string(plan.slots[static_cast<std::size_t>(rank)].pus.front());
  }
  return "-env I_MPI_PIN_PROCESSOR_LIST " + list;
}

}  // namespace

std::string rankfile(const Plan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const Slot& slot = plan.slots[rank];
    text += "rank " + std::to_string(rank) + "=" + slot.host + " slot=" + cpu_list(slot.pus) + "\n";
  }
  return text;
}

std::string hosts_by_rank(const Plan& plan, std::string_view suffix) {
  std::string text;
  for (const Slot& slot : plan.slots) text.append(slot.host).append(suffix).append("\n");
  return text;
}

std::string wrapper_map(const Plan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const Slot& slot = plan.slots[rank];
    text += std::to_string(rank) + " " + (slot.host.empty() ? "-" : slot.host) + " " + cpu_list(slot.pus) + "\n";
  }
  return text;
}

std::string wrapper_script(std::string_view map_name) {
  const std::string script = replaced(replaced(std::string(kScript), "@RANK@", kRank), "@MAP@", map_name);
  return replaced(script, "@SELF@", "ranktree-bind");
}

std::string probe_script() { return replaced(std::string(kProbe), "@RANK@", kRank); }

std::string intel_configuration(const Plan& plan, const std::string& program, bool pin) {
  std::map<std::string, std::string> pinning;
  for (const auto& [host, ranks] : ranks_by_host(plan)) {
    pinning.emplace(host, pin ? intel_pinning(plan, ranks) + " " : "");
  }
  std::string text;
  for (const Slot& slot : plan.slots) {
    text += "-n 1 -host " + slot.host + " " + pinning.at(slot.host) + program + "\n";
  }
  return text;
}

std::string cray_rank_order(const Plan& plan) {
  std::string text;
  for (const auto& [host, ranks] : cray_order(plan)) {
    text += "# " + host + "\n";
    for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(ranks[i]);
    text += '\n';
  }
  return text;
}

std::string flux_task_map(const Plan& plan) {
  std::map<std::string, std::size_t> node;
  for (const auto& [host, ranks] : ranks_by_host(plan)) node.emplace(host, node.size());
  std::string text;
  for (std::size_t rank = 0; rank < plan.slots.size();) {
    const std::string& host = plan.slots[rank].host;
    std::size_t end = rank;
    while (end < plan.slots.size() && plan.slots[end].host == host) ++end;
    text += (text.empty() ? "[" : ",") + std::string("[") + std::to_string(node.at(host)) + ",1," +
            std::to_string(end - rank) + ",1]";
    rank = end;
  }
  return text + "]";
}

std::vector<std::pair<std::string, std::vector<int>>> ranks_by_host(const Plan& plan) {
  std::map<std::string, std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    ranks[plan.slots[rank].host].push_back(static_cast<int>(rank));
  }
  std::vector<std::pair<std::string, std::vector<int>>> result;
  for (const std::string& host : plan.hosts) {
    if (ranks.contains(host)) result.emplace_back(host, ranks.at(host));
  }
  return result;
}

std::vector<std::pair<std::string, std::vector<int>>> cray_order(const Plan& plan) {
  auto hosts = ranks_by_host(plan);
  const auto first_pu = [&](int rank) { return plan.slots[static_cast<std::size_t>(rank)].pus.front(); };
  for (auto& [host, ranks] : hosts) {
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) { return first_pu(a) < first_pu(b); });
  }
  return hosts;
}

bool one_pu_each(const Plan& plan) {
  return std::all_of(plan.slots.begin(), plan.slots.end(), [](const Slot& slot) { return slot.pus.size() == 1; });
}

bool shares_pus(const Plan& plan) {
  std::set<std::pair<std::string_view, int>> taken;
  for (const Slot& slot : plan.slots) {
    for (const int pu : slot.pus) {
      if (!taken.emplace(slot.host, pu).second) return true;
    }
  }
  return false;
}

}  // namespace ranktree::io
