"""Finds out where ranks are: by a launch of the user's command with a helper program, or inside a running job."""

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from ranktree import _core, ranks, verify
from ranktree.advice import launcher_family
from ranktree.allocation import of_job
from ranktree.child import Child, Interrupted
from ranktree.helpers import product
from ranktree.launcher import LaunchCommand, take_apart, version_numbers
from ranktree.rewrite import visible
from ranktree.shim import NAMES
from ranktree.where.findings import Place, findings
from ranktree.where.hosts import Host, binding, hosts_in, touched
from ranktree.where.job_launcher import job_version

FORMAT, VERSION = "ranktree-where", 1
SCRIPT = "ranktree-host"
REASONS = 3  # lines of a launcher that failed


@dataclass
class Found:
    """The places of all ranks, by rank, and what is known of their hosts."""

    launcher: str  # as `ranktree emit --launcher` names it
    version: str
    mpi: str
    places: list[Place]
    hosts: dict[str, Host] = field(default_factory=dict)


def by_launch(words: Sequence[str]) -> dict[str, Any]:
    """Where the ranks of a launcher's command are."""
    return described(found_by_launch(take_apart(words)))


def found_by_launch(command: LaunchCommand) -> Found:
    """Starts the command with our program in place of the user's. Interrupted when a signal ends it."""
    with verify.folder_within(Path.cwd(), ".ranktree-") as folder:
        script = folder / SCRIPT
        script.write_text(files("ranktree.where").joinpath("host.sh").read_text(encoding="ascii"), encoding="ascii")
        script.chmod(0o755)
        options = [word for option in visible(command).options for word in option.words]
        arguments = [*command.prefix, command.starter, *options, str(script), verify.stand_in(command, folder)]
        return read(started(arguments, folder), command)


def started(arguments: list[str], folder: Path) -> str:
    """What the launched program printed. RuntimeError is the reason why there is nothing."""
    child = Child(arguments, os.environ)
    output, errors = folder / "output", folder / "errors"
    code = child.run(verify.SECONDS, output, errors)
    if child.ended_by is not None:
        raise Interrupted(child.ended_by)
    if child.late:
        raise RuntimeError(f"where: the launch did not end in {verify.SECONDS} s")
    text = output.read_text(encoding="utf-8", errors="replace")
    if not verify.places(text):
        lines = errors.read_text(encoding="utf-8", errors="replace").splitlines()
        reason = " | ".join([line.strip() for line in lines if line.strip("- ")][:REASONS]) or "no message"
        raise RuntimeError(f"where: the launch failed with exit code {code}: {reason}")
    return text


def read(text: str, command: LaunchCommand) -> Found:
    """The ranks and hosts in what our programs printed."""
    document = helper_document(text)
    version = ".".join(map(str, command.version))
    mpi = document["mpi"] if document else f"{NAMES[command.family]} {version}".strip()
    found = Found(command.launcher, version, mpi, verify.places(text), hosts_in(text))
    add_usable(found, document)
    return found


def helper_document(text: str) -> dict[str, Any] | None:
    """The JSON of ranktree-ranks-<mpi>; None where the launch ran the script that needs no MPI."""
    for line in text.splitlines():
        start = line.find(verify.HELPER_MARK)
        if start >= 0:
            document: dict[str, Any] = json.loads(line[start:])
            return document
    return None


def add_usable(found: Found, document: dict[str, Any] | None) -> None:
    """The cores that the job may use, as the helper finds them; all of the host's otherwise."""
    for entry in document["hosts"] if document else []:
        host = found.hosts.setdefault(entry["name"], Host(entry["name"]))
        host.usable = entry["cores"]
        host.cores = host.cores or list(entry["cores"])
    for host in found.hosts.values():
        host.usable = host.usable or host.cores
    confine(found)


def confine(found: Found) -> None:
    """Where a job has some CPUs of a node and no cgroup, only the binding of its ranks shows which it may use.

    A CPU of Slurm is a PU or a core.
    """
    job = of_job(os.environ)
    if job is None or not job.cpus:
        return
    bound: dict[str, set[int]] = {name: set() for name in found.hosts}
    for name, pus in found.places:
        bound.setdefault(name, set()).update(pus)
    for name, host in found.hosts.items():
        cpus = job.cpus_of(name)
        if cpus is not None and cpus < sum(map(len, host.usable)) and cpus != len(host.usable):
            cores = ([pu for pu in core if pu in bound[name]] for core in host.usable)
            host.usable = [core for core in cores if core]
            host.in_doubt = len(bound[name]) < cpus


