"""A plan for the launch that uses it: a recorded pattern placed on the hosts that the launch may use."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ranktree import _core
from ranktree.allocation import allocation, hosts_of_launch
from ranktree.child import import_with_threads
from ranktree.launch_files import claim, write_files
from ranktree.launcher import take_apart
from ranktree.usable_machine import Notify, usable_machine


@dataclass(frozen=True)
class Placing:
    """What a plan is made from; nothing without a pattern."""

    pattern: Path | None
    metric: str = "size"
    objective: str | None = None
    parameters: str | None = None
    machine: str | None = None
    network: str | None = None
    hosts: str | None = None
    hostfile: Path | None = None


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
    tree, traffic = tree.cut_at("Core"), expand(recorded, natural_model(recorded))
    fit_hosts(traffic, tree, notify)
    model = Model(wanted.objective, wanted.parameters)
    plan, _ = planned(tree, traffic, wanted.metric, model, algorithm="best", seed=1)
    plan.described = described
    claim(folder, {"plan.json": None})
    path = folder / "plan.json"
    _core.save_plan(str(path), plan)
    return path


def machine_of_launch(wanted: Placing, words: Sequence[str], folder: Path, notify: Notify) -> tuple[_core.Tree, bool]:
    """The machine that the user names, without other hosts; else the hosts on which the launch puts its ranks."""
    if wanted.machine is not None or wanted.network is not None:
        allowed = hosts_of_launch(words, wanted.hosts, wanted.hostfile)
        return usable_machine(wanted.machine, wanted.network, allowed, notify)
    allowed = allocation(wanted.hosts, wanted.hostfile) if wanted.hosts or wanted.hostfile else None
    if allowed is not None:
        return usable_machine(None, None, allowed, notify)
    return _core.load_machine(found_machine(words, folder)), False


def found_machine(words: Sequence[str], folder: Path) -> str:
    """A machine file of the hosts on which the launcher puts ranks: their packages, NUMA nodes and usable cores."""
    from ranktree.where import launch  # noqa: PLC0415  only where no machine is named
    from ranktree.where.machine import machine_of  # noqa: PLC0415

    hosts = launch.found_by_launch(take_apart(words)).hosts
    claim(folder, {"machine.json": None})
    (path,) = write_files(folder, [("machine.json", json.dumps(machine_of(hosts), indent=1), False)], force=True)
    return os.fspath(path)
