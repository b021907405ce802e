#include "io/launch_wrapper.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/place/plan.h"
#include "io/launchers.h"

namespace ranktree::io {
namespace {

using core::place::Plan;
using core::place::Slot;

// A launcher inside a Slurm job inherits Slurm's variables, so those come last; Hydra's ranks may have inherited
// PMIx's.
constexpr std::string_view kRank = R"SCRIPT(hydra=${PMI_FD:-${HYDI_CONTROL_FD:-${MPI_LOCALRANKID:-}}}
rank=${OMPI_COMM_WORLD_RANK:-${hydra:+${PMI_RANK:-}}}
rank=${rank:-${PMIX_RANK:-${PMI_RANK:-${PALS_RANKID:-${FLUX_TASK_RANK:-${ALPS_APP_PE:-$SLURM_PROCID}}}}}})SCRIPT";

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
# Hydra lets the other ranks wait in MPI_Init for one that has failed; PMI's own request ends them. sh knows no
# descriptors of two digits.
abort_hydra() {
  case ${PMI_FD:-} in '' | *[!0-9]*) return ;; esac
  command -v bash >/dev/null && bash -c 'printf "cmd=abort exitcode=3\n" >&"$0"' "$PMI_FD"
}
refuse() {
  echo "ranktree: rank ${rank:-?}: $1" >&2
  sleep 1  # Hydra and srun end the job at once then, and drop what they have not forwarded yet
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

// Lines "rank host list", "-" for a host without a name: what the wrapper reads.
std::string wrapper_map(const Plan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.slots.size(); ++rank) {
    const Slot& slot = plan.slots[rank];
    text += std::to_string(rank) + " " + (slot.host.empty() ? "-" : slot.host) + " " + cpu_list(slot.pus) + "\n";
  }
  return text;
}

}  // namespace

void add_wrapper(const Plan& plan, const std::string& folder, std::string_view reason, Launch& launch) {
  const std::string name = "ranktree-bind";
  std::string script = replaced(replaced(std::string(kScript), "@RANK@", kRank), "@MAP@", name + ".map");
  launch.files.push_back({name, replaced(std::move(script), "@SELF@", name), true});
  launch.files.push_back({name + ".map", wrapper_map(plan), false});
  launch.wrapper = {folder + "/" + name};
  launch.notes.push_back("the wrapper " + name + " binds the ranks: " + std::string(reason));
}

std::string probe_script() { return replaced(std::string(kProbe), "@RANK@", kRank); }

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

}  // namespace ranktree::io
