#include "io/launchers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/place/plan.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;
using core::place::Plan;
using core::place::Slot;

constexpr std::string_view kWrapper = "ranktree-bind";
constexpr std::string_view kMap = "ranktree-bind.map";

constexpr std::array<std::pair<Launcher, std::string_view>, 8> kNames = {{{Launcher::kOpenMpi4, "openmpi4"},
                                                                          {Launcher::kOpenMpi5, "openmpi5"},
                                                                          {Launcher::kMpich, "mpich"},
                                                                          {Launcher::kIntel, "intel"},
                                                                          {Launcher::kSlurm, "slurm"},
                                                                          {Launcher::kCray, "cray"},
                                                                          {Launcher::kFlux, "flux"},
                                                                          {Launcher::kGeneric, "generic"}}};

std::string in(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

std::string ranks_of(const Plan& plan) { return std::to_string(plan.slots.size()); }

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
# Hydra lets the other ranks wait in MPI_Init for one that has failed; PMI's own request ends them, after a second in
# which Hydra forwards what the rank wrote: it drops the rest. sh knows no descriptors of two digits.
abort_hydra() {
  case ${PMI_FD:-} in '' | *[!0-9]*) return ;; esac
  sleep 1
  command -v bash >/dev/null && bash -c 'printf "cmd=abort exitcode=3\n" >&"$0"' "$PMI_FD"
}
refuse() {
  echo "ranktree: rank ${rank:-?}: $1" >&2
  abort_hydra
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
reason=$(taskset -pc "$pus" $$ 2>&1 >/dev/null) || refuse "cannot bind to PUs $pus on $here: $reason"
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

// The hosts that have ranks, in the machine's order, each with its ranks ascending. O(ranks log hosts).
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

// The same with each host's ranks in the order of their first PUs, so that every node can bind by one list.
std::vector<std::pair<std::string, std::vector<int>>> cray_order(const Plan& plan) {
  auto hosts = ranks_by_host(plan);
  const auto first_pu = [&](int rank) { return plan.slots[static_cast<std::size_t>(rank)].pus.front(); };
  for (auto& [host, ranks] : hosts) {
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) { return first_pu(a) < first_pu(b); });
  }
  return hosts;
}

// True when no rank has several PUs.
bool one_pu_each(const Plan& plan) {
  return std::all_of(plan.slots.begin(), plan.slots.end(), [](const Slot& slot) { return slot.pus.size() == 1; });
}

// True when two ranks have the same PU.
bool shares_pus(const Plan& plan) {
  std::set<std::pair<std::string_view, int>> taken;
  for (const Slot& slot : plan.slots) {
    for (const int pu : slot.pus) {
      if (!taken.emplace(slot.host, pu).second) return true;
    }
  }
  return false;
}

// Lines "rank 0=n2 slot=1": Open MPI's rankfile.
std::string rankfile(const Plan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const Slot& slot = plan.slots[rank];
    text += "rank " + std::to_string(rank) + "=" + slot.host + " slot=" + cpu_list(slot.pus) + "\n";
  }
  return text;
}

// Lines `host``suffix`, one for each rank in rank order.
std::string hosts_by_rank(const Plan& plan, std::string_view suffix) {
  std::string text;
  for (const Slot& slot : plan.slots) text.append(slot.host).append(suffix).append("\n");
  return text;
}

// Lines "rank host list", "-" for a host without a name: what the wrapper reads.
std::string wrapper_map(const Plan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const Slot& slot = plan.slots[rank];
    text += std::to_string(rank) + " " + (slot.host.empty() ? "-" : slot.host) + " " + cpu_list(slot.pus) + "\n";
  }
  return text;
}

// The wrapper itself: a POSIX shell script that reads `map_name` from its own folder.
std::string wrapper_script(std::string_view map_name) {
  const std::string script = replaced(replaced(std::string(kScript), "@RANK@", kRank), "@MAP@", map_name);
  return replaced(script, "@SELF@", "ranktree-bind");
}

// Lines "-n 1 -host n2 -env NAME list program": Intel MPI's configuration file. `program` is the words as they stand in
// the file; without `pin` the lists are left out, with it every rank has one PU.
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

// Cray's MPICH_RANK_ORDER: ranks in the order in which a block placement takes them, one node a line (cray_order).
std::string cray_rank_order(const Plan& plan) {
  std::string text;
  for (const auto& [host, ranks] : cray_order(plan)) {
    text += "# " + host + "\n";
    for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(ranks[i]);
    text += '\n';
  }
  return text;
}

// Flux's task map (RFC 34): [[first node, nodes, tasks a node, repetitions], ...] over the used hosts in plan order.
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

