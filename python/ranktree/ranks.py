"""Where every rank of the launch around this process really is: `mpirun -n 8 ranktree topo --ranks`."""

import json as json_module
import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ranktree import _core
from ranktree.advice import launcher_family, mend, mpi_family
from ranktree.helpers import HOW_TO_BUILD, built, helper_for, not_built

SECONDS = 120
WRONG = 3


def report(json: bool) -> int:
    """Prints, at rank 0, the place of every rank and what is wrong with it.

    Every rank of the launch must call this. Returns the exit code: 3 when a rank is unbound, overlapping or
    oversubscribed. RuntimeError outside of a launch, or when no helper for its MPI is built.
    """
    family = launcher_family(os.environ)
    if family is None:
        raise RuntimeError("--ranks: no launcher started this process; use: mpirun -n N ranktree topo --ranks")
    text = ask(choose_helper())
    if not text:
        return 0
    found = described(json_module.loads(text), family)
    print(json_module.dumps(found) if json else "\n".join(table(found)), flush=True)
    return WRONG if found["findings"] else 0


def choose_helper() -> Path:
    """The helper of the MPI that this launch is for."""
    family = mpi_family(os.environ)
    helper = helper_for(family) if family else None
    if helper is None:
        known = f"built: {', '.join(built())}; {HOW_TO_BUILD}" if built() else not_built()
        raise RuntimeError(f"--ranks: no helper is built for the MPI of this launch ({family}); {known}")
    return helper


def ask(helper: Path) -> str:
    """Runs the helper as this rank (it inherits the launcher's variables and descriptors); its text at rank 0."""
    try:
        result = subprocess.run(
            [helper], stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False, close_fds=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"--ranks: {helper.name} did not end in {SECONDS} s") from None
    if result.returncode != 0:
        raise RuntimeError(f"--ranks: {helper.name} failed with exit code {result.returncode}")
    return next((line for line in result.stdout.splitlines() if line.startswith('{"format":"ranktree-ranks"')), "")


def described(document: Mapping, family: str) -> dict:
    """The helper's report with cores, findings and the flags that mend them."""
    cores = {host["name"]: host["cores"] for host in document["hosts"]}
    places = [(entry["host"], entry["pus"]) for entry in document["ranks"]]
    on_host = Counter(host for host, _ in places)
    findings = []
    for trouble, host, ranks, pus in _core.check_occupancy(places, list(cores.items())):
        usable = cores.get(host, [])
        flag = mend(family, trouble, on_host[host], len(usable), sum(map(len, usable)))
        findings.append({"trouble": trouble, "host": host, "ranks": ranks, "pus": pus, "flag": flag})
    ranks = [
        {"rank": i, "host": h, "pus": p, "cores": cores_of(p, cores.get(h, []))} for i, (h, p) in enumerate(places)
    ]
    return {"launcher": family, "mpi": document["mpi"], "ranks": ranks, "findings": findings}


def cores_of(pus: Sequence[int], cores: Sequence[Sequence[int]]) -> list[int]:
    """Which of the host's usable cores, counted from 0, a set of PUs touches."""
    return [index for index, core in enumerate(cores) if not set(core).isdisjoint(pus)]


def table(found: Mapping) -> list[str]:
    """Lines for a reader: the ranks, then one line a finding."""
    rows = [("rank", "host", "PUs", "cores")]
    for entry in found["ranks"]:
        rows.append((str(entry["rank"]), entry["host"], _core.cpu_list(entry["pus"]), _core.cpu_list(entry["cores"])))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [f"{len(found['ranks'])} ranks, asked with {found['mpi']}"]
    for rank, *others in rows:
        lines.append("  ".join([rank.rjust(widths[0]), *map(str.ljust, others, widths[1:])]).rstrip())
    for finding in found["findings"]:
        names = shortened(finding["ranks"])
        where = f"on {finding['host']}, PUs {_core.cpu_list(finding['pus'])}"
        lines.append(f"{finding['trouble']}: {names} {where}: use {finding['flag']}")
    return lines if found["findings"] else [*lines, "every rank is bound, no two share a PU"]


def shortened(ranks: Sequence[int]) -> str:
    """`ranks 0-3,7`."""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {_core.cpu_list(ranks)}"
