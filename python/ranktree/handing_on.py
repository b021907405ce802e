"""The words by which each launcher gives variables to the ranks, beside those that the command gives already."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ranktree.launcher import option_from
from ranktree.launcher_options import HYDRA_TWO

if TYPE_CHECKING:
    from ranktree.shim import Command, Preload

PRELOAD = "LD_PRELOAD"
ENVIRONMENT_LIST = "mca_base_env_list"


def openmpi_words(_: int, __: list[list[str]], settings: Mapping[str, str], ___: "Preload") -> list[str]:
    """Open MPI's options for the ranks of one part."""
    return [word for name, value in settings.items() for word in ("-x", f"{name}={value}")]


def hydra_words(index: int, _: list[list[str]], settings: Mapping[str, str], __: "Preload") -> list[str]:
    """Hydra's options: for all parts in front of the first, then a part's own preload."""
    if index == 0:
        return [word for name, value in settings.items() for word in ("-genv", name, value)]
    return ["-env", PRELOAD, settings[PRELOAD]]


def inherited_export() -> str:
    """What srun exports without an option."""
    return os.environ.get("SRUN_EXPORT_ENV") or os.environ.get("SLURM_EXPORT_ENV", "ALL")


def slurm_export(_: int, options: list[list[str]], settings: Mapping[str, str], ours: "Preload") -> list[str]:
    """One --export for srun: what the command exports, else SRUN_EXPORT_ENV, else SLURM_EXPORT_ENV, and ours."""
    exported = inherited_export()
    for option in list(options):
        name, equals, value = option[0].partition("=")
        if name == "--export":
            exported = value if equals else option[1]
            options.remove(option)
    kept = [word for word in exported.split(",") if word and word not in {"NONE", "NIL"}]
    own = [word.partition("=")[2] for word in kept if word.startswith(f"{PRELOAD}=")]
    kept = [word for word in kept if not word.startswith(f"{PRELOAD}=")]
    values = dict(settings)
    if own:
        values[PRELOAD] = ours.after(own[-1])
    for name, value in values.items():
        if "," in value:
            raise ValueError(f"srun --export cannot hand on {name}={value}: it holds a comma")
    return ["--export=" + ",".join([*kept, *(f"{name}={value}" for name, value in values.items())])]


def assigned(option: str) -> Callable[..., list[str]]:
    """`option NAME=VALUE` for each variable, for all parts in front of the first; then a part's own preload."""

    def words(index: int, _: list[list[str]], settings: Mapping[str, str], __: "Preload") -> list[str]:
        values = settings if index == 0 else {PRELOAD: settings[PRELOAD]}
        return [word for name, value in values.items() for word in (option, f"{name}={value}")]

    return words


HANDING_ON = {
    "openmpi": openmpi_words,
    "mpich": hydra_words,
    "intel": hydra_words,
    "slurm": slurm_export,
    "flux": assigned("--env"),
    "aprun": assigned("-e"),
    "jsrun": assigned("--env"),
    "pals": assigned("--env"),
}
ASSIGNING = {  # options with NAME=VALUE
    "openmpi": {"x"},
    "flux": {"env"},
    "aprun": {"e", "environment-override"},
    "jsrun": {"E", "env"},
    "pals": {"env"},
}


def take_environment_list(command: "Command") -> str | None:
    """Open MPI refuses -x beside a list of variables; removes the command's own list and returns it."""
    if command.family != "openmpi":
        return None
    found = os.environ.get(f"OMPI_MCA_{ENVIRONMENT_LIST}")
    for part in command.parts:
        for option in list(part.options):
            if option[0].lstrip("-") in {"mca", "gmca", "omca"} and option[1:2] == [ENVIRONMENT_LIST]:
                found = option[2]
                part.options.remove(option)
    return found


def listed_with(listed: str, settings: Mapping[str, str], ours: "Preload") -> str:
    """The caller's list, with our variables at its end."""
    words = [word for word in listed.split(";") if word]
    own = [word.partition("=")[2] for word in words if word.startswith(f"{PRELOAD}=")]
    kept = [word for word in words if word != PRELOAD and not word.startswith(f"{PRELOAD}=")]
    values = {**settings, PRELOAD: ours.after(own[-1]) if own else settings[PRELOAD]}
    for name, value in values.items():
        if ";" in value:
            raise ValueError(f"{ENVIRONMENT_LIST} cannot hand on {name}={value}: it holds a semicolon")
    return ";".join([*kept, *(f"{name}={value}" for name, value in values.items())])


def preload_of_all(command: "Command") -> str | None:
    """The LD_PRELOAD that Hydra's -genv, in front of the first part, gives to all of them."""
    options = [option for option in command.parts[0].options if option[0].lstrip("-") == "genv"]
    return take_preload(options, command.family)


def take_preload(options: list[list[str]], family: str) -> str | None:
    """Removes an LD_PRELOAD that the command itself sets and returns its value."""
    found = None
    for option in list(options):
        known = option_from(option, family)
        if family in {"mpich", "intel"} and known.name in HYDRA_TWO:
            name, equals, value = known.values[0].partition("=")
            if name != PRELOAD:
                continue
            found = value if equals else known.values[1]
        elif known.name in ASSIGNING.get(family, ()) and known.values[0].partition("=")[0] == PRELOAD:
            found = known.values[0].partition("=")[2] or os.environ.get(PRELOAD)
        else:
            continue
        options.remove(option)
    return found
