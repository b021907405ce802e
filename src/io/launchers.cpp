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
#include "io/launch_wrapper.h"

namespace ranktree::io {
namespace {

using core::Error;
using core::Fault;
using core::place::Plan;
using core::place::Slot;

constexpr std::array<std::pair<Launcher, std::string_view>, 11> kNames = {{{Launcher::kOpenMpi4, "openmpi4"},
                                                                           {Launcher::kOpenMpi5, "openmpi5"},
                                                                           {Launcher::kMpich, "mpich"},
                                                                           {Launcher::kIntel, "intel"},
                                                                           {Launcher::kSlurm, "slurm"},
                                                                           {Launcher::kCray, "cray"},
                                                                           {Launcher::kAprun, "aprun"},
                                                                           {Launcher::kPals, "pals"},
                                                                           {Launcher::kJsrun, "jsrun"},
                                                                           {Launcher::kFlux, "flux"},
                                                                           {Launcher::kGeneric, "generic"}}};

using HostRanks = std::vector<std::pair<std::string, std::vector<int>>>;  // a host and ranks of it, ascending

std::string in(const std::string& folder, std::string_view name) { return folder + "/" + std::string(name); }

std::string ranks_of(const Plan& plan) { return std::to_string(plan.slots.size()); }

// The hosts that have ranks, in the machine's order, each with its ranks ascending. O(ranks log hosts).
HostRanks ranks_by_host(const Plan& plan) {
  std::map<std::string, std::vector<int>> ranks;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    ranks[plan.slots[rank].host].push_back(static_cast<int>(rank));
  }
  HostRanks result;
  for (const std::string& host : plan.hosts) {
    if (ranks.contains(host)) result.emplace_back(host, ranks.at(host));
  }
  return result;
}

// The ranks that follow each other on one host, in rank order: "n2: 0, 1", "n0: 2", "n2: 3".
HostRanks runs_of_ranks(const Plan& plan) {
  HostRanks runs;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const std::string& host = plan.slots[rank].host;
    if (runs.empty() || runs.back().first != host) runs.emplace_back(host, std::vector<int>{});
    runs.back().second.push_back(static_cast<int>(rank));
  }
  return runs;
}

// ranks_by_host() with each host's ranks in the order of their first PUs, so that every node can bind by one list.
HostRanks cray_order(const Plan& plan) {
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

const std::vector<int>& pus_of(const Plan& plan, int rank) { return plan.slots[static_cast<std::size_t>(rank)].pus; }

// The ranks of the fullest host, if the ranks of every other host have the first of the same PUs in the same order. By
// their PUs launchers bind that have one list for all hosts, by local rank. Empty otherwise.
std::vector<int> alike_on_all_hosts(const Plan& plan, const HostRanks& hosts) {
  const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const std::vector<int>& most = std::max_element(hosts.begin(), hosts.end(), fewer)->second;
  for (const auto& [host, ranks] : hosts) {
    const auto same = [&](int a, int b) { return pus_of(plan, a) == pus_of(plan, b); };
    if (!std::equal(ranks.begin(), ranks.end(), most.begin(), same)) return {};
  }
  return most;
}

// The PUs of ranks in one text, as `format` writes those of one rank.
template <typename Format>
std::string joined_pus(const Plan& plan, const std::vector<int>& ranks, char separator, Format format) {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : std::string(1, separator)) + format(pus_of(plan, rank));
  return text;
}

// "0+2": Hydra's list of the PUs of one rank.
std::string with_plus(const std::vector<int>& pus) {
  std::string text;
  for (const int pu : pus) text += (text.empty() ? "" : "+") + std::to_string(pu);
  return text;
}

// "0x5": PUs 0 and 2 as a mask.
std::string mask(const std::vector<int>& pus) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits(static_cast<std::size_t>(pus.back()) / 4 + 1, '0');
  for (const int pu : pus) {
    char& digit = digits[digits.size() - 1 - static_cast<std::size_t>(pu) / 4];
    digit = kDigits[kDigits.find(digit) | 1U << (static_cast<unsigned>(pu) % 4)];
  }
  return "0x" + digits;
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

