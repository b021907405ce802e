"""A launcher's command made to follow a plan: the caller's options stay, placement comes from the plan."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ranktree import _core
from ranktree.launcher import LaunchCommand, Option, hosts_named
from ranktree.launcher_options import BINDING, COUNTS, HOSTS, ONE_PART, PLACEMENT, REDIRECTING

CONFLICTING_PARAMETER = re.compile(
    r"^(rmaps_base_(mapping_policy|ranking_policy|pattern|n_pernode|n_persocket|cpus_per_proc|pernode|bynode|no_schedule_local)"
    r"|rmaps_(default_mapping_policy|rank_file_path|ppr_.*|seq_.*)|hwloc_(base|default)_binding_policy|hwloc_.*cpu_list)$"
)
# Variables that would place or bind beside the plan; the launcher is started without them.
VARIABLES = re.compile(
    r"^(OMPI_MCA_rmaps_base_(mapping|ranking)_policy|OMPI_MCA_hwloc_base_(binding_policy|cpu_list)|OMPI_MCA_rmaps_rank_file_.*"
    r"|PRTE_MCA_(rmaps_default_(mapping|ranking)_policy|hwloc_default_(binding_policy|cpu_list))"
    r"|HYDRA_(BINDING|BIND_TO|MAP_BY|HOST_FILE|CONFIG_FILE)|I_MPI_(PIN.*|PERHOST|HYDRA_HOST_FILE)"
    r"|SLURM_(HOSTFILE|DISTRIBUTION|CPU_BIND.*|NTASKS_PER_.*|EXACT|EXCLUSIVE|THREADS_PER_CORE)|SRUN_CPUS_PER_TASK|PALS_(PPN|HOSTLIST|CPU_BIND|DEPTH|CONFIGFILE)"
    r"|MPICH_RANK_REORDER_(METHOD|FILE))$"
)


def conflict(command: LaunchCommand, option: Option) -> bool:
    """True when an option places or binds ranks; 'bind nothing' is no conflict, the plan binds."""
    if option.name in {"o", "setopt"} and command.family == "flux":
        return option.values[0].startswith("cpu-affinity") and not binds_nothing(option)
    if option.name in BINDING and option.values[:1] == ("none",):
        return False
    if option.name == "bind-to":
        return True
    if option.name in {"mca", "gmca", "omca", "prtemca"} and len(option.values) == 2:
        parameter, value = option.values
        return bool(CONFLICTING_PARAMETER.match(parameter)) and value != "none"
    if command.family == "slurm" and option.name in {"c", "cpus-per-task"}:
        return option.values[:1] != ("1",)
    return option.name in PLACEMENT[command.family]


def without_placement(command: LaunchCommand) -> tuple[list[str], list[str]]:
    """The command's words without the options that place or bind ranks, which a plan replaces; and those options."""
    kept = [option for option in command.options if not conflict(command, option)]
    dropped = [shlex.join(option.words) for option in command.options if conflict(command, option)]
    words = [command.starter, *(word for option in kept for word in option.words), *command.program]
    return [*command.prefix, *words], dropped


def binds_nothing(option: Option) -> bool:
    """The options that conflict() lets pass because the plan replaces them."""
    if option.name in BINDING:
        return option.values[:1] == ("none",)
    if option.name in {"c", "cpus-per-task"} or option.values == ("cpu-affinity=off",):
        return True
    return len(option.values) == 2 and bool(CONFLICTING_PARAMETER.match(option.values[0]))


def takes_cpus(option: Option) -> bool:
    """Whether srun gives a step fewer CPUs than the job has, so that those of the plan may be missing.

    Outside a job --exclusive is for whole nodes.
    """
    return option.name in {"exact", "threads-per-core"} or (option.name == "exclusive" and "SLURM_JOB_ID" in os.environ)


def launcher_for(command: LaunchCommand, slots: Sequence[tuple[str, list[int]]]) -> str:
    """The launcher to write for; all but Hydra bind a plan for one machine without a name by the wrapper only."""
    return command.launcher if command.family == "mpich" or any(host for host, _ in slots) else "generic"


def visible(command: LaunchCommand) -> LaunchCommand:
    """The same without options that write the program's output to files, for helpers in its place."""
    return replace(command, options=[option for option in command.options if not redirects(option, command.family)])


def redirects(option: Option, family: str) -> bool:
    """Whether an option writes the program's output to files."""
    if family == "openmpi" and option.name == "output":
        return re.search(r"(^|[,:])(file|dir)=", ",".join(option.values)) is not None
    if family == "flux" and option.name in {"o", "setopt"}:
        return option.values[0].startswith("output.")
    return option.name in REDIRECTING.get(family, ())


def kept_options(command: LaunchCommand, slots: Sequence[tuple[str, list[int]]]) -> list[str]:
    """The words of the options that stay. ValueError names the option that contradicts the plan."""
    replaced_hosts = HOSTS.get(command.launcher, frozenset()) if any(host for host, _ in slots) else frozenset()
    kept: list[str] = []
    for option in command.options:
        written = " ".join(option.words)
        if option.name in COUNTS[command.family]:
            if option.values != (str(len(slots)),):
                raise ValueError(f"'{written}' contradicts the plan, which places {len(slots)} ranks")
        elif conflict(command, option):
            raise ValueError(f"'{written}' places or binds ranks, and so does the plan: leave it out")
        elif replaced_hosts and option.name in ONE_PART.get(command.launcher, ()):
            raise ValueError(f"'{written}' is of one part of a command, and a plan has many: write -g{option.name}")
        elif option.name not in replaced_hosts and not binds_nothing(option) and not takes_cpus(option):
            kept.extend(option.words)
    check_hosts(command, slots)
    return kept


def check_hosts(command: LaunchCommand, slots: Sequence[tuple[str, list[int]]]) -> None:
    """A command that names hosts must name those of the plan."""
    named = hosts_named(command)
    if named is None:
        return
    for host in dict.fromkeys(host for host, _ in slots if host):
        if not any(_core.same_host(host, other) for other in named):
            rank = next(rank for rank, (other, _) in enumerate(slots) if other == host)
            raise ValueError(f"the command's hosts are {','.join(named)}; the plan has rank {rank} on {host}")


def rewrite(
    command: LaunchCommand, launch: Mapping[str, Any], kept: Sequence[str], program: Sequence[str]
) -> list[str]:
    """The command with the launch's options and `program`, its wrapper included."""
    started = [] if launch["program_in_file"] else [*launch["wrapper"], *program]
    chosen = any(option.name == "kill-on-bad-exit" or option.words[0].startswith("-K") for option in command.options)
    options = [word for word in launch["options"] if not (chosen and word.startswith("--kill-on-bad-exit"))]
    return [*command.prefix, command.starter, *kept, *options, *started]


def environment(given: Mapping[str, str], launch: Mapping[str, Any]) -> dict[str, str]:
    """The launcher's environment: without variables that place ranks, with those the plan needs."""
    result = {name: value for name, value in given.items() if not VARIABLES.match(name)}
    return result | dict(entry.split("=", 1) for entry in launch["environment"])