def inside_job() -> dict[str, Any] | None:
    """Every rank of a job calls this; the result at rank 0, None elsewhere. RuntimeError outside of a launch."""
    family = launcher_family(os.environ)
    if family is None:
        raise RuntimeError(
            "where: no launcher started this process; use: ranktree where -- mpirun -n N ./app, or: "
            "mpirun -n N ranktree where"
        )
    text = ranks.places_text(ranks.choose_helper())
    if not text:
        return None
    document = json.loads(text)
    places = [(entry["host"], entry["pus"]) for entry in document["ranks"]]
    version = job_version(family)
    mpi = mpi_text(family, version, document["mpi"])
    found = Found(launcher_of(family, version, document["mpi"]), ".".join(map(str, version)), mpi, places)
    if len({host for host, _ in places}) == 1:
        add_this_host(found, places[0][0])
    add_usable(found, document)
    return described(found)


def mpi_text(family: str, version: tuple[int, ...], helper: str) -> str:
    """The MPI of the job; the helper's own where nothing else is known, or its version is the same."""
    if not version or version_numbers(helper) == version:
        return helper
    return f"{NAMES[family]} {'.'.join(map(str, version))} (seen by a program of {helper.partition(',')[0]})"


def launcher_of(family: str, version: tuple[int, ...], mpi: str) -> str:
    """The launcher's name by its version, else by that of the MPI that the helper has."""
    if family != "openmpi":
        return family
    if version:
        return "openmpi5" if version >= (5,) else "openmpi4"
    return "openmpi4" if "v4." in mpi or "v3." in mpi else "openmpi5"


def add_this_host(found: Found, name: str) -> None:
    """Packages and NUMA nodes of the host where this process is, by the same script."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / SCRIPT
        script.write_text(files("ranktree.where").joinpath("host.sh").read_text(encoding="ascii"), encoding="ascii")
        output = Path(folder) / "output"
        Child(["sh", str(script), "true"], {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}).run(30, output)
        for host in hosts_in(output.read_text(encoding="utf-8", errors="replace")).values():
            host.name = name
            found.hosts[name] = host


def described(found: Found) -> dict[str, Any]:
    """The document (docs/how-to/read-the-binding.md)."""
    sharers = sharing(found.places)
    rows = []
    for rank, (name, pus) in enumerate(found.places):
        host = found.hosts.get(name, Host(name))
        rows.append(
            {
                "rank": rank,
                "host": name,
                "pus": pus,
                "binding": binding(pus, host),
                "cores": touched(pus, dict(enumerate(host.cores))),
                "numa": touched(pus, host.numa),
                "packages": touched(pus, dict(enumerate(host.packages))),
                "shares_with": sharers[rank],
            }
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "launcher": found.launcher,
        "launcher_version": found.version,
        "mpi": found.mpi,
        "ranks": rows,
        "findings": findings(found.places, found.hosts, found.launcher),
    }


def sharing(places: Sequence[Place]) -> list[list[int]]:
    """By rank: the other ranks that may run on one of its PUs."""
    on: dict[tuple[str, int], set[int]] = {}
    for rank, (host, pus) in enumerate(places):
        for pu in pus:
            on.setdefault((host, pu), set()).add(rank)
    sharers = {  # the same for all ranks on the same PUs
        (host, pus): sorted(set().union(*(on[host, pu] for pu in pus)))
        for host, pus in {(host, tuple(pus)) for host, pus in places}
    }
    return [[other for other in sharers[host, tuple(pus)] if other != rank] for rank, (host, pus) in enumerate(places)]


def as_text(document: dict[str, Any]) -> str:
    """A line a rank, then a line a finding."""
    header = ["rank", "host", "binding", "PUs", "NUMA", "shared with"]
    rows = [
        [
            str(row["rank"]),
            row["host"],
            row["binding"],
            _core.cpu_list(row["pus"]),
            _core.cpu_list(row["numa"]) or "-",
            _core.cpu_list(row["shares_with"]) or "-",
        ]
        for row in document["ranks"]
    ]
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = [f"{len(rows)} {'rank' if len(rows) == 1 else 'ranks'}, {product(document['mpi'])}"]
    for first, *others in [header, *rows]:
        lines.append("  ".join([first.rjust(widths[0]), *map(str.ljust, others, widths[1:])]).rstrip())
    lines += finding_lines(document["findings"])
    return "\n".join(lines if document["findings"] else [*lines, "every rank is bound, no two share a PU"])


def finding_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """A line a finding; those of the same ranks that the same flag corrects share one."""
    troubles: dict[str, list[str]] = {}
    for each in found:
        text = f"{ranks.shortened(each['ranks'])} on {each['host']}, {what_of(each)}"
        troubles.setdefault(text, []).append(each["trouble"])
    return [f"{', '.join(names)}: {text}" for text, names in troubles.items()]


def what_of(finding: dict[str, Any]) -> str:
    """The PUs of a finding and the flag."""
    kind = "idle PUs" if finding["trouble"] == "idle package" else "PUs"
    return f"{kind} {_core.cpu_list(finding['pus'])}: use {finding['flag']}"