// Lines `prefix``host``suffix`, one for each rank in rank order.
std::string hosts_by_rank(const Plan& plan, std::string_view suffix, std::string_view prefix = "") {
  std::string text;
  for (const Slot& slot : plan.slots) text.append(prefix).append(slot.host).append(suffix).append("\n");
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
  for (const auto& [host, ranks] : runs_of_ranks(plan)) {
    text += (text.empty() ? "[" : ",") + std::string("[") + std::to_string(node.at(host)) + ",1," +
            std::to_string(ranks.size()) + ",1]";
  }
  return text + "]";
}

// "n0,n2"
std::string host_names(const HostRanks& hosts) {
  std::string names;
  for (const auto& [host, ranks] : hosts) names += (names.empty() ? "" : ",") + host;
  return names;
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
  add_wrapper(plan, folder, "PRRTE takes no numbers of the operating system", launch);
  return launch;
}

// Lines "n2:2" of Hydra's host file, with PUs "n2:2 binding=user:1,0+2". Hydra counts local ranks anew on each line.
std::string hydra_hosts(const Plan& plan, const HostRanks& runs, bool with_pus) {
  std::string text;
  for (const auto& [host, ranks] : runs) {
    text.append(host).append(":").append(std::to_string(ranks.size()));
    if (with_pus) text += " binding=user:" + joined_pus(plan, ranks, ',', with_plus);
    text += '\n';
  }
  return text;
}

Launch mpich(const Plan& plan, const std::string& folder, bool binds) {
  constexpr std::size_t kLongestList = 900;  // Hydra cuts lines of its host file at 16 KiB, old versions at 1 KiB
  Launch launch;
  launch.starter = "mpiexec";
  launch.options = {"-n", ranks_of(plan)};
  const HostRanks runs = runs_of_ranks(plan);
  const std::vector<int> alike = alike_on_all_hosts(plan, runs);
  const bool fits = !alike.empty() || std::all_of(runs.begin(), runs.end(), [&](const auto& run) {
    return joined_pus(plan, run.second, ',', with_plus).size() <= kLongestList;
  });
  const bool native = binds && fits;
  if (!plan.slots.front().host.empty()) {
    launch.files.push_back({"hostfile", hydra_hosts(plan, runs, native && alike.empty()), false});
    launch.options.insert(launch.options.end(), {"-f", in(folder, "hostfile")});
  }
  if (!native) {
    launch.options.insert(launch.options.end(), {"-bind-to", "none"});
    add_wrapper(plan, folder, fits ? "Hydra alone binds not all as planned" : "Hydra cuts so long a list of PUs",
                launch);
    return launch;
  }
  if (!alike.empty()) {
    launch.options.insert(launch.options.end(), {"-bind-to", "user:" + joined_pus(plan, alike, ',', with_plus)});
  }
  launch.notes = {"Hydra of MPICH 4 binds no rank whose host lacks a PU, and prints nothing: verify the first run"};
  return launch;
}

