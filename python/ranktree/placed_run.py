"""A plan for the launch that uses it: a recorded pattern placed on the hosts that the launch may use."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranktree import _core
from ranktree.allocation import allocation, hosts_of_launch
from ranktree.child import import_with_threads
from ranktree.launch_files import claim, write_files
from ranktree.launcher import LaunchCommand, take_apart
from ranktree.usable_machine import Notify, usable_machine, usable_slots


@dataclass(frozen=True)
class Placing:
    """What a plan is made from; nothing without a pattern."""

    pattern: Path | None
    metric: str = "size"
    objective: str | None = "time"
    parameters: str | None = None
    machine: str | None = None
    network: str | None = None
    hosts: str | None = None
    hostfile: Path | None = None
    threads: int | None = None  # a rank; None: as many as it has cores for itself


def make_plan(wanted: Placing, words: Sequence[str], folder: Path, notify: Notify) -> Path:
    """Places the pattern's ranks on the hosts of the launch; the plan's file in `folder`."""
    import_with_threads("numpy")
    from ranktree.objective import Model, planned  # noqa: PLC0415  numpy, where a plan is made
    from ranktree.pattern import expand, natural_model, read  # noqa: PLC0415
    from ranktree.traced_hosts import fit_hosts  # noqa: PLC0415

    recorded, warnings = read(str(wanted.pattern), metric="msg" if wanted.metric == "msg" else None)
    for warning in warnings:
        notify(f"{wanted.pattern}: {warning}")
    tree, described = machine_of_launch(wanted, words, folder, notify)
    traffic = expand(recorded, natural_model(recorded))
    fit_hosts(traffic, tree, notify)
    model = Model(wanted.objective, wanted.parameters)
    plan, _ = planned(tree, traffic, wanted.metric, model, algorithm="best", seed=1)
    plan.described = described
    claim(folder, {"plan.json": None})
    path = folder / "plan.json"
    _core.save_plan(str(path), plan)
    return path


def machine_of_launch(wanted: Placing, words: Sequence[str], folder: Path, notify: Notify) -> tuple[_core.Tree, bool]:
    """The slots of the machine that the user names, without other hosts; else of the hosts on which the launch puts its
    ranks. The second: whether its hosts have made-up names.
    """
    if wanted.machine is not None or wanted.network is not None:
        allowed = hosts_of_launch(words, wanted.hosts, wanted.hostfile)
    else:
        allowed = allocation(wanted.hosts, wanted.hostfile) if wanted.hosts or wanted.hostfile else None
        if allowed is None:
            claim(folder, {"machine.json": None})
            return found_slots(take_apart(words), folder / "machine.json", wanted.threads, notify), False
    tree, described = usable_machine(wanted.machine, wanted.network, allowed, notify)
    return slots_for(tree, wanted.threads or 1), described


def found_slots(command: LaunchCommand, path: Path, threads: int | None, notify: Notify) -> _core.Tree:
    """The slots of the hosts on which the launcher puts ranks, which `path` then describes.

    Unless `threads` names a number, a slot has as many cores as every rank has for itself in that launch, or fewer
    where the caches and packages hold too few such slots.
    """
    from ranktree.where import launch  # noqa: PLC0415  only where no machine is named
    from ranktree.where.machine import cores_a_rank, machine_of  # noqa: PLC0415

    found = launch.found_by_launch(command)
    try:
        tree = written_machine(path, machine_of(found.hosts))
    except _core.Error as error:  # no common order of levels
        notify(f"{error}: caches do not count")
        for host in found.hosts.values():
            host.caches = []
        tree = written_machine(path, machine_of(found.hosts))
    if threads is not None:
        return slots_for(tree, threads)
    own = cores_a_rank(found.places, found.hosts)
    fitting = next((n for n in range(own, 1, -1) if usable_slots(slots_for(tree, n)) >= len(found.places)), 1)
    if own > 1:
        notify(f"each rank gets {fitting} of its {own} cores (--threads-per-rank names another number)")
    return slots_for(tree, fitting)


def written_machine(path: Path, document: Mapping[str, Any]) -> _core.Tree:
    """The machine of a file that is written; one that is there is replaced."""
    write_files(path.parent, [(path.name, json.dumps(document, indent=1), False)], force=True)
    return _core.load_machine(os.fspath(path))


def slots_for(tree: _core.Tree, threads: int) -> _core.Tree:
    """The tree with a leaf for each rank of so many threads."""
    tree = tree.cut_at("Core")
    return tree if threads == 1 else tree.bundle_leaves(threads)