// Launchers address hosts by name. A machine without a Node level has no host names.
void need_host_names(const Plan& plan, Launcher launcher) {
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    if (!plan.slots[rank].host.empty()) continue;
    throw Error(Fault::kUnsupported, "launcher " + std::string(launcher_name(launcher)) + ": rank " +
                                         std::to_string(rank) +
                                         " has no host name: map onto a machine with a node level, or use 'generic'");
  }
}

void add_wrapper(const Plan& plan, const std::string& folder, Launch& launch) {
  launch.files.push_back({std::string(kWrapper), wrapper_script(kMap), true});
  launch.files.push_back({std::string(kMap), wrapper_map(plan), false});
  launch.wrapper = {in(folder, kWrapper)};
}

Launch openmpi4(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "mpirun";
  launch.files.push_back({"rankfile", rankfile(plan), false});
  // Slots are logical cores by default. Physical numbers alone would widen each to its core; with hardware threads
  // counted they are the operating system's PUs.
  launch.options = {"-n",
                    ranks_of(plan),
                    "--rankfile",
                    in(folder, "rankfile"),
                    "--use-hwthread-cpus",
                    "--mca",
                    "rmaps_rank_file_physical",
                    "1"};
  if (shares_pus(plan)) launch.options.emplace_back("--oversubscribe");
  launch.notes = {"mpirun 4.1 exits with code 1 and no message where a slot does not exist"};
  return launch;
}

Launch openmpi5(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "mpirun";
  launch.files.push_back({"hostfile", hosts_by_rank(plan, ""), false});
  // PRRTE's rankfile takes logical numbers only and drops all binding when oversubscribed: hosts come from the
  // sequential mapper, binding from the wrapper.
  launch.options = {"-n", ranks_of(plan), "--hostfile", in(folder, "hostfile"), "--map-by", "seq", "--bind-to", "none"};
  add_wrapper(plan, folder, launch);
  return launch;
}

Launch mpich(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "mpiexec";
  launch.files.push_back({"hostfile", hosts_by_rank(plan, ":1"), false});
  // Hydra's own binding list restarts each time a host is repeated: binding comes from the wrapper.
  launch.options = {"-n", ranks_of(plan), "-f", in(folder, "hostfile"), "-bind-to", "none"};
  add_wrapper(plan, folder, launch);
  return launch;
}

// Hydra splits the lines of a configuration file at blanks and knows no quotes.
std::string plain_words(std::span<const std::string> program) {
  std::string text;
  for (const std::string& word : program) {
    const auto blank = [](unsigned char letter) { return std::isspace(letter) != 0; };
    if (word.empty() || std::any_of(word.begin(), word.end(), blank)) {
      throw Error(Fault::kUnsupported, "launcher intel: the argument '" + word +
                                           "' cannot be written in a configuration file: put the command in a script");
    }
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

Launch intel(const Plan& plan, const std::string& folder, std::span<const std::string> program) {
  if (program.empty()) {
    throw Error(Fault::kUnsupported,
                "launcher intel: its configuration file names the program: write the program after --");
  }
  Launch launch;
  launch.starter = "mpirun";
  std::string words = plain_words(program);
  // Intel MPI drops a PU that its list names twice. It takes lists of masks (I_MPI_PIN_DOMAIN) that differ from host to
  // host from another host's line. The wrapper binds the ranks of such plans.
  const bool pin = one_pu_each(plan) && !shares_pus(plan);
  if (!pin) {
    add_wrapper(plan, folder, launch);
    launch.environment = {"I_MPI_PIN=0"};
    words = launch.wrapper.front() + " " + words;
    launch.wrapper.clear();
  }
  launch.files.push_back({"configfile", intel_configuration(plan, words, pin), false});
  launch.options = {"-configfile", in(folder, "configfile")};
  launch.program_in_file = true;
  return launch;
}

Launch slurm(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "srun";
  launch.files.push_back({"hostfile", hosts_by_rank(plan, ""), false});
  launch.environment = {"SLURM_HOSTFILE=" + in(folder, "hostfile")};
  // Slurm's map_cpu gives the same list to every node by local task: binding comes from the wrapper. When it refuses a
  // rank, the other ranks would wait in MPI_Init until the job's time limit.
  launch.options = {"-n", ranks_of(plan), "-m", "arbitrary", "--cpu-bind=none", "--kill-on-bad-exit=1"};
  add_wrapper(plan, folder, launch);
  return launch;
}

// The reason why Cray's file cannot express the plan; empty when it can. The file places blocks of one size, and every
// node binds by the same list.
std::string cray_refusal(const Plan& plan, const std::vector<std::pair<std::string, std::vector<int>>>& hosts) {
  const auto& [first_host, first_ranks] = hosts.front();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& [host, ranks] = hosts[i];
    const bool last = i + 1 == hosts.size();
    if (ranks.size() > first_ranks.size() || (ranks.size() < first_ranks.size() && !last)) {
      return std::string("needs equally many ranks on every node; ")
          .append(first_host + " has " + std::to_string(first_ranks.size()) + ", ")
          .append(host + " " + std::to_string(ranks.size()));
    }
    const auto pus_of = [&](int rank) -> const std::vector<int>& {
      return plan.slots[static_cast<std::size_t>(rank)].pus;
    };
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      if (pus_of(ranks[j]) == pus_of(first_ranks[j]) && pus_of(ranks[j]).size() == 1) continue;
      return std::string("needs one PU a rank and the same PUs on every node; rank ")
          .append(std::to_string(ranks[j]) + " on " + host + " has " + cpu_list(pus_of(ranks[j])) + ", rank ")
          .append(std::to_string(first_ranks[j]) + " on " + first_host + " " + cpu_list(pus_of(first_ranks[j])));
    }
  }
  return "";
}