// Hydra splits the lines of a configuration file at blanks and knows no quotes.
std::string plain_words(std::span<const std::string> program) {
  std::string text;
  for (const std::string& word : program) {
    const auto blank = [](unsigned char letter) { return std::isspace(letter) != 0; };
    if (word.empty() || std::any_of(word.begin(), word.end(), blank)) {
      throw Error(Fault::kUnsupported,
                  "launcher intel: the argument '" + word +
                      "' cannot be written in a configuration file: put the command in a script, " +
                      "and plans into folders without blanks");
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
  // Intel MPI's own list drops a PU named twice, and its proxy never returns from a PU that the node does not have.
  add_wrapper(plan, folder, "Intel MPI's list hangs where a node lacks a PU", launch);
  launch.environment = {"I_MPI_PIN=0"};
  const std::string words = " " + plain_words(launch.wrapper) + " " + plain_words(program);
  launch.wrapper.clear();
  launch.files.push_back({"configfile", hosts_by_rank(plan, words, "-n 1 -host "), false});
  launch.options = {"-configfile", in(folder, "configfile")};
  launch.program_in_file = true;
  return launch;
}

// Why a launcher with a list of PUs by local rank cannot bind a plan (alike_on_all_hosts).
constexpr std::string_view kOneList = "its one list of PUs for all nodes fits not all of this plan's";

std::string slurm_binding(const Plan& plan, const std::vector<int>& ranks) {
  return one_pu_each(plan) ? "map_cpu:" + joined_pus(plan, ranks, ',', cpu_list)
                           : "mask_cpu:" + joined_pus(plan, ranks, ',', mask);
}

Launch slurm(const Plan& plan, const std::string& folder, bool binds) {
  Launch launch;
  launch.starter = "srun";
  launch.files.push_back({"hostfile", hosts_by_rank(plan, ""), false});
  launch.environment = {"SLURM_HOSTFILE=" + in(folder, "hostfile")};
  launch.options = {"-n", ranks_of(plan), "-m", "arbitrary"};
  const std::vector<int> ranks = alike_on_all_hosts(plan, ranks_by_host(plan));
  if (!binds || ranks.empty()) {
    launch.options.emplace_back("--cpu-bind=none");
    add_wrapper(plan, folder,
                binds ? kOneList : "Slurm binds to the first PUs outside a job, and by TaskPlugin=task/affinity only",
                launch);
  } else {
    launch.options.push_back("--cpu-bind=" + slurm_binding(plan, ranks));
    launch.notes = {"Slurm binds, if its TaskPlugin is task/affinity: scontrol show config"};
  }
  if (shares_pus(plan)) launch.options.emplace_back("--overcommit");
  // When a rank cannot be bound, the others would wait in MPI_Init until the job's time limit.
  launch.options.emplace_back("--kill-on-bad-exit=1");
  return launch;
}

// The reason why Cray's file cannot express the plan; empty when it can. The file places blocks of one size, and every
// node binds by the same list.
std::string cray_refusal(const Plan& plan, const HostRanks& hosts) {
  const auto& [first_host, first_ranks] = hosts.front();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& [host, ranks] = hosts[i];
    const bool last = i + 1 == hosts.size();
    if (ranks.size() > first_ranks.size() || (ranks.size() < first_ranks.size() && !last)) {
      return std::string("needs equally many ranks on every node; ")
          .append(first_host + " has " + std::to_string(first_ranks.size()) + ", ")
          .append(host + " " + std::to_string(ranks.size()));
    }
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      if (pus_of(plan, ranks[j]) == pus_of(plan, first_ranks[j])) continue;
      return std::string("needs the same PUs on every node; rank ")
          .append(std::to_string(ranks[j]) + " on " + host + " has " + cpu_list(pus_of(plan, ranks[j])) + ", rank ")
          .append(std::to_string(first_ranks[j]) + " on " + first_host + " " + cpu_list(pus_of(plan, first_ranks[j])));
    }
  }
  return "";
}

// Cray MPICH under its launchers. No wrapper: the library renumbers ranks inside MPI_Init, after a wrapper has read the
// launcher's number.
Launch cray(const Plan& plan, const std::string& folder, Launcher launcher) {
  const HostRanks hosts = cray_order(plan);
  if (const std::string reason = cray_refusal(plan, hosts); !reason.empty()) {
    throw Error(Fault::kUnsupported, "launcher " + std::string(launcher_name(launcher)) + ": MPICH_RANK_ORDER " +
                                         reason + ": use slurm or generic");
  }
  const std::vector<int>& ranks = hosts.front().second;
  const std::string each = std::to_string(ranks.size());
  const std::string lists = joined_pus(plan, ranks, ':', cpu_list);
  Launch launch;
  launch.files.push_back({"MPICH_RANK_ORDER", cray_rank_order(plan), false});
  launch.environment = {"MPICH_RANK_REORDER_METHOD=3", "MPICH_RANK_REORDER_FILE=" + in(folder, "MPICH_RANK_ORDER")};
  launch.notes = {"not checked on a Cray: verify the first run"};
  if (launcher == Launcher::kPals) {
    launch.starter = "mpiexec";
    launch.options = {"-n", ranks_of(plan), "--ppn", each, "--hosts", host_names(hosts), "--cpu-bind", "list:" + lists};
    return launch;
  }
  if (launcher == Launcher::kAprun) {
    launch.starter = "aprun";
    launch.options = {"-n", ranks_of(plan), "-N", each, "-cc", lists};
  } else {
    launch.starter = "srun";
    launch.options = {"-n", ranks_of(plan), "--ntasks-per-node=" + each,
                      "-m", "block",        "--cpu-bind=" + slurm_binding(plan, ranks)};
    if (shares_pus(plan)) launch.options.emplace_back("--overcommit");
  }
  launch.notes.push_back("the job's nodes must be the plan's " + std::to_string(hosts.size()) +
                         ", in the plan's order");
  return launch;
}