Launch cray(const Plan& plan, const std::string& folder) {
  const auto hosts = cray_order(plan);
  if (const std::string reason = cray_refusal(plan, hosts); !reason.empty()) {
    throw Error(Fault::kUnsupported, "launcher cray: MPICH_RANK_ORDER " + reason + ": use slurm or generic");
  }
  std::string pus;
  for (const int rank : hosts.front().second) {
    pus += (pus.empty() ? "" : ",") + cpu_list(plan.slots[static_cast<std::size_t>(rank)].pus);
  }
  Launch launch;
  launch.starter = "srun";
  launch.files.push_back({"MPICH_RANK_ORDER", cray_rank_order(plan), false});
  launch.environment = {"MPICH_RANK_REORDER_METHOD=3", "MPICH_RANK_REORDER_FILE=" + in(folder, "MPICH_RANK_ORDER")};
  launch.options = {"-n", ranks_of(plan), "--ntasks-per-node=" + std::to_string(hosts.front().second.size()),
                    "-m", "block",        "--cpu-bind=map_cpu:" + pus};
  // No wrapper: the library renumbers ranks inside MPI_Init, after a wrapper has read the launcher's number.
  launch.notes = {"not checked on a Cray: verify the first run",
                  "the job's nodes must be the plan's " + std::to_string(hosts.size()) + ", in the plan's order"};
  return launch;
}

Launch flux(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "flux run";
  const auto hosts = ranks_by_host(plan);
  std::string names;
  for (const auto& [host, ranks] : hosts) names += (names.empty() ? "" : ",") + host;
  launch.options = {"-N" + std::to_string(hosts.size()),       "-n", ranks_of(plan),    "--requires=hosts:" + names,
                    "--taskmap=manual:" + flux_task_map(plan), "-o", "cpu-affinity=off"};
  add_wrapper(plan, folder, launch);
  launch.notes = {"not checked under Flux: verify the first run",
                  "the allocation's nodes must be in the plan's order: the task map counts them"};
  return launch;
}

Launch generic(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "mpirun";
  launch.options = {"-n", ranks_of(plan)};
  add_wrapper(plan, folder, launch);
  launch.notes = {
      "any launcher works that starts each rank on its host of the plan, with the launcher's own binding off"};
  return launch;
}

}  // namespace

std::string_view launcher_name(Launcher launcher) {
  return std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.first == launcher; })->second;
}

std::optional<Launcher> launcher_from_name(std::string_view name) {
  for (const auto& [launcher, known] : kNames) {
    if (known == name) return launcher;
  }
  return std::nullopt;
}

std::vector<std::string_view> launcher_names() {
  std::vector<std::string_view> names;
  names.reserve(kNames.size());
  for (const auto& [launcher, name] : kNames) names.push_back(name);
  return names;
}

Launch make_launch(const Plan& plan, Launcher launcher, const std::string& folder,
                   std::span<const std::string> program) {
  if (launcher != Launcher::kGeneric) need_host_names(plan, launcher);
  switch (launcher) {
    case Launcher::kOpenMpi4:
      return openmpi4(plan, folder);
    case Launcher::kOpenMpi5:
      return openmpi5(plan, folder);
    case Launcher::kMpich:
      return mpich(plan, folder);
    case Launcher::kIntel:
      return intel(plan, folder, program);
    case Launcher::kSlurm:
      return slurm(plan, folder);
    case Launcher::kCray:
      return cray(plan, folder);
    case Launcher::kFlux:
      return flux(plan, folder);
    case Launcher::kGeneric:
      break;
  }
  return generic(plan, folder);
}

std::string cpu_list(std::span<const int> pus) {
  std::string text;
  for (std::size_t first = 0; first < pus.size();) {
    std::size_t last = first;
    while (last + 1 < pus.size() && pus[last + 1] == pus[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(pus[first]);
    if (last > first) text += "-" + std::to_string(pus[last]);
    first = last + 1;
  }
  return text;
}

std::string probe_script() { return replaced(std::string(kProbe), "@RANK@", kRank); }

}  // namespace ranktree::io