// An Explicit Resource File: one line a rank, hosts by number in the allocation from 1 on.
Launch jsrun(const Plan& plan, const std::string& folder) {
  std::string text = "cpu_index_using: physical\n";
  if (shares_pus(plan)) text += "overlapping_rs: allow\noversubscribe_cpu: allow\n";
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const Slot& slot = plan.slots[rank];
    const auto host = std::find(plan.hosts.begin(), plan.hosts.end(), slot.host) - plan.hosts.begin();
    text += "rank: " + std::to_string(rank) + ": { host: " + std::to_string(host + 1) + "; cpu: {" +
            cpu_list(slot.pus) + "} }\n";
  }
  Launch launch;
  launch.starter = "jsrun";
  launch.files.push_back({"erf", std::move(text), false});
  launch.options = {"--erf_input", in(folder, "erf")};
  launch.notes = {"not checked under jsrun: verify the first run",
                  "the job's nodes must be the plan's " + std::to_string(plan.hosts.size()) + ", in the plan's order"};
  return launch;
}

Launch flux(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "flux run";
  const HostRanks hosts = ranks_by_host(plan);
  launch.options = {
      "-N" + std::to_string(hosts.size()),       "-n", ranks_of(plan), "--requires=hosts:" + host_names(hosts),
      "--taskmap=manual:" + flux_task_map(plan), "-o"};
  // Flux has one list for all nodes, by local task.
  if (const std::vector<int> ranks = alike_on_all_hosts(plan, hosts); !ranks.empty()) {
    launch.options.push_back("cpu-affinity=map:" + joined_pus(plan, ranks, ';', cpu_list));
  } else {
    launch.options.emplace_back("cpu-affinity=off");
    add_wrapper(plan, folder, kOneList, launch);
  }
  launch.notes.emplace_back("not checked under Flux: verify the first run");
  launch.notes.emplace_back("the allocation's nodes must be in the plan's order: the task map counts them");
  return launch;
}

Launch generic(const Plan& plan, const std::string& folder) {
  Launch launch;
  launch.starter = "mpirun";
  launch.options = {"-n", ranks_of(plan)};
  add_wrapper(plan, folder, "any launcher works that starts each on its host, with its own binding off", launch);
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

Launch make_launch(const Plan& plan, Launcher launcher, const std::string& folder, std::span<const std::string> program,
                   bool binds) {
  const auto unnamed = [](const Slot& slot) { return slot.host.empty(); };
  const bool here = std::all_of(plan.slots.begin(), plan.slots.end(), unnamed);
  if (launcher != Launcher::kGeneric && !(here && launcher == Launcher::kMpich)) need_host_names(plan, launcher);
  switch (launcher) {
    case Launcher::kOpenMpi4:
      return openmpi4(plan, folder);
    case Launcher::kOpenMpi5:
      return openmpi5(plan, folder);
    case Launcher::kMpich:
      return mpich(plan, folder, binds);
    case Launcher::kIntel:
      return intel(plan, folder, program);
    case Launcher::kSlurm:
      return slurm(plan, folder, binds);
    case Launcher::kCray:
    case Launcher::kAprun:
    case Launcher::kPals:
      return cray(plan, folder, launcher);
    case Launcher::kJsrun:
      return jsrun(plan, folder);
    case Launcher::kFlux:
      return flux(plan, folder);
    case Launcher::kGeneric:
      break;
  }
  return generic(plan, folder);
}

}  // namespace ranktree::io
